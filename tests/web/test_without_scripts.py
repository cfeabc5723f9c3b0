"""Without scripts everything can be read, and an operation made, confirmed and cancelled."""

import re

from playwright.async_api import expect

from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import Site, eventually


async def test_the_whole_way_without_scripts(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(1_200, queue="email", tags=["acme"])
    await site.enqueue(100, queue="email")
    await site.work()
    page = (await open_page(site, scripts=False)).page

    await visit(page, "jobs?q=queue:email tag:acme")
    await page.get_by_role("button", name="Change all that match…").click()
    await expect(page.get_by_text("1,200 jobs can be changed")).to_be_visible()

    # Counting is a form of its own, and each word can be taken away by a link.
    await page.get_by_role("link", name="Remove with the tag acme").click()
    await expect(page.get_by_text("1,300 jobs can be changed")).to_be_visible()
    await page.get_by_label("Search for jobs").fill("queue:email tag:acm,acme")
    await page.get_by_label("Move to another queue").check()
    await page.get_by_label("To the queue").fill("escalations")
    await page.get_by_role("button", name="Check").click()

    await page.get_by_label("Type 1,200 to confirm").fill("1200")
    await page.get_by_role("button", name="Move 1,200 jobs to escalations").click()
    await expect(page).to_have_url(re.compile("/operations/[0-9a-f-]{36}$"))

    async def moved() -> bool:
        return await site.count(queue="escalations") == 1_200

    assert await eventually(moved)

    async def ended() -> bool:
        await page.reload()
        return await page.get_by_text("1,200 of 1,200 jobs").count() > 0

    assert await eventually(ended)
    await visit(page, "operations")
    await expect(page.get_by_text("1,200 jobs moved to escalations")).to_be_visible()


async def test_cancelling_without_scripts(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(3, queue="email")
    row = await site.client.submit_batch_operation(
        "set_priority", {"priority": 1}, {"queue": "email"}
    )
    page = (await open_page(site, scripts=False)).page
    await visit(page, f"operations/{row['id']}")
    await page.get_by_text("Cancel this operation…").click()
    await page.get_by_role("button", name="Cancel this operation", exact=True).click()
    await expect(page.get_by_text("No job was changed.")).to_be_visible()
    assert (await site.client.get_batch_operation(row["id"]))["state"] == "cancelled"
