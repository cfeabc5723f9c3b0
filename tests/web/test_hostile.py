"""Whatever programs call their jobs stays text: in a page, a title, an attribute, a link, a part that is swapped."""

from typing import Any, Final
from urllib.parse import quote

import pytest
from playwright.async_api import Page, expect

import awa
from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import Site, eventually

HOSTILE: Final = (
    """<img src=x onerror="window.hit=1"><script>window.hit=1</script>"'><svg onload=window.hit=1>{{7*7}}{% raw %}${1}""",
    "javascript:window.hit=1//../..?x=1#y",
)


async def furnish_with(site: Site, text: str) -> dict[str, Any]:
    """A job that failed with it, one that waits with it, and an operation about it, everywhere that text can stand."""

    @site.client.task(dict, kind="fails", queue="broken")
    async def fail(_job: awa.Job[Any]) -> None:
        raise awa.TerminalError(text)

    waiting = await site.client.insert(
        {text: [text, {text: text}]},
        kind=text,
        queue=text,
        tags=[text, "tag"],
        metadata={text: text},
    )
    failed = await site.client.insert({"a": text}, kind="fails", queue="broken", tags=[text])
    await site.client.pause_queue(text, paused_by=text)
    await site.work(("broken", 2))
    await eventually(lambda: site.count(state="failed"))
    row = await site.client.submit_batch_operation(
        "set_priority", {"priority": 1}, {"queue": text, "tag": text, "kind": text}, reason=text
    )
    await site.client.wait_batch_operation(row["id"], timeout=60)
    return {"waiting": waiting.id, "failed": failed.id, "operation": row["id"]}


async def stays_text(page: Page, text: str, *, shown: bool) -> None:
    """Nothing was built of it, nothing of it ran, and where it belongs it stands as it is."""
    assert await page.evaluate("window.hit") is None
    assert await page.locator("img[src=x], main svg[onload], script:not([src])").count() == 0
    links: list[str] = await page.locator("a").evaluate_all("all => all.map((one) => one.protocol)")
    assert set(links) <= {"http:"}
    if shown:
        words = await page.locator("main").inner_text()
        values = await page.locator("main input").evaluate_all("all => all.map((one) => one.value)")
        assert text in "\n".join([words, *values])


@pytest.mark.parametrize("text", HOSTILE, ids=["markup", "link"])
async def test_what_programs_say_stays_text(site: Site, open_page: OpenPage, text: str) -> None:
    seen = await furnish_with(site, text)
    watched = await open_page(site)
    page = watched.page
    page.on("dialog", lambda _dialog: watched.complaints.append("a dialog was opened"))
    said = quote(f"queue:{_quoted(text)}")
    for path, shown in (
        ("", False),
        ("jobs", True),
        (f"jobs?q={said}", True),
        (f"jobs/{seen['waiting']}", True),
        (f"jobs/{seen['failed']}", True),
        ("queues", True),
        (f"queue?name={quote(text, safe='')}", True),
        ("kinds", True),
        ("runtimes", False),
        ("operations", True),
        (f"operations/{seen['operation']}", True),
        (f"operations/new?q={said}", True),
        (f"operations/new?check=1&op_kind=move_queue&q={said}&spec.queue={quote(text)}", True),
        (f"operations/new?check=1&op_kind={quote(text)}&q={said}", True),
    ):
        await visit(page, path)
        await stays_text(page, text, shown=shown)


async def test_a_word_that_is_not_understood_stays_text(site: Site, open_page: OpenPage) -> None:
    watched = await open_page(site)
    watched.expect_status(422)
    page = watched.page
    await visit(page, "operations/new")
    await page.get_by_label("Search for jobs").fill('queu:<img/src=x/onerror="window.hit=1">')
    await expect(page.get_by_role("alert")).to_contain_text("did you mean 'queue'?")
    await stays_text(page, "", shown=False)
    await visit(page, f"jobs?q={quote('queu:<img/src=x/onerror=window.hit=1>')}", 422)
    await stays_text(page, "<img/src=x/onerror=window.hit=1>", shown=True)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
