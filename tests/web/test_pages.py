"""Every page, in both themes, on a desk and on a phone: nothing that axe-core calls serious, and a picture of each."""

import json
from dataclasses import asdict
from typing import Final

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page

from tests.web.browser import WIDTHS, shoot, visit
from tests.web.conftest import OpenPage
from tests.web.furnish import furnish
from tests.web.site import site_of

GRAVE: Final = frozenset({"serious", "critical"})
LEVELS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# Answered as one text: what axe-core has to say of a page is large, and little of it is asked for.
ASK: Final = """async ({only, grave}) => {
  const seen = await axe.run({runOnly: only, resultTypes: ["violations"]});
  return JSON.stringify(seen.violations.filter((one) => grave.includes(one.impact)).map((one) =>
    `${one.id} (${one.impact}): ${one.help}: ` + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join("; ")));
}"""
CHECK: Final = "check=1&op_kind=move_queue&spec.queue=reports"
PAGES: Final = {
    "overview": "",
    "jobs": "jobs?q=queue:email",
    "jobs-none": "jobs?q=queue:nowhere",
    "jobs-mistyped": "jobs?q=queu:email",
    "job-running": "jobs/{running_job}",
    "job-failed": "jobs/{failed_job}",
    "job-waiting": "jobs/{waiting_job}",
    "job-callback": "jobs/{callback_job}",
    "queues": "queues",
    "queue": "queues/email",
    "queue-paused": "queues/reports",
    "queue-drain": "queue/drain?name=email",
    "kinds": "kinds",
    "runtimes": "runtimes",
    "operations": "operations",
    "operation-running": "operations/{running_operation}",
    "operation-paused": "operations/{paused_operation}",
    "operation-completed": "operations/{completed_operation}",
    "operation-undo-check": "operations/{completed_operation}/undo",
    "operation-cancelled": "operations/{cancelled_operation}?outcome=pending",
    "new-operation": "operations/new",
    "new-operation-mistyped": "operations/new?q=queu:email",
    "new-operation-checked": f"operations/new?q=queue:email kind:send_text&{CHECK}",
    "dead-letters": "dead-letters",
    "dead-letters-list": "dead-letters/list?queue=invoices",
    "dead-letters-retry": "dead-letters/retry/confirm?queue=invoices",
    "dead-letters-purge": "dead-letters/purge/confirm?queue=invoices",
    "cron": "cron",
    "schedule": "cron/schedule?name=monthly-report",
    "login": "login",
    "error": "jobs/999999999",
}
# These are looked at again while all operations are held.
HELD: Final = ("operations", "operation-running", "new-operation-checked")
STATUSES: Final = {"jobs-mistyped": 422, "error": 404}


async def faults(page: Page, *rules: str) -> list[str]:
    """What axe-core finds serious or critical; by these rules only, where nothing else can be different."""
    only = list(rules) if rules else LEVELS
    found: list[str] = json.loads(await page.evaluate(ASK, {"only": only, "grave": list(GRAVE)}))
    return found


async def overflows(page: Page) -> bool:
    """Whether the page is wider than its window."""
    wide: bool = await page.evaluate(
        "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    )
    return wide


async def look_at(page: Page, name: str) -> list[str]:
    """One page by daylight, at night and on a phone; the same document each time, so only what can differ is asked."""
    # From the top: a bar that sticks to the window's edge would lie upon what is asked about.
    await page.evaluate("scrollTo(0, 0)")
    wrong = await faults(page)
    await shoot(page, f"{name}-light")
    await page.emulate_media(color_scheme="dark")
    await shoot(page, f"{name}-dark")
    await page.set_viewport_size(WIDTHS["phone"])
    if await overflows(page):
        wrong.append("phone: is wider than its window")
    wrong += [f"dark phone: {one}" for one in await faults(page, "color-contrast", "target-size")]
    await page.emulate_media(color_scheme="light")
    await shoot(page, f"{name}-phone")
    await page.set_viewport_size(WIDTHS["desktop"])
    return wrong


@pytest.mark.timeout(600)
@pytest.mark.slow
async def test_every_page_is_fit_for_everybody(database_url: str, open_page: OpenPage) -> None:
    wrong: dict[str, list[str]] = {}
    async with site_of(database_url) as site:
        seen = asdict(await furnish(site))
        watched = await open_page(site)
        watched.expect_status(*STATUSES.values())
        # Not part of the page, so its policy on scripts does not apply to it.
        await watched.page.add_init_script(Axe().axe_script)
        for name, path in PAGES.items():
            await visit(watched.page, path.format(**seen), STATUSES.get(name, 200))
            if found := await look_at(watched.page, name):
                wrong[name] = found
        await site.client.hold_batch_operations(reason="the replica falls behind")
        for name in HELD:
            await visit(watched.page, PAGES[name].format(**seen))
            if found := await look_at(watched.page, f"{name}-held"):
                wrong[f"{name}-held"] = found
        await watched.page.close()
    assert not wrong, json.dumps(wrong, indent=1)
