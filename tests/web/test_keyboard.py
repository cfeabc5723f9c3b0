"""Whoever has no mouse finds, chooses, checks and submits with the keys alone, and always sees where they are."""

from playwright.async_api import Page, expect

from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import Site

TABS_MAX = 120
FOCUSED = """() => {
  const at = document.activeElement;
  const label = at.labels?.length ? at.labels[0].innerText : "";
  return [at.getAttribute("aria-label"), label, at.innerText, at.value].filter(Boolean).join(" | ");
}"""
# What shows the focus may be around the element, as with a card that holds a radio button.
VISIBLE = """() => {
  for (let at = document.activeElement; at && at !== document.body; at = at.parentElement) {
    const style = getComputedStyle(at);
    if (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1) return true;
    if (style.boxShadow !== "none") return true;
  }
  return false;
}"""


async def tab_to(page: Page, words: str) -> None:
    """Press Tab until what has the focus says these words; the focus can be seen on the way."""
    seen: list[str] = []
    for _ in range(TABS_MAX):
        await page.keyboard.press("Tab")
        said = await page.evaluate(FOCUSED)
        seen.append(said)
        if said and said != "undefined":
            assert await page.evaluate(VISIBLE), f"the focus on {said!r} cannot be seen"
        if words in said:
            return
    raise AssertionError(f"{words!r} is not reached; seen were {seen}")


async def enter(page: Page) -> None:
    """Enter where it leads to another page, which is there afterwards, with its scripts."""
    async with page.expect_navigation():
        await page.keyboard.press("Enter")


async def test_the_whole_way_with_the_keys_alone(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(1_100, queue="email", tags=["acme"])
    await site.enqueue(60, queue="email", tags=["globex"])
    await site.work()
    page = (await open_page(site)).page
    keys = page.keyboard
    await visit(page, "")

    # The first key leads past the navigation.
    await keys.press("Tab")
    assert await page.evaluate(FOCUSED) == "Skip to the content"
    await tab_to(page, "Jobs")
    await enter(page)
    await expect(page).to_have_title("Jobs · Awa")

    await tab_to(page, "Search jobs")
    await keys.type("queue:email tag:acme")
    await enter(page)
    await expect(page.get_by_text("1,100").first).to_be_visible()
    await tab_to(page, "Choose all jobs on this page")
    await keys.press("Space")
    await expect(page.get_by_text("All 50 jobs on this page are chosen.")).to_be_visible()
    await page.keyboard.press("Shift+Tab")
    await page.evaluate("document.querySelector('[data-selection]').scrollIntoView()")
    while "Choose 1,100 jobs" not in await page.evaluate(
        FOCUSED
    ) and "Choose all" not in await page.evaluate(FOCUSED):
        await page.keyboard.press("Shift+Tab")
    await keys.press("Enter")
    await expect(page.locator("[data-change]")).to_be_focused()
    await enter(page)

    await expect(page.get_by_text("1,100 jobs can be changed")).to_be_visible()
    await tab_to(page, "Move to another queue")
    await keys.press("Space")
    await tab_to(page, "To the queue")
    await keys.type("escalations")
    # Enter in the form is the check.
    await enter(page)
    await expect(page.get_by_text("1,100 jobs will be moved to escalations")).to_be_visible()

    await tab_to(page, "Why")
    await keys.type("without a mouse")
    await tab_to(page, "Type 1,100 to confirm")
    await keys.type("1100")
    await tab_to(page, "Move 1,100 jobs to escalations")
    await enter(page)
    await expect(page.get_by_text("1,100 of 1,100 jobs")).to_be_visible()


async def test_cancelling_with_the_keys_alone(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(3, queue="email")
    row = await site.client.submit_batch_operation(
        "set_priority", {"priority": 1}, {"queue": "email"}
    )
    page = (await open_page(site)).page
    await visit(page, f"operations/{row['id']}")
    await tab_to(page, "Cancel this operation…")
    await page.keyboard.press("Enter")
    await tab_to(page, "Why")
    await page.keyboard.type("not needed")
    await tab_to(page, "Cancel this operation")
    await enter(page)
    await expect(page.get_by_text("No job was changed.")).to_be_visible()
