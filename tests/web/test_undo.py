"""Undo by the pages alone: an operation is looked at, taken back after a check, and each of the two leads to the other."""

import re

from axe_playwright_python.async_playwright import Axe
from playwright.async_api import Page, expect

from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import NAMES, Site, site_of
from tests.web.steps import change_all, find_jobs, follow, log_in, move_to
from tests.web.test_pages import look_at

JOBS = 1_700


async def submitted(page: Page, name: str, typed: str) -> None:
    """The number that is asked for, and the button."""
    await page.get_by_label(f"Type {typed} to confirm").fill(typed)
    await follow(page, page.get_by_role("button", name=name))


async def test_preview_move_undo_and_all_are_back(database_url: str, open_page: OpenPage) -> None:
    async with site_of(database_url, tokens=True) as site:
        await site.enqueue(JOBS, queue="email", tags=["acme"], priority=3)
        await site.enqueue(300, queue="email", tags=["globex"])
        await site.enqueue(40, queue="bulk")
        await site.work()
        watched = await open_page(site)
        page = watched.page
        await visit(page, "")
        await log_in(page, "operator")
        await find_jobs(page, "tag:acme")
        await change_all(page)
        await move_to(page, "bulk")
        await submitted(page, "Move 1,700 jobs to bulk", "1,700")
        await expect(page.get_by_role("heading", level=1)).to_have_text("1,700 jobs moved to bulk")
        assert await site.count(queue="bulk") == JOBS + 40
        moved = page.url

        # The wrong queue. What would be put back is counted first; a wrong number changes nothing.
        await follow(page, page.get_by_role("link", name="Undo this operation…"))
        await expect(page.get_by_text("1,700 jobs are as it left them")).to_be_visible()
        await expect(page.get_by_role("row").nth(1)).to_contain_text("bulk → email")
        watched.expect_status(422)
        await page.get_by_label("Why").fill("the wrong queue")
        await page.get_by_label("Type 1,700 to confirm").fill("170")
        await follow(page, page.get_by_role("button", name="Put 1,700 jobs back"))
        await expect(
            page.get_by_text("That is not the number; nothing was submitted.")
        ).to_be_visible()
        await submitted(page, "Put 1,700 jobs back", "1,700")

        # All are back, nobody else's job is touched, and it says who did it and why.
        await expect(page.get_by_role("heading", level=1)).to_have_text("1,700 jobs put back")
        await expect(page.get_by_text("“the wrong queue”").first).to_be_visible()
        await expect(page.get_by_text(NAMES["operator"]).first).to_be_visible()
        assert await site.count(queue="email", priority=3) == JOBS
        assert (await site.count(queue="email"), await site.count(queue="bulk")) == (2_000, 40)

        # From one to the other and back.
        await follow(page, page.get_by_role("link", name=re.compile("^operation ")).first)
        assert page.url == moved
        await expect(page.get_by_text("1,700 jobs put back.")).to_be_visible()
        await expect(page.get_by_text("has been undone already").first).to_be_visible()
        await follow(page, page.get_by_role("link", name=re.compile("^Undo [0-9a-f]{8}$")))
        await expect(page.get_by_role("heading", level=1)).to_have_text("1,700 jobs put back")


async def moved_by(site: Site, jobs: int) -> str:
    """The id of an operation that has moved so many jobs."""
    await site.enqueue(jobs, queue="email")
    await site.work()
    row = await site.client.submit_batch_operation(
        "move_queue", {"queue": "bulk"}, {"queue": "email"}
    )
    await site.client.wait_batch_operation(row["id"], timeout=60)
    return str(row["id"])


async def test_it_says_why_some_are_left_alone(site: Site, open_page: OpenPage) -> None:
    operation = await moved_by(site, 30)
    jobs = await site.client.list_jobs(queue="bulk", limit=30)
    for job in jobs[:3]:
        await site.client.cancel(job.id)
    for job in jobs[3:5]:
        await site.client.move_job(job.id, "elsewhere")
    page = (await open_page(site)).page
    await page.add_init_script(Axe().axe_script)
    await visit(page, f"operations/{operation}/undo")
    await expect(page.get_by_text("25 jobs are as it left them")).to_be_visible()
    await expect(page.get_by_text("3 were cancelled")).to_be_visible()
    await expect(
        page.get_by_text("2 were moved or reprioritised by somebody since")
    ).to_be_visible()
    assert await look_at(page, "undo-operation") == []
    await follow(page, page.get_by_role("button", name="Put 25 jobs back"))
    await expect(page.get_by_role("heading", level=1)).to_have_text("25 of 30 jobs put back")
    assert await look_at(page, "operation-undo") == []
    await visit(page, f"operations/{operation}")
    assert await look_at(page, "operation-undone") == []


async def test_others_than_were_shown_are_not_put_back(site: Site, open_page: OpenPage) -> None:
    operation = await moved_by(site, 30)
    watched = await open_page(site)
    page = watched.page
    await visit(page, f"operations/{operation}/undo")
    await site.client.drain_queue("bulk")
    watched.expect_status(409)
    await follow(page, page.get_by_role("button", name="Put 30 jobs back"))
    await expect(page.get_by_text("30 jobs planned, 0 now: 30 fewer in queue bulk")).to_be_visible()
    await expect(page.get_by_text("There is nothing to put back.")).to_be_visible()
    assert len(await site.client.list_batch_operations()) == 1


async def test_what_somebody_else_undoes_meanwhile_is_not_undone_twice(
    site: Site, open_page: OpenPage
) -> None:
    operation = await moved_by(site, 30)
    watched = await open_page(site)
    page = watched.page
    await visit(page, f"operations/{operation}/undo")
    undo = await site.client.undo_batch_operation(operation)
    await site.client.wait_batch_operation(undo["id"], timeout=60)
    watched.expect_status(409)
    await follow(page, page.get_by_role("button", name="Put 30 jobs back"))
    await expect(page.get_by_text(f"has been undone already, by {undo['id']}")).to_be_visible()
    assert len(await site.client.list_batch_operations()) == 2
