"""The list of jobs: searched by words, paged by key, and the way to change what was found."""

from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest

from awa.operations.reading import jobs
from tests.pages.conftest import TOKENS, Visit, Visitor
from tests.pages.reading import Page
from tests.storage.world import World


def ids(page: Page) -> list[int]:
    return [int(box.attributes["value"]) for box in page.all("input", name="id")]


def tabs(page: Page) -> dict[str, str]:
    listed = page.one("nav", aria_label="States").all("a")
    return {label: count for label, _, count in (tab.text.partition(" ") for tab in listed)}


async def test_an_empty_store_says_how_a_job_gets_in(console: Visitor) -> None:
    page = await console.get("/jobs")
    assert page.says("No jobs yet")
    assert page.says("awa enqueue --kind send_email")


async def test_a_page_of_jobs_and_the_next_one(console: Visitor, world: World) -> None:
    made = await world.enqueue(120, queue="email")
    seen: list[int] = []
    page = await console.get("/jobs", q="queue:email")
    assert page.says("120 jobs in the queue email.")
    for _ in range(2):
        seen += ids(page)
        page = await console.get(page.one("a", rel="next").attributes["href"])
    seen += ids(page)
    assert seen == sorted(made, reverse=True)
    assert list(page.all("a", rel="next")) == []


async def test_tabs_count_each_state_of_what_was_searched_for(
    console: Visitor, world: World
) -> None:
    await world.enqueue(5, queue="email")
    await world.finish(await world.claim(2, queue="email"), "failed", error={"error": "no"})
    await world.claim(1, queue="email")
    await world.enqueue(7, queue="other")
    page = await console.get("/jobs", q="queue:email state:failed")
    assert tabs(page)["All"] in {"5", "~5"}
    assert {tabs(page)[name] for name in ("Available", "Failed")} == {"2"}
    assert tabs(page)["Running"] == "1"
    assert len(ids(page)) == 2
    (current,) = page.one("nav", aria_label="States").all("a", aria_current="page")
    assert current.text.startswith("Failed")
    every = next(iter(page.one("nav", aria_label="States").all("a")))
    assert parse_qs(urlsplit(every.attributes["href"]).query) == {"q": ["queue:email"]}


async def test_a_word_can_be_taken_away_again(console: Visitor, world: World) -> None:
    await world.enqueue(queue="email", tags=["customer:acme"])
    page = await console.get("/jobs", q="queue:email tag:customer:acme")
    chips = {chip.text: chip.one("a").attributes["href"] for chip in page.all(class_="chip")}
    assert list(chips) == ["queue:email", "tag:customer:acme"]
    assert parse_qs(urlsplit(chips["queue:email"]).query) == {"q": ["tag:customer:acme"]}


async def test_a_mistake_keeps_what_was_typed_and_offers_what_was_meant(console: Visitor) -> None:
    page = await console.get("/jobs", q="queu:email", status=422)
    box = page.one("input", id="q")
    assert box.attributes["value"] == "queu:email"
    assert box.attributes["aria-invalid"] == "true"
    suggestion = page.one(id="q-problems").one("a")
    assert parse_qs(urlsplit(suggestion.attributes["href"]).query) == {"q": ["queue:email"]}


async def test_ticked_rows_become_an_operation_on_their_ids(console: Visitor, world: World) -> None:
    first, second = await world.enqueue(2, queue="email")
    chosen = await console.get(f"/jobs/change?q=&scope=rows&id={first}&id={second}", status=303)
    assert parse_qs(urlsplit(chosen.location).query) == {"q": [f"id:{first},{second}"]}
    await console.get(chosen.location)


async def test_all_that_match_become_an_operation_on_the_search(console: Visitor) -> None:
    chosen = await console.get("/jobs/change", q="queue:email age:>1h", scope="all", status=303)
    assert parse_qs(urlsplit(chosen.location).query) == {"q": ["queue:email age:>1h"]}


async def test_choosing_nothing_is_told(console: Visitor) -> None:
    back = await console.get("/jobs/change", q="queue:email", status=303)
    assert (await console.get(back.location)).one(class_="notice").text.startswith("Nothing was")
    # Said once.
    assert list((await console.get(back.location)).all(class_="notice")) == []


async def test_what_is_chosen_is_said_in_words(console: Visitor, world: World) -> None:
    await world.enqueue(60, queue="email")
    page = await console.get("/jobs", q="queue:email state:available")
    form = page.one("form", action="/jobs/change")
    assert form.attributes["data-all"] == "all 60 jobs that match"
    assert form.attributes["data-one-page"] == "no"


async def test_a_page_that_found_nothing_yet_offers_to_look_further_back(
    console: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def out_of_time(*_: object, **__: object) -> jobs.Page:
        return jobs.Page([], "further")

    monkeypatch.setattr(jobs, "look", out_of_time)
    page = await console.get("/jobs", q="kind:rare")
    further = page.one("a", class_="primary")
    assert further.text == "Look further back"
    assert parse_qs(urlsplit(further.attributes["href"]).query)["cursor"] == ["further"]


async def test_a_search_without_result_is_not_an_empty_store(
    console: Visitor, world: World
) -> None:
    await world.enqueue(queue="email")
    page = await console.get("/jobs", q="queue:other")
    assert page.one(class_="lede").text == "No jobs in the queue other."
    assert page.says("There are no jobs in the queue other.")
    assert not page.says("No jobs yet")


async def test_secrets_in_arguments_are_on_no_page(visit: Visit, world: World) -> None:
    (job_id,) = await world.enqueue(
        queue="email", args_json='{"user": "ada", "password": "hunter2"}'
    )
    console = visit(tokens=TOKENS)
    await console.log_in("viewer")
    page = await console.get(f"/jobs/{job_id}")
    assert page.says('"ada"')
    assert page.says("Fields that are named like secrets are hidden.")
    assert "hunter2" not in page.html
    assert "hunter2" not in (await console.get("/jobs")).html


async def test_when_a_job_is_due_is_said(console: Visitor, world: World) -> None:
    due = datetime.now(UTC) + timedelta(hours=2, minutes=30)
    await world.enqueue(queue="email", run_at=due)
    when = (await console.get("/jobs", q="state:scheduled")).one("td", data_label="When")
    assert when.text.startswith("due in 2")
    assert when.one("time").attributes["datetime"] == due.isoformat()
