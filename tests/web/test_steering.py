"""An operation is steered while it goes on: from the preview on, by the pages alone, to its end.

Nothing here depends on how fast this machine is: the operation would take minutes at its pace, and every step waits for
what the page says.
"""

import re

from playwright.async_api import Page, expect

from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import NAMES, TOKENS, Site, eventually, site_of
from tests.web.steps import check_operation, log_in

JOBS = 20_000


async def test_preview_confirm_progress_pause_resume_cancel(
    database_url: str, open_page: OpenPage
) -> None:
    async with site_of(database_url, tokens=True) as site:
        await site.enqueue(JOBS, queue="email")
        await site.work()
        page = (await open_page(site)).page
        await visit(page, "operations")
        await log_in(page, "operator")
        await _hold_all(page)

        # The preview says that nothing would begin now; it is confirmed all the same.
        await check_operation(page, "queue:email", "bulk")
        held = f"All operations are held by {NAMES['operator']} (“until it is slow enough”)"
        await expect(page.get_by_text(held)).to_be_visible()
        await page.get_by_label("Type 20,000 to confirm").fill("20,000")
        await page.get_by_role("button", name="Move 20,000 jobs to bulk").click()
        await expect(page.get_by_text("All operations are held by olga").first).to_be_visible()
        operation = (await site.client.list_batch_operations())[0]["id"]

        # Slower, before it begins.
        await page.get_by_label("Jobs a second, at most").fill("20")
        await page.get_by_role("button", name="Change its pace").click()
        await expect(page.get_by_text("rate no limit → 20/s")).to_be_visible()
        await _release_all(page)

        # Progress, and the reason why it isn't faster.
        await visit(page, f"operations/{operation}")
        await expect(page.get_by_text("Throttled to 20 jobs a second")).to_be_visible()
        await expect(page.get_by_text(re.compile(r"[1-9][\d,]* of 20,000 jobs"))).to_be_visible()

        await _pause_and_resume(site, page, str(operation))
        await _cancel(site, page, str(operation))


async def _hold_all(page: Page) -> None:
    await page.get_by_text("Hold all operations…").click()
    await page.get_by_label("Why they are held").fill("until it is slow enough")
    await page.get_by_role("button", name="Hold all operations", exact=True).click()
    await expect(
        page.get_by_text(f"All operations are held by {NAMES['operator']}")
    ).to_be_visible()
    await expect(page.get_by_text("“until it is slow enough”")).to_be_visible()


async def _release_all(page: Page) -> None:
    await (
        page.get_by_role("navigation", name="Pages").get_by_role("link", name="Operations").click()
    )
    await page.get_by_label("Why they are released").fill("slow enough")
    await page.get_by_role("button", name="Release all operations").click()
    await expect(page.get_by_text("Operations go on.")).to_be_visible()
    await expect(page.get_by_text("Hold all operations…")).to_be_visible()


async def _pause_and_resume(site: Site, page: Page, operation: str) -> None:
    """By the keyboard alone."""
    await page.get_by_label("Why it is paused").focus()
    await page.keyboard.type("the replica falls behind")
    await page.keyboard.press("Enter")
    await expect(page.get_by_text("Paused: nothing of it is being changed.")).to_be_visible()
    await expect(
        page.get_by_text(f"Paused by {NAMES['operator']}: “the replica falls behind”")
    ).to_be_visible()
    paused = await site.client.get_batch_operation(operation)
    assert (paused["state"], paused["paused_from"]) == ("paused", "running")
    assert 0 < paused["processed"] < JOBS
    assert await site.count(queue="bulk") == paused["processed"]
    event = page.get_by_role("listitem").filter(has_text="the replica falls behind")
    await expect(event).to_contain_text(NAMES["operator"])

    # The list shows it too, and nobody's look moves it on.
    await visit(page, "operations")
    await expect(
        page.get_by_role("listitem").filter(has_text="the replica falls behind")
    ).to_contain_text("paused")
    await visit(page, f"operations/{operation}")
    assert await site.client.get_batch_operation(operation) == paused

    await page.get_by_role("button", name="Resume this operation").focus()
    await page.keyboard.press("Space")
    await expect(page.get_by_text("Resumed: it goes on where it was.")).to_be_visible()
    await expect(page.get_by_role("button", name="Pause this operation")).to_be_visible()
    await eventually(lambda: _has_gone_on(site, operation, paused["processed"]))
    # The page follows by itself.
    shown = f"{paused['processed']:,} of 20,000 jobs"
    await expect(page.get_by_text(shown)).to_have_count(0)


