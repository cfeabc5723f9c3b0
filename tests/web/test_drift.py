"""Between the check and the button the backlog goes on living: what is submitted is what was shown, or nothing."""

import re
from typing import Any
from urllib.parse import urlencode

import httpx
from playwright.async_api import expect

from tests.web.conftest import OpenPage
from tests.web.site import Site
from tests.web.steps import check_operation

MOVE = {"q": "queue:email", "op_kind": "move_queue", "spec.queue": "bulk"}


async def operations_of(site: Site) -> list[Any]:
    """Everything that was submitted."""
    return await site.client.list_batch_operations()


async def test_other_jobs_than_were_shown_are_not_changed(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(900, queue="email")
    await site.work()
    watched = await open_page(site)
    page = watched.page
    await check_operation(page, "queue:email", "bulk")
    await page.get_by_label("Why").fill("provider is down")
    await site.enqueue(300, queue="email")
    watched.expect_status(409)
    await page.get_by_role("button", name="Move 900 jobs to bulk").click()

    drift = (
        page.get_by_role("alert")
        .or_(page.locator(".notice"))
        .filter(has_text="Nothing was submitted")
    )
    await expect(drift).to_contain_text(
        "You were shown 900 jobs; now it would be 1,200 jobs (+300)."
    )
    assert await operations_of(site) == []
    assert await site.count(queue="email") == 1_200

    # What is there now is asked about anew, with all that it needs.
    await expect(page.get_by_label("Why")).to_have_value("provider is down")
    await page.get_by_label("Type 1,200 to confirm").fill("1200")
    await page.get_by_role("button", name="Move 1,200 jobs to bulk").click()
    await expect(page.get_by_text("1,200 of 1,200 jobs")).to_be_visible()
    assert await site.count(queue="bulk") == 1_200


async def test_a_few_more_are_the_same_deed(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(900, queue="email")
    await site.work()
    page = (await open_page(site)).page
    await check_operation(page, "queue:email", "bulk")
    await site.enqueue(40, queue="email")
    await page.get_by_role("button", name="Move 900 jobs to bulk").click()
    await expect(page.get_by_text("940 of 940 jobs")).to_be_visible()


async def test_what_was_changed_on_the_page_has_to_be_checked_again(
    site: Site, open_page: OpenPage
) -> None:
    await site.enqueue(5, queue="email")
    await site.enqueue(5_000, queue="sms")
    page = (await open_page(site)).page
    await check_operation(page, "queue:email", "bulk")
    button = page.get_by_role("button", name="Move 5 jobs to bulk")
    await expect(button).to_be_visible()
    await page.get_by_label("Search for jobs").fill("queue:sms")
    await expect(button).to_have_count(0)
    await expect(
        page.get_by_text("Something above was changed. Press Check to count anew.")
    ).to_be_visible()
    await expect(page.get_by_text("5,000 jobs can be changed")).to_be_visible()
    await page.get_by_role("button", name="Check").click()
    await expect(page.get_by_role("button", name="Move 5,000 jobs to bulk")).to_be_visible()


async def test_a_mistyped_word_is_told_as_one_types(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(5, queue="email")
    page = (await open_page(site)).page
    await page.goto("operations/new")
    await page.get_by_label("Search for jobs").fill("queu:email")
    await expect(
        page.get_by_text("'queu' is no word of a search, did you mean 'queue'?")
    ).to_be_visible()
    await page.get_by_role("link", name="Use queue:email").click()
    await expect(page.get_by_label("Search for jobs")).to_have_value("queue:email")
    await expect(page.get_by_text("5 jobs can be changed")).to_be_visible()


async def test_only_what_fits_is_offered(site: Site, open_page: OpenPage) -> None:
    page = (await open_page(site)).page
    await page.goto("operations/new?q=state:completed")
    await expect(page.get_by_text("Nothing fits these jobs")).to_be_visible()
    for label in ("Move to another queue", "Give another priority"):
        await expect(page.get_by_label(label)).to_be_disabled()


async def test_every_job_has_to_be_meant(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(7, queue="email")
    await site.enqueue(7, queue="sms")
    page = (await open_page(site)).page
    await check_operation(page, "", "bulk")
    await expect(page.get_by_text("No search means every job")).to_be_visible()
    await page.get_by_label("Yes, every job that waits is meant").check()
    await page.get_by_role("button", name="Move 14 jobs to bulk").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("to bulk")
    assert len(await operations_of(site)) == 1


async def form_of(browser: httpx.AsyncClient, **asked: str) -> dict[str, str]:
    """The hidden fields of the last step, as a browser without scripts would send them."""
    answer = await browser.get(f"operations/new?{urlencode(MOVE | asked | {'check': '1'})}")
    assert answer.status_code == 200, answer.text
    form = re.search(
        r'<form method="post" action="[^"]*/operations/new".*?</form>', answer.text, re.S
    )
    assert form is not None
    fields = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form[0])
    return dict(fields)


def browser_of(site: Site) -> httpx.AsyncClient:
    """What sends forms, without a screen."""
    origin = site.url.rstrip("/")
    return httpx.AsyncClient(
        timeout=60, base_url=site.url, headers={"origin": origin, "accept": "text/html"}
    )


async def test_a_second_press_finds_what_the_first_one_made(site: Site) -> None:
    await site.enqueue(20, queue="email")
    async with browser_of(site) as browser:
        form = await form_of(browser)
        first = await browser.post("operations/new", data=form)
        assert first.status_code == 303, first.text
        # Even when the first one has changed what there is to count.
        await site.work()
        row = (await operations_of(site))[0]
        await site.client.wait_batch_operation(row["id"], timeout=60)
        second = await browser.post("operations/new", data=form)
    assert second.headers["location"] == first.headers["location"]
    assert len(await operations_of(site)) == 1


async def test_a_seal_fits_nothing_else(site: Site) -> None:
    await site.enqueue(20, queue="email")
    await site.enqueue(20, queue="sms")
    async with browser_of(site) as browser:
        form = await form_of(browser)
        for wrong in (
            {"plan": ""},
            {"plan": form["plan"][:-2] + "xx"},
            {"q": "queue:sms"},
            {"spec.queue": "other"},
            {"op_kind": "set_priority", "spec.priority": "1"},
        ):
            answer = await browser.post("operations/new", data=form | wrong)
            assert answer.status_code == 409, wrong
            assert "Nothing was submitted" in answer.text
        for missing in ("q", "op_kind", "spec.queue"):
            kept = {name: value for name, value in form.items() if name != missing}
            answer = await browser.post("operations/new", data=kept)
            assert answer.status_code in {409, 422}, missing
    assert await operations_of(site) == []


async def test_an_empty_search_without_the_tick_is_refused(site: Site) -> None:
    await site.enqueue(20, queue="email")
    async with browser_of(site) as browser:
        form = await form_of(browser, q="")
        answer = await browser.post("operations/new", data=form)
        assert answer.status_code == 422
        assert "Say that every waiting job is meant." in answer.text
        assert await operations_of(site) == []
        answer = await browser.post("operations/new", data=form | {"all": "1"})
        assert answer.status_code == 303


async def test_an_age_is_kept_as_the_instant_that_was_checked(site: Site) -> None:
    await site.enqueue(20, queue="email")
    async with browser_of(site) as browser:
        form = await form_of(browser, q="queue:email age:<1h")
        assert re.fullmatch(r"queue:email created:&gt;=\d{4}-\S+Z", form["q"]), form["q"]
        form["q"] = form["q"].replace("&gt;", ">")
        answer = await browser.post("operations/new", data=form)
        assert answer.status_code == 303, answer.text
    (row,) = await operations_of(site)
    assert set(row["filter"]) == {"queue", "created_at_gte"}
