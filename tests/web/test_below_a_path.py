"""Mounted below a path of another application, every link, form, script and stream stays below it."""

from playwright.async_api import expect

from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import Site, site_of
from tests.web.steps import change_all, find_jobs, follow, log_in, move_to

BELOW = "/ops/awa"
ADDRESSES = """() => ["href", "src", "action", "data-live", "data-live-events", "data-which", "data-root"].flatMap((name) =>
  [...document.querySelectorAll(`[${name}]`)].map((one) => one.getAttribute(name)))"""
PAGES = ("Overview", "Queues", "Kinds", "Operations", "Dead letters", "Cron", "Runtimes", "Jobs")


async def test_the_console_below_a_path(database_url: str, open_page: OpenPage) -> None:
    async with site_of(database_url, tokens=True, below=BELOW) as site:
        await site.enqueue(30, queue="email", tags=["acme"])
        await site.work()
        watched = await open_page(site)
        page = watched.page
        outside: list[str] = []
        page.on(
            "request",
            lambda request: (
                outside.append(request.url) if not _is_below(site, request.url) else None
            ),
        )

        await visit(page, "operations")
        await log_in(page, "operator")
        cookies = await page.context.cookies()
        assert {cookie["path"] for cookie in cookies if cookie["name"] == "awa_session"} == {BELOW}
        for label in PAGES:
            navigation = page.get_by_role("navigation", name="Pages")
            await follow(page, navigation.get_by_role("link", name=label))
            await expect(page.get_by_role("heading", level=1)).to_be_visible()
            wrong = [
                one
                for one in await page.evaluate(ADDRESSES)
                if one.startswith("/") and not one.startswith(BELOW)
            ]
            assert wrong == [], label

        await find_jobs(page, "tag:acme")
        await change_all(page)
        await move_to(page, "bulk")
        await page.get_by_role("button", name="Move 30 jobs to bulk").click()
        await expect(page.get_by_text("30 of 30 jobs")).to_be_visible()
        async with page.expect_download() as report:
            await page.get_by_role("link", name="CSV").click()
        assert len((await (await report.value).path()).read_text().splitlines()) == 31
        assert outside == []


def _is_below(site: Site, address: str) -> bool:
    return address.startswith(site.url) or not address.startswith("http")
