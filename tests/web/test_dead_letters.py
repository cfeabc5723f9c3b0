"""Dead letters in the console: a group is retried, another purged by whoever may, and nothing is done to what changed."""

import re

import httpx
from playwright.async_api import expect

import awa
from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import TOKENS, Site, eventually, site_of
from tests.web.steps import log_in


async def letters(site: Site) -> None:
    """Three of one cause, two of another."""
    client = site.client
    await client.set_dlq("email", True)

    @client.task(dict, kind="send_email", queue="email")
    async def send(job: awa.Job[dict[str, int]]) -> None:
        n = job.args["n"]
        raise awa.TerminalError(f"mailbox {n} is full" if n < 3 else "no <b>route</b>")

    await client.insert_many([{"n": n} for n in range(5)], kind="send_email", queue="email")
    await site.work(("email", 5))
    await eventually(lambda: _are(site, 5))
    await client.shutdown()


async def _are(site: Site, number: int) -> bool:
    return len(await site.client.list_dlq()) == number


async def test_one_group_is_retried_elsewhere_and_another_purged(
    site: Site, open_page: OpenPage
) -> None:
    await letters(site)
    page = (await open_page(site)).page
    await visit(page, "")
    await (
        page.get_by_role("navigation", name="Pages")
        .get_by_role("link", name="Dead letters")
        .click()
    )
    await expect(page.get_by_text("5 jobs that failed for good")).to_be_visible()
    full = page.get_by_role("row", name=re.compile("is full"))
    await full.get_by_role("link", name="Retry…").click()
    await page.get_by_label("Into the queue").fill("quarantine")
    await page.get_by_role("button", name="Retry 3 dead letters").click()
    await expect(page.get_by_role("status")).to_contain_text(
        "3 dead letters were given new attempts"
    )
    assert await site.count(queue="quarantine", state="available") == 3

    await (
        page.get_by_role("row", name=re.compile("route")).get_by_role("link", name="Purge…").click()
    )
    await page.get_by_label("Type 2 to confirm").fill("2")
    await page.get_by_role("button", name="Delete 2 jobs for good").click()
    await expect(page.get_by_role("status")).to_contain_text("2 dead letters were deleted for good")
    await expect(page.get_by_text("No dead letters")).to_be_visible()
    assert await site.count() == 3


async def test_one_is_retried_from_its_list(site: Site, open_page: OpenPage) -> None:
    await letters(site)
    page = (await open_page(site)).page
    await visit(page, "dead-letters")
    await page.get_by_role("row", name=re.compile("is full")).get_by_role("link", name="3").click()
    await page.get_by_role("button", name="Retry").first.click()
    await expect(page.get_by_role("status")).to_contain_text("It has all its attempts again")
    assert await site.count(state="available") == 1


async def test_what_changed_since_it_was_read_is_left_alone(
    site: Site, open_page: OpenPage
) -> None:
    await letters(site)
    watched = await open_page(site)
    watched.expect_status(409)
    page = watched.page
    await visit(page, "dead-letters/retry/confirm?queue=email")
    await site.client.retry_from_dlq((await site.client.list_dlq())[0]["id"])
    await page.get_by_role("button", name="Retry 5 dead letters").click()
    await expect(page.get_by_text("Nothing was done; look again")).to_be_visible()
    assert await _are(site, 4)


async def test_what_came_since_it_was_read_is_left_alone_and_hinders_nobody(
    site: Site, open_page: OpenPage
) -> None:
    """Jobs go on failing while somebody reads: what is deleted is what was counted."""
    await letters(site)
    page = (await open_page(site)).page
    await visit(page, "dead-letters/purge/confirm?queue=email")
    late = await site.client.insert({"n": 9}, kind="send_email", queue="email")
    await site.work(("email", 5))
    await eventually(lambda: _are(site, 6))
    await page.get_by_label("Type 5 to confirm").fill("5")
    await page.get_by_role("button", name="Delete 5 jobs for good").click()
    await expect(page.get_by_role("status")).to_contain_text("5 dead letters were deleted for good")
    assert [row["id"] for row in await site.client.list_dlq()] == [late.id]


async def test_a_purge_wants_the_number_typed(site: Site, open_page: OpenPage) -> None:
    await letters(site)
    watched = await open_page(site)
    watched.expect_status(422)
    page = watched.page
    await visit(page, "dead-letters/purge/confirm?queue=email")
    await page.get_by_label("Type 5 to confirm").fill("4")
    await page.get_by_role("button", name="Delete 5 jobs for good").click()
    await expect(page.get_by_text("Type 5 to go on")).to_be_visible()
    assert await _are(site, 5)


async def test_an_operator_retries_and_does_not_purge(
    database_url: str, open_page: OpenPage
) -> None:
    async with site_of(database_url, tokens=True) as site:
        await letters(site)
        page = (await open_page(site)).page
        await visit(page, "dead-letters")
        await log_in(page, "operator")
        purge = page.get_by_role("link", name="Purge…").first
        await expect(purge).to_have_attribute("aria-disabled", "true")
        await expect(page.get_by_role("link", name="Retry…").first).to_have_attribute(
            "href", re.compile("retry/confirm")
        )
        headers = {"authorization": f"Bearer {TOKENS['operator']}"}
        async with httpx.AsyncClient(timeout=60, base_url=site.url, headers=headers) as program:
            form = {"queue": "email", "seen": "5", "typed": "5"}
            assert (await program.post("dead-letters/purge", data=form)).status_code == 403
        assert await _are(site, 5)
