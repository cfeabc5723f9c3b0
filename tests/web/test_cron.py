"""Schedules in the console: fired by hand, paused, resumed, and told from retired ones."""

import re
from typing import Any

from playwright.async_api import expect

from awa.model.cron import make_schedule
from awa.operations import cron
from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import Site

HOSTILE = "report <script>alert(1)</script> a/b?c#d"


async def declare(site: Site, *names: str) -> None:
    """Schedules of a program."""
    args: dict[str, Any] = {"to": "ada@example.org", "password": "hunter2"}
    options = {"kind": "report", "queue": "reports"}
    made = [
        make_schedule(name, "0 9 * * 1-5", args, timezone="Europe/Berlin", options=options)
        for name in names
    ]
    async with site.client.connection() as conn:
        await cron.declare(conn, "shop", made)


async def test_without_any_it_says_how_one_comes_into_being(
    site: Site, open_page: OpenPage
) -> None:
    page = (await open_page(site)).page
    await visit(page, "cron")
    await expect(page.get_by_text("client.periodic(")).to_be_visible()


async def test_one_is_fired_paused_and_resumed(site: Site, open_page: OpenPage) -> None:
    await declare(site, "daily", HOSTILE)
    page = (await open_page(site)).page
    await visit(page, "cron")
    row = page.get_by_role("row", name=re.compile("daily"))
    await expect(row).to_contain_text("At 09:00 on Monday through Friday")
    await row.get_by_role("button", name="Pause").click()
    await expect(row).to_contain_text("paused")
    assert (await site.client.get_cron_job("daily"))["paused_by"] == "local"
    await row.get_by_role("button", name="Resume").click()
    await expect(row.get_by_role("button", name="Pause")).to_be_visible()
    await row.get_by_role("button", name="Fire now").click()
    await expect(page.get_by_role("status")).to_contain_text("was fired by hand")
    assert await site.count(kind="report", state="available") == 1


async def test_its_page_shows_next_fires_and_no_secrets(site: Site, open_page: OpenPage) -> None:
    await declare(site, HOSTILE)
    page = (await open_page(site)).page
    await visit(page, "cron")
    await page.get_by_role("link", name=re.compile("script")).click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text(HOSTILE)
    await expect(page.locator("dl.facts").first.locator("dt")).to_have_count(5)
    await expect(page.get_by_text("•••")).to_be_visible()
    assert "hunter2" not in await page.content()


async def test_a_retired_one_is_shown_when_asked_for(site: Site, open_page: OpenPage) -> None:
    await declare(site, "daily")
    async with site.client.transaction() as tx:
        await tx.execute("UPDATE awa.cron_jobs SET retired_at = now()")
    page = (await open_page(site)).page
    await visit(page, "cron")
    await expect(page.get_by_text("No schedules")).to_be_visible()
    await page.get_by_role("link", name="Retired ones, too").click()
    await expect(page.get_by_role("row", name=re.compile("daily"))).to_contain_text("retired")