async def _cancel(site: Site, page: Page, operation: str) -> None:
    await page.get_by_text("Cancel this operation…").focus()
    await page.keyboard.press("Enter")
    await page.get_by_label("Why (for the record)", exact=True).fill("wrong queue")
    await page.get_by_role("button", name="Cancel this operation", exact=True).click()
    await expect(page.get_by_text("It was cancelled")).to_be_visible()
    for gone in ("Pause this operation", "Change its pace", "Cancel this operation…"):
        await expect(page.get_by_text(gone)).to_have_count(0)
    ended = await site.client.get_batch_operation(operation)
    assert ended["state"] == "cancelled"
    assert ended["processed"] + ended["pending"] == JOBS
    assert await site.count(queue="bulk") == ended["processed"]
    trail = [event for event in await _trail(site, operation) if event[1] == "olga"]
    assert [state for state, _ in trail] == [
        "pending",
        "pending",
        "paused",
        "running",
        "cancelling",
    ]


async def _has_gone_on(site: Site, operation: str, processed: int) -> bool:
    return int((await site.client.get_batch_operation(operation))["processed"]) > processed


async def _trail(site: Site, operation: str) -> list[tuple[str, str]]:
    async with site.client.transaction() as tx:
        rows = await tx.fetch_all(
            "SELECT to_state, actor FROM awa.batch_operation_events WHERE operation_id = %(id)s ORDER BY id",
            {"id": operation},
        )
    return [(row["to_state"], row["actor"]) for row in rows]


async def test_a_paused_one_is_cancelled_at_once(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(5, queue="email")
    row = await site.client.move_queue("bulk", filter={"queue": "email"})
    await site.client.pause_batch_operation(row["id"], reason="wait")
    page = (await open_page(site)).page
    await visit(page, f"operations/{row['id']}")
    await page.get_by_text("Cancel this operation…").click()
    await expect(page.get_by_text("It ends at once.")).to_be_visible()
    await page.get_by_role("button", name="Cancel this operation", exact=True).click()
    await expect(page.get_by_text("No job was changed.")).to_be_visible()
    assert (await site.client.get_batch_operation(row["id"]))["state"] == "cancelled"


async def test_the_switch_is_seen_where_an_operation_is_looked_at(
    site: Site, open_page: OpenPage
) -> None:
    await site.enqueue(5, queue="email")
    row = await site.client.move_queue("bulk", filter={"queue": "email"})
    page = (await open_page(site)).page
    await visit(page, f"operations/{row['id']}")
    await expect(page.get_by_text("Nobody carries it out").first).to_be_visible()
    held = await site.client.hold_batch_operations(reason="a look first")
    assert held["held"]
    # By itself: the events tell of it.
    await expect(page.get_by_text("“a look first”").first).to_be_visible()


async def test_who_may_only_look_sees_what_could_be_done_and_why_it_can_not(
    database_url: str, open_page: OpenPage
) -> None:
    async with site_of(database_url, tokens=True) as site:
        await site.enqueue(5, queue="email")
        row = await site.client.move_queue("bulk", filter={"queue": "email"})
        page = (await open_page(site)).page
        await visit(page, f"operations/{row['id']}")
        await log_in(page, "viewer")
        for name in ("Pause this operation", "Change its pace", "Cancel this operation…"):
            button = page.get_by_role("button", name=name)
            await expect(button).to_have_attribute("aria-disabled", "true")
            await expect(button).to_have_attribute("title", re.compile("."))
        await visit(page, "operations")
        button = page.get_by_role("button", name="Hold all operations…")
        await expect(button).to_have_attribute("aria-disabled", "true")
        assert TOKENS["viewer"] not in await page.content()


async def test_a_pace_that_is_no_number_changes_nothing(site: Site, open_page: OpenPage) -> None:
    row = await site.client.move_queue("bulk", filter={"queue": "email"})
    watched = await open_page(site)
    page = watched.page
    await visit(page, f"operations/{row['id']}")
    watched.expect_status(422)
    await page.get_by_label("Jobs a second, at most").fill("fast")
    await page.get_by_role("button", name="Change its pace").click()
    await expect(page.get_by_text("expected a whole number")).to_be_visible()
    assert (await site.client.get_batch_operation(row["id"]))["max_rows_per_second"] is None


async def test_the_pace_is_given_before_it_begins(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(40, queue="email")
    watched = await open_page(site)
    page = watched.page
    await check_operation(page, "queue:email", "bulk")
    await page.get_by_label("Jobs a second, at most").fill("as fast as you can")
    await page.get_by_label("Its own priority").select_option("1")
    watched.expect_status(422)
    await page.get_by_role("button", name="Move 40 jobs to bulk").click()
    told = "expected a whole number, got 'as fast as you can'"
    await expect(page.locator("#h-max_rows_per_second")).to_have_text(told)
    assert await site.client.list_batch_operations() == []

    await page.get_by_label("Jobs a second, at most").fill("1,200")
    await expect(page.get_by_label("Its own priority")).to_have_value("1")
    await page.get_by_role("button", name="Move 40 jobs to bulk").click()
    await expect(page.get_by_text("Submitted.")).to_be_visible()
    (operation,) = await site.client.list_batch_operations()
    assert (operation["max_rows_per_second"], operation["priority"]) == (1_200, 1)
