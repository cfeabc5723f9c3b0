"""What every page shares: the theme, the keys, menus, copying, and parts that stay fresh without disturbing anybody."""

import pytest
from playwright.async_api import Page, expect

from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import Site
from tests.web.steps import follow

LIGHT, DARK = "rgb(246, 247, 249)", "rgb(14, 18, 23)"


async def _background(page: Page) -> str:
    return str(await page.evaluate("getComputedStyle(document.documentElement).backgroundColor"))


async def test_the_theme_follows_the_system_until_one_is_chosen(
    site: Site, open_page: OpenPage
) -> None:
    page = (await open_page(site, theme="dark")).page
    await visit(page, "queues")
    assert await _background(page) == DARK
    await page.locator("[data-menu] > summary").click()
    await page.get_by_role("button", name="Light").click()
    assert await _background(page) == LIGHT
    await expect(page.get_by_role("button", name="Light")).to_have_attribute("aria-pressed", "true")
    await visit(page, "jobs")
    assert await _background(page) == LIGHT
    await page.locator("[data-menu] > summary").click()
    await page.get_by_role("button", name="System").click()
    assert await _background(page) == DARK


async def test_the_theme_can_be_chosen_without_scripts(site: Site, open_page: OpenPage) -> None:
    page = (await open_page(site, scripts=False)).page
    await visit(page, "queues")
    await page.locator("[data-menu] > summary").click()
    await follow(page, page.get_by_role("button", name="Dark"))
    await expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    assert await _background(page) == DARK


async def test_the_first_tab_skips_to_the_content_and_a_slash_goes_to_the_search(
    site: Site, page: Page
) -> None:
    await site.enqueue(1, queue="email")
    await visit(page, "jobs")
    await page.keyboard.press("Tab")
    skip = page.get_by_role("link", name="Skip to the content")
    await expect(skip).to_be_focused()
    await expect(skip).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await expect(page.locator("main")).to_be_focused()
    await page.keyboard.press("/")
    await expect(page.get_by_label("Search jobs")).to_be_focused()
    await page.keyboard.type("queue:email")
    await page.keyboard.press("Enter")
    await expect(page.locator(".chip")).to_have_text("queue:email")


async def test_a_menu_closes_by_escape_and_by_a_click_elsewhere(site: Site, page: Page) -> None:
    await visit(page, "queues")
    menu, summary = page.locator("[data-menu]"), page.locator("[data-menu] > summary")
    await summary.press("Enter")
    await expect(menu).to_have_attribute("open", "")
    await page.keyboard.press("Escape")
    await expect(menu).not_to_have_attribute("open", "")
    await expect(summary).to_be_focused()
    await summary.click()
    await page.get_by_role("heading", name="Queues").click()
    await expect(menu).not_to_have_attribute("open", "")


async def test_figures_stay_fresh(site: Site, page: Page) -> None:
    await visit(page, "")
    waiting = page.locator("a.stat", has_text="scheduled").locator(".stat-value")
    await expect(waiting).to_have_text("0")
    await expect(page.locator("[data-live-words]")).to_have_text("Live")
    await site.enqueue(12, queue="email")
    await expect(waiting).to_have_text("12")


async def test_a_field_in_use_is_left_alone_while_the_rest_goes_on(site: Site, page: Page) -> None:
    job = await site.client.insert({"to": "ada"}, kind="send_email", queue="email")
    await visit(page, f"jobs/{job.id}")
    queue = page.get_by_label("Queue")
    await queue.fill("escala")
    await site.client.cancel(job.id)
    await expect(page.get_by_role("heading", name="send_email")).to_contain_text("cancelled")
    await expect(queue).to_have_value("escala")
    await expect(queue).to_be_focused()


async def test_what_was_opened_stays_open_when_its_part_changes(site: Site, page: Page) -> None:
    job = await site.client.insert({"to": "ada"}, kind="send_email", queue="email", max_attempts=2)

    async def fail(_job: object) -> None:
        raise ValueError("no such address")

    site.client.task(dict, kind="send_email")(fail)
    await site.work(("email", 1), maintenance=False)
    await visit(page, f"jobs/{job.id}")
    await page.get_by_text("Traceback").first.click()
    trace = page.locator(".timeline details").first
    await expect(trace).to_have_attribute("open", "")
    await site.client.retry(job.id)
    await expect(page.get_by_role("heading", name="send_email")).to_contain_text("failed")
    await expect(trace).to_have_attribute("open", "")


@pytest.mark.parametrize("path", ["", "jobs", "queues", "queues/email", "kinds", "runtimes"])
async def test_nothing_is_wider_than_a_phone(site: Site, open_page: OpenPage, path: str) -> None:
    await site.enqueue(
        1, queue="email", kind="a_kind_with_a_name_that_is_longer_than_any_phone_is_wide_" * 2
    )
    await site.enqueue(1, queue="a" * 120, tags=["t" * 150])
    page = (await open_page(site, width="phone")).page
    await visit(page, path)
    wider = await page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wider <= 0
    current = page.locator(".nav [aria-current]")
    await expect(current).to_be_in_viewport()
