"""Who may only look sees everything and is told why nothing else is possible; who may do more has to log in."""

import httpx
import pytest
from playwright.async_api import Page, expect

from tests.web.browser import visit
from tests.web.conftest import OpenPage
from tests.web.site import NAMES, TOKENS, Site, site_of
from tests.web.steps import check_operation, follow, log_in


async def nothing_can_be_done(page: Page, site: Site, why: str) -> None:
    """All of it can be read and counted, and each control that changes something says why not."""
    await site.enqueue(30, queue="email")
    row = await site.client.submit_batch_operation(
        "set_priority", {"priority": 1}, {"queue": "email"}
    )
    await visit(page, "operations")
    await expect(page.get_by_text("Give jobs priority 1")).to_be_visible()

    await visit(page, f"operations/{row['id']}")
    steering = page.get_by_role("region", name="Steer it")
    await expect(steering.get_by_text(why).first).to_be_visible()
    await expect(steering.locator("form")).to_have_count(0)

    await check_operation(page, "queue:email", "bulk")
    await expect(page.get_by_text("30 jobs will be moved to bulk")).to_be_visible()
    button = page.get_by_role("button", name="Move 30 jobs to bulk")
    await expect(button).to_have_attribute("aria-disabled", "true")
    await expect(page.get_by_text(why).first).to_be_visible()
    await button.click(force=True)
    await expect(page.locator("form[method=post][action$='/operations/new']")).to_have_count(0)
    assert len(await site.client.list_batch_operations()) == 1


async def test_a_read_only_console_shows_everything_and_changes_nothing(
    database_url: str, open_page: OpenPage
) -> None:
    async with site_of(database_url, read_only=True) as site:
        page = (await open_page(site)).page
        await nothing_can_be_done(page, site, "read-only")


async def test_a_viewer_looks_and_changes_nothing(database_url: str, open_page: OpenPage) -> None:
    async with site_of(database_url, tokens=True) as site:
        page = (await open_page(site)).page
        await visit(page, "operations")
        await log_in(page, "viewer")
        await nothing_can_be_done(page, site, "Your role is viewer")


@pytest.mark.parametrize("path", ["operations/new", "operations/{}/cancel"])
async def test_a_form_sent_by_hand_is_refused_as_well(database_url: str, path: str) -> None:
    async with site_of(database_url, tokens=True) as site:
        await site.enqueue(3, queue="email")
        row = await site.client.submit_batch_operation(
            "set_priority", {"priority": 1}, {"queue": "email"}
        )
        for role, status in (("viewer", 403), ("operator", 303)):
            headers = {"authorization": f"Bearer {TOKENS[role]}"}
            async with httpx.AsyncClient(timeout=60, base_url=site.url, headers=headers) as program:
                form = {"q": "queue:email", "op_kind": "set_priority", "spec.priority": "1"}
                answer = await program.post(path.format(row["id"]), data=form)
                # Without a seal of the check an operator's is not carried out either, and says so.
                expected = 409 if path == "operations/new" and status == 303 else status
                assert answer.status_code == expected, answer.text
        operations = await site.client.list_batch_operations()
        assert [one["state"] for one in operations] == ["pending" if "new" in path else "cancelled"]


async def test_log_in_goes_where_one_wanted_to_go_and_log_out_ends_it(
    database_url: str, open_page: OpenPage
) -> None:
    async with site_of(database_url, tokens=True) as site:
        watched = await open_page(site)
        page = watched.page
        await visit(page, "operations/new?q=queue:email")
        await expect(page).to_have_title("Log in · Awa")

        watched.expect_status(401)
        await page.get_by_label("Token").fill("not-a-token-of-ours")
        await follow(page, page.get_by_role("button", name="Log in"))
        await expect(page.get_by_text("The token is not known here")).to_be_visible()
        await log_in(page, "operator")
        await expect(page.get_by_label("Search for jobs")).to_have_value("queue:email")
        assert TOKENS["operator"] not in page.url

        cookies = {cookie["name"]: cookie for cookie in await page.context.cookies()}
        session = cookies["awa_session"]
        assert session["httpOnly"]
        assert TOKENS["operator"] not in str(cookies)

        await page.get_by_text(NAMES["operator"]).first.click()
        await page.get_by_role("button", name="Log out").click()
        await expect(page).to_have_title("Log in · Awa")
        await visit(page, "operations")
        await expect(page).to_have_title("Log in · Awa")

        # The old cookie is good for nothing, whoever kept it.
        async with httpx.AsyncClient(timeout=60, base_url=site.url) as thief:
            thief.cookies.set("awa_session", session["value"])
            assert (await thief.get("operations")).status_code == 303


async def test_a_form_of_another_session_or_page_is_refused(
    database_url: str, open_page: OpenPage
) -> None:
    async with site_of(database_url, tokens=True) as site:
        await site.enqueue(3, queue="email")
        row = await site.client.submit_batch_operation(
            "set_priority", {"priority": 1}, {"queue": "email"}
        )
        page = (await open_page(site)).page
        await visit(page, "operations")
        await log_in(page, "admin")
        cookies = {cookie["name"]: cookie["value"] for cookie in await page.context.cookies()}
        address = f"{site.url}operations/{row['id']}/cancel"
        async with httpx.AsyncClient(timeout=60, cookies=cookies) as browser:
            for headers, form in (
                ({}, {}),
                ({}, {"csrf_token": "x"}),
                ({"origin": "https://evil.example"}, {}),
                ({"sec-fetch-site": "cross-site"}, {}),
            ):
                assert (await browser.post(address, data=form, headers=headers)).status_code == 403
        assert (await site.client.get_batch_operation(row["id"]))["state"] == "pending"
