"""Between the check and the button the backlog goes on living: what is submitted is what was shown, or nothing."""

import re
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import expect

from awa.model.errors import TooSlow
from awa.web.routes import new_operation
from tests.plans import aged
from tests.web.conftest import OpenPage
from tests.web.site import WAIT_S, Site
from tests.web.steps import check_operation
from tests.web.test_pages import look_at

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
        "900 jobs planned, 1,200 now: 300 more in queue email; 300 more available."
    )
    await expect(drift).to_contain_text("Up to 10 more or fewer would have been the same deed.")
    assert "plan=" not in page.url
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
    await site.enqueue(10, queue="email")
    await page.get_by_role("button", name="Move 900 jobs to bulk").click()
    await expect(page.get_by_text("910 of 910 jobs")).to_be_visible()


async def test_where_the_difference_is_stands_in_a_table(site: Site, open_page: OpenPage) -> None:
    for queue in ("email", "sms"):
        await site.enqueue(200, queue=queue, tags=["acme"])
    watched = await open_page(site)
    page = watched.page
    await page.add_init_script(Axe().axe_script)
    await check_operation(page, "tag:acme", "bulk")
    await site.enqueue(100, queue="email", tags=["acme"])
    await site.enqueue(7, queue="push", tags=["acme"])
    watched.expect_status(409)
    await page.get_by_role("button", name="Move 400 jobs to bulk").click()
    rows = page.get_by_role("region", name="The difference by queue").get_by_role("row")
    await expect(rows).to_have_text(
        [re.compile(r"Queue.*When checked.*Now.*Difference", re.S),
         re.compile(r"email\s*200\s*300\s*\+100"), re.compile(r"push\s*0\s*7\s*\+7")]
    )  # fmt: skip
    await expect(page.get_by_text("507 jobs will be moved to bulk.")).to_be_visible()
    assert await look_at(page, "new-operation-drifted") == []
    await page.get_by_role("link", name="What is the matter, and what now").click()
    await expect(page.get_by_role("heading", name="Check and go")).to_be_in_viewport()
    # Nothing drifts any more: the same button, with the numbers of now.
    await page.get_by_role("button", name="Move 507 jobs to bulk").click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("to bulk")
    assert len(await operations_of(site)) == 1


async def test_new_numbers_never_come_unsaid(site: Site) -> None:
    await site.enqueue(1_500, queue="email")
    async with browser_of(site) as browser:
        form = await form_of(browser)
        answer = await browser.post("operations/new", data=form | {"typed": "15"})
        assert answer.status_code == 422
        assert "That is not the number; nothing was submitted." in answer.text
        assert "planned" not in answer.text
        await site.enqueue(100, queue="email")
        answer = await browser.post("operations/new", data=form | {"typed": "15"})
        assert answer.status_code == 422
        assert "1,500 jobs planned, 1,600 now: 100 more in queue email" in answer.text
    assert await operations_of(site) == []


async def test_as_it_drifts_on_it_is_asked_on(site: Site, open_page: OpenPage) -> None:
    await site.enqueue(5, queue="email")
    watched = await open_page(site)
    page = watched.page
    await check_operation(page, "queue:email", "bulk")
    for jobs in (5, 6):
        await site.enqueue(1, queue="email")
        watched.expect_status(409)
        await page.get_by_role("button", name=f"Move {jobs} jobs to bulk").click()
        await expect(page.get_by_text(f"{jobs} jobs planned, {jobs + 1} now")).to_be_visible()
        await expect(page.get_by_text("Of so few jobs not one may be another.")).to_be_visible()
    assert await operations_of(site) == []


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
    headers = {"origin": origin, "accept": "text/html"}
    return httpx.AsyncClient(base_url=site.url, headers=headers, timeout=WAIT_S)


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


async def test_a_check_that_is_too_old_is_made_anew(site: Site) -> None:
    await site.enqueue(20, queue="email")
    async with browser_of(site) as browser:
        form = await form_of(browser)
        old = aged(site.database_url, form["plan"], timedelta(hours=2))
        answer = await browser.post("operations/new", data=form | {"plan": old})
        assert answer.status_code == 409
        assert "Nothing was submitted: the check is too old" in answer.text
        assert old not in answer.text
        assert await operations_of(site) == []
        assert (await browser.post("operations/new", data=form)).status_code == 303


async def test_a_second_press_after_its_time_finds_what_the_first_one_made(site: Site) -> None:
    await site.enqueue(20, queue="email")
    async with browser_of(site) as browser:
        form = await form_of(browser)
        first = await browser.post("operations/new", data=form)
        form["plan"] = aged(site.database_url, form["plan"], timedelta(hours=2))
        second = await browser.post("operations/new", data=form)
    assert second.headers["location"] == first.headers["location"]


async def test_a_token_of_the_command_line_is_as_good(site: Site) -> None:
    await site.enqueue(20, queue="email")
    seen = await site.client.preview_move_queue("bulk", filter={"queue": "email"})
    async with browser_of(site) as browser:
        form = await form_of(browser)
        answer = await browser.post("operations/new", data=form | {"plan": seen["plan_token"]})
        assert answer.status_code == 303, answer.text


async def test_what_takes_too_long_to_count_again_is_told(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def too_slow(*_: object, **__: object) -> None:
        raise TooSlow("counting these jobs would take longer", hint="narrow the filter")

    await site.enqueue(20, queue="email")
    async with browser_of(site) as browser:
        form = await form_of(browser)
        monkeypatch.setattr(new_operation, "submit", too_slow)
        answer = await browser.post("operations/new", data=form)
        assert answer.status_code == 503
        assert "Counting these jobs takes too long; nothing was submitted" in answer.text
        assert await operations_of(site) == []


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
