"""The way through the console: find, choose, check, confirm, watch, and see afterwards who did it.

The first test is what the console is for: somebody who has never seen it, given nothing but its address and a token,
finds the jobs of one customer in a backlog of a hundred thousand and moves them.
"""

import re

from playwright.async_api import expect

from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import NAMES, Site, eventually, site_of
from tests.web.steps import change_all, check_operation, find_jobs, log_in, move_to

BACKLOG = 100_000
OF_ACME = 1_700


async def test_an_operator_finds_one_customers_jobs_and_moves_them(
    database_url: str, open_page: OpenPage
) -> None:
    async with site_of(database_url, tokens=True) as site:
        await site.enqueue(BACKLOG // 2, queue="email", tags=["customer:globex"])
        await site.enqueue(OF_ACME, queue="email", tags=["customer:acme", "newsletter"])
        await site.enqueue(BACKLOG // 2 - OF_ACME, queue="email", tags=["customer:initech"])
        await site.work()
        watched = await open_page(site)
        page = watched.page

        # Given the address alone: it asks for the token and then shows what was asked for.
        await visit(page, "")
        await log_in(page, "operator")

        # Find.
        await find_jobs(page, "tag:customer:acme")
        await expect(page.get_by_text("1,700").first).to_be_visible()

        # Choose, over all pages.
        await change_all(page)
        await expect(page.get_by_text("1,700 jobs can be changed")).to_be_visible()

        # What to do, and what comes of it.
        await move_to(page, "escalations")
        await expect(page.get_by_text("The queue escalations does not exist yet")).to_be_visible()
        await expect(page.get_by_role("row").nth(1)).to_contain_text("email → escalations")

        # The number has to be typed; a wrong one changes nothing.
        deed = page.get_by_role("button", name="Move 1,700 jobs to escalations")
        await page.get_by_label("Why").fill("provider is down")
        await page.get_by_label("Type 1,700 to confirm").fill("170")
        watched.expect_status(422)
        await deed.click()
        await expect(
            page.get_by_text("That is not the number; nothing was submitted.")
        ).to_be_visible()
        assert await site.count(queue="escalations") == 0
        await expect(page.get_by_label("Why")).to_have_value("provider is down")
        await page.get_by_label("Type 1,700 to confirm").fill("1,700")
        await deed.click()

        # Watch: the page follows by itself.
        await expect(page.get_by_text("1,700 of 1,700 jobs")).to_be_visible()
        await expect(page.get_by_role("heading", level=1)).to_have_text(
            "1,700 jobs moved to escalations"
        )
        assert await site.count(queue="escalations") == OF_ACME
        assert await site.count(queue="email") == BACKLOG - OF_ACME

        # See who did it, by whoever looks later.
        await (
            page.get_by_role("navigation", name="Pages")
            .get_by_role("link", name="Operations")
            .click()
        )
        row = page.get_by_role("row").filter(has_text="1,700 jobs moved to escalations")
        await expect(row).to_contain_text(NAMES["operator"])
        await expect(row).to_contain_text("provider is down")
        await expect(row).to_contain_text("completed")
        await row.get_by_role("link").first.click()
        first = page.get_by_role("listitem").filter(has_text="pending")
        await expect(first).to_contain_text(NAMES["operator"])

        # And what became of a single job.
        await page.get_by_role("cell").get_by_role("link", name=re.compile(r"^\d+$")).first.click()
        await expect(page.get_by_text("escalations").first).to_be_visible()


async def test_an_operation_is_cancelled_while_it_runs(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(2_000, queue="email")
    await site.work()
    row = await site.client.submit_batch_operation(
        "move_queue", {"queue": "bulk"}, {"queue": "email"}, max_rows_per_second=10
    )
    await eventually(lambda: site.count(queue="bulk"))
    page = (await open_page(site)).page
    await visit(page, f"operations/{row['id']}")
    await expect(page.get_by_text("Throttled to 10 jobs a second")).to_be_visible()
    await expect(page.get_by_role("heading", level=1)).to_have_text("Moving 2,000 jobs to bulk")

    await page.get_by_text("Cancel this operation…").click()
    await expect(page.get_by_text("Jobs that were changed by then stay changed")).to_be_visible()
    await page.get_by_label("Why (for the record)", exact=True).fill("wrong queue")
    await page.get_by_role("button", name="Cancel this operation", exact=True).click()

    await expect(page.get_by_text("It was cancelled")).to_be_visible()
    await expect(page.get_by_text("Cancel this operation…")).to_have_count(0)
    await expect(page.get_by_text("Left as they were")).to_be_visible()
    event = page.get_by_role("listitem").filter(has_text="wrong queue")
    await expect(event).to_contain_text("local")
    done = await site.client.get_batch_operation(row["id"])
    assert done["state"] == "cancelled"
    assert 0 < done["processed"] < 2_000
    assert await site.count(queue="bulk") == done["processed"]


async def test_an_operation_that_nobody_carries_out_says_so_and_ends_at_once(
    site: Site, open_page: OpenPage
) -> None:
    await site.enqueue(5, queue="email")
    page = (await open_page(site)).page
    await check_operation(page, "queue:email", "bulk")
    await expect(page.get_by_text("No maintenance leader is alive")).to_be_visible()
    await page.get_by_role("button", name="Move 5 jobs to bulk").click()
    await expect(
        page.get_by_text("Nobody carries it out: no maintenance leader is alive.")
    ).to_be_visible()

    await page.get_by_text("Cancel this operation…").click()
    await expect(page.get_by_text("it ends at once and no job is changed")).to_be_visible()
    await page.get_by_role("button", name="Cancel this operation", exact=True).click()
    await expect(page.get_by_text("No job was changed.")).to_be_visible()
    assert await site.count(queue="email") == 5


async def test_all_that_match_are_exactly_the_filters_jobs(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(130, queue="email", tags=["acme"])
    await site.enqueue(60, queue="email", tags=["globex"])
    await site.enqueue(70, queue="sms", tags=["acme"])
    await site.enqueue(40, queue="email", tags=["acme"], kind="send_text")
    await site.work()
    async with site.client.transaction() as tx:
        wanted = await tx.fetch_all(
            "SELECT id FROM awa.jobs WHERE queue = 'email' AND tags @> ARRAY['acme'] AND kind = 'send_email'"
        )
    page = (await open_page(site)).page
    await visit(page, "jobs")
    await find_jobs(page, "queue:email tag:acme kind:send_email")
    await change_all(page)
    await expect(page.get_by_text("130 jobs can be changed")).to_be_visible()
    await move_to(page, "escalations")
    await page.get_by_role("button", name="Move 130 jobs to escalations").click()
    await expect(page.get_by_text("130 of 130 jobs")).to_be_visible()

    async with site.client.transaction() as tx:
        moved = await tx.fetch_all("SELECT id FROM awa.jobs WHERE queue = 'escalations'")
    assert {job["id"] for job in moved} == {job["id"] for job in wanted}
    assert len(moved) == 130


async def test_chosen_rows_are_exactly_those_rows(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(12, queue="email")
    await site.work()
    page = (await open_page(site)).page
    await visit(page, "jobs")
    for job_id in (3, 7, 11):
        await page.get_by_label(f"Choose job {job_id}", exact=True).check()
    await expect(page.get_by_text("3 jobs are chosen")).to_be_visible()
    await page.locator("[data-change]").click()
    await page.get_by_label("Give another priority").check()
    await page.get_by_label("Priority", exact=True).select_option("1")
    await page.get_by_role("button", name="Check").click()
    await page.get_by_role("button", name="Give 3 jobs priority 1").click()
    await expect(page.get_by_text("3 of 3 jobs")).to_be_visible()
    async with site.client.transaction() as tx:
        changed = await tx.fetch_all("SELECT id FROM awa.jobs WHERE priority = 1 ORDER BY id")
    assert [job["id"] for job in changed] == [3, 7, 11]


async def test_every_reason_leads_to_its_jobs(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(4, queue="email")
    await site.enqueue(3, queue="email", priority=1)
    await site.work()
    row = await site.client.submit_batch_operation(
        "set_priority", {"priority": 1}, {"queue": "email"}
    )
    await site.client.wait_batch_operation(row["id"], timeout=60)
    page = (await open_page(site)).page
    await visit(page, f"operations/{row['id']}")
    await page.get_by_role("link", name="3 it was there already").click()
    await expect(page.get_by_text("reason: noop")).to_be_visible()
    rows = page.get_by_role("region", name="Jobs of this operation").get_by_role("row")
    await expect(rows).to_have_count(4)
    await expect(rows.nth(1)).to_contain_text("skipped")


async def test_many_items_are_paged(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(35, queue="email")
    await site.work()
    row = await site.client.submit_batch_operation(
        "set_priority", {"priority": 1}, {"queue": "email"}
    )
    await site.client.wait_batch_operation(row["id"], timeout=60)
    page = (await open_page(site)).page
    await visit(page, f"operations/{row['id']}?outcome=processed")
    rows = page.get_by_role("region", name="Jobs of this operation").get_by_role("row")
    await expect(rows).to_have_count(26)
    await page.get_by_role("link", name="Next page").click()
    await expect(rows).to_have_count(11)
    await expect(page.get_by_role("link", name="Next page")).to_have_count(0)
    assert await eventually(lambda: site.count(priority=1)) == 35


async def test_without_events_the_page_asks_every_few_seconds(
    site: Site, open_page: OpenPage
) -> None:
    await site.enqueue(40, queue="email")
    row = await site.client.submit_batch_operation(
        "set_priority", {"priority": 1}, {"queue": "email"}
    )
    watched = await open_page(site)
    watched.expect_status(503)
    page = watched.page
    await page.route("**/events", lambda route: route.fulfill(status=503))
    await visit(page, f"operations/{row['id']}")
    await expect(page.get_by_text("Refreshed every 2 s")).to_be_visible()
    await site.work()
    await expect(page.get_by_text("40 of 40 jobs")).to_be_visible()
    await expect(page.get_by_text("Finished")).to_be_visible()
