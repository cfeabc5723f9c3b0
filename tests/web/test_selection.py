"""Choosing jobs: what is chosen is always said in words, and that is what the next page gets."""

from urllib.parse import parse_qs, urlsplit

from playwright.async_api import Page, expect

from tests.web.browser import visit
from tests.web.site import Site

CHANGE = "[data-change]"
WORDS = "[data-selection-words]"


async def _chosen(page: Page) -> str:
    """Follow the button to the new operation; the search that it carries."""
    await page.locator(CHANGE).click()
    await expect(page.get_by_role("heading", name="New operation")).to_be_visible()
    (text,) = parse_qs(urlsplit(page.url).query)["q"]
    return text


async def test_some_rows(site: Site, page: Page) -> None:
    await site.enqueue(60, queue="email")
    await visit(page, "jobs?q=queue:email")
    await expect(page.locator(WORDS)).to_have_text("Nothing is chosen.")
    await expect(page.locator(CHANGE)).to_be_disabled()
    boxes = page.locator(".pick input[name=id]")
    await boxes.nth(0).check()
    await expect(page.locator(WORDS)).to_have_text("1 job is chosen.")
    await expect(page.locator(CHANGE)).to_have_text("Change this job…")
    await boxes.nth(2).click(modifiers=["Shift"])
    await expect(page.locator(WORDS)).to_have_text("3 jobs are chosen.")
    await expect(page.locator(CHANGE)).to_have_text("Change these 3 jobs…")
    ids = [await boxes.nth(index).get_attribute("value") for index in range(3)]
    assert await _chosen(page) == f"id:{','.join(str(one) for one in ids)}"


async def test_the_page_and_then_all_that_match(site: Site, page: Page) -> None:
    await site.enqueue(60, queue="email")
    await visit(page, "jobs?q=queue:email state:available")
    await page.get_by_label("Choose all jobs on this page").check()
    await expect(page.locator(WORDS)).to_have_text("All 50 jobs on this page are chosen.")
    await page.get_by_role("button", name="Choose all 60 jobs that match").click()
    await expect(page.locator(WORDS)).to_have_text(
        "All 60 jobs that match are chosen, on every page."
    )
    await expect(page.locator(CHANGE)).to_have_text("Change all 60 jobs that match…")
    assert await _chosen(page) == "queue:email state:available"


async def test_taking_one_away_ends_the_choice_of_all(site: Site, page: Page) -> None:
    await site.enqueue(60, queue="email")
    await visit(page, "jobs?q=queue:email state:available")
    await page.get_by_role("button", name="Choose all 60 jobs that match").click()
    await page.locator(".pick input[name=id]").first.uncheck()
    await expect(page.locator(WORDS)).to_have_text("49 jobs are chosen.")
    await page.get_by_role("button", name="Choose none").click()
    await expect(page.locator(WORDS)).to_have_text("Nothing is chosen.")
    await expect(page.locator(CHANGE)).to_be_disabled()


async def test_what_fits_on_one_page_needs_no_more_than_the_page(site: Site, page: Page) -> None:
    await site.enqueue(3, queue="email")
    await visit(page, "jobs?q=queue:email state:available")
    await page.get_by_label("Choose all jobs on this page").check()
    await expect(page.locator(WORDS)).to_have_text("All 3 jobs on this page are chosen.")
    await expect(page.locator("[data-select-all]")).to_be_hidden()
