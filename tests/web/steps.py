"""What an operator does, as short words: everything by what stands on the page, nothing by what is behind it."""

from playwright.async_api import Locator, Page, expect

from tests.web.browser import visit
from tests.web.site import TOKENS


async def follow(page: Page, what: Locator) -> None:
    """Click what leads to another page, and wait until that is there with its scripts."""
    async with page.expect_navigation():
        await what.click()


async def log_in(page: Page, role: str) -> None:
    """From the log-in page on, with the token of that role."""
    await page.get_by_label("Token").fill(TOKENS[role])
    await follow(page, page.get_by_role("button", name="Log in"))
    await expect(page.get_by_role("navigation", name="Pages")).to_be_visible()


async def find_jobs(page: Page, text: str) -> None:
    """By the navigation to the jobs, and there by the search box."""
    navigation = page.get_by_role("navigation", name="Pages")
    await follow(page, navigation.get_by_role("link", name="Jobs"))
    await page.get_by_label("Search jobs").fill(text)
    await follow(page, page.get_by_role("button", name="Search"))


async def change_all(page: Page) -> None:
    """All jobs that match, on all pages."""
    await page.get_by_label("Choose all jobs on this page").check()
    every = page.locator("[data-select-all]")
    if await every.is_visible():
        await every.click()
    await follow(page, page.locator("[data-change]"))
    await expect(page.get_by_role("heading", name="New operation")).to_be_visible()


async def move_to(page: Page, queue: str) -> None:
    """The second step of a new operation, as far as the check."""
    await page.get_by_label("Move to another queue").check()
    await page.get_by_label("To the queue").fill(queue)
    await follow(page, page.get_by_role("button", name="Check"))
    await expect(page.get_by_text(f"will be moved to {queue}")).to_be_visible()


async def check_operation(page: Page, q: str, queue: str, status: int = 200) -> None:
    """The check of a move by its address alone."""
    address = f"operations/new?check=1&op_kind=move_queue&spec.queue={queue}&q={q}"
    await visit(page, address, status)
