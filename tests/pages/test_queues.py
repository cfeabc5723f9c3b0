"""Queues and one queue: what waits, who paused it, and draining it by a number that was read."""

import pytest

from awa.http import draining
from awa.storage import queues
from tests.pages.conftest import TOKENS, Visit, Visitor
from tests.storage.world import World

ODD_NAMES = ["billing:eu/1", "a b", "..", ".", "50%", "<b>", "ünïcode", "a/../b", "?", "#"]


async def test_the_list_shows_what_waits_and_that_nobody_works(
    console: Visitor, world: World
) -> None:
    await world.enqueue(3, queue="email")
    await world.enqueue(2, queue="reports", priority=4)
    await world.pause("reports")
    page = await console.get("/queues")
    rows = {row.one("th").text: row for row in page.one("tbody").all("tr")}
    assert list(rows) == ["email", "reports paused"]
    assert rows["email"].one("td", data_label="Available").text == "3"
    assert rows["email"].one("td", data_label="Workers").text == "none"


async def test_a_queue_of_any_name_is_found_by_its_link(console: Visitor, world: World) -> None:
    for name in ODD_NAMES:
        await world.enqueue(queue=name)
    listed = (await console.get("/queues")).one("tbody")
    links = {link.text: link.attributes["href"] for link in listed.all("a")}
    for name in ODD_NAMES:
        page = await console.get(links[name])
        assert page.one("h1").text == name
        await console.send(page, "/queue/pause")
        assert (await queues.stats(world.conn, name))[0]["paused"]


async def test_pausing_says_who_and_resuming_ends_it(visit: Visit, world: World) -> None:
    await world.enqueue(queue="email")
    console = visit(tokens=TOKENS)
    await console.log_in("operator")
    await console.send(await console.get("/queues/email"), "/queue/pause")
    page = await console.get("/queues/email")
    assert page.says("Paused by olga")
    await console.send(page, "/queue/resume")
    assert (await queues.stats(world.conn, "email"))[0]["paused"] is False


async def test_depth_by_priority_leads_to_the_jobs(console: Visitor, world: World) -> None:
    await world.enqueue(3, queue="email", priority=1)
    await world.enqueue(9, queue="email", priority=4)
    page = await console.get("/queues/email")
    bars = page.one("ul", class_="bars")
    assert [one.text for one in bars.all("strong")] == ["3", "0", "0", "9"]
    (*_, last) = bars.all("a")
    jobs = await console.get(last.attributes["href"])
    assert jobs.says("9 jobs")


async def test_changing_all_of_a_queue_leads_to_a_new_operation(
    console: Visitor, world: World
) -> None:
    await world.enqueue(3, queue="a queue")
    page = await console.get("/queue", name="a queue")
    for label, kind in (("Move all…", "move_queue"), ("Reprioritise all…", "set_priority")):
        (link,) = [a.attributes["href"] for a in page.all("a", class_="button") if a.text == label]
        assert f"op_kind={kind}" in link
        assert (await console.get(link)).says("a queue")


async def test_draining_names_its_verb_and_count(console: Visitor, world: World) -> None:
    ids = await world.enqueue(7, queue="email")
    other = await world.enqueue(1, queue="other")
    page = await console.get("/queue/drain", name="email")
    (button,) = page.all("button", class_="danger")
    assert button.text == "Cancel 7 jobs"
    await console.send(page, "/queue/drain", reason="sent twice")
    assert (await console.get("/queues/email")).says("7 jobs of the queue email were cancelled.")
    assert set(await world.states(ids)) == {"cancelled"}
    assert await world.states(other) == ["available"]


async def test_a_large_queue_is_drained_only_with_its_number(
    console: Visitor, world: World
) -> None:
    await world.enqueue(1_200, queue="email")
    page = await console.get("/queue/drain", name="email")
    for typed in ("", "1200000", "yes"):
        again = await console.send(page, "/queue/drain", status=422, typed=typed)
        assert again.says("Type 1,200 to go on")
    assert (await queues.stats(world.conn, "email"))[0]["available"] == 1_200
    await console.send(page, "/queue/drain", typed="1,200")
    assert (await queues.stats(world.conn, "email"))[0]["available"] == 0


async def test_a_queue_that_filled_meanwhile_is_asked_again(console: Visitor, world: World) -> None:
    await world.enqueue(5, queue="email")
    page = await console.get("/queue/drain", name="email")
    await world.enqueue(500, queue="email")
    again = await console.send(page, "/queue/drain", status=409)
    assert again.says("Meanwhile the queue went from 5 to 505 jobs. Nothing was done")
    assert (await queues.stats(world.conn, "email"))[0]["available"] == 505


async def test_an_empty_queue_has_nothing_to_drain(console: Visitor, world: World) -> None:
    await world.finish([], "completed")
    await world.enqueue(queue="email")
    await world.claim(queue="email")
    page = await console.get("/queue/drain", name="email")
    assert page.says("there is nothing to drain")
    assert list(page.all("form", action="/queue/drain")) == []


async def test_a_drain_that_runs_out_of_time_says_so(
    console: Visitor, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "DRAIN_MAX_S", -1.0)
    await world.enqueue(5, queue="email")
    await console.send(await console.get("/queue/drain", name="email"), "/queue/drain")
    page = await console.get("/queues/email")
    assert page.says("0 jobs of the queue email were cancelled. Time was up before the end")


async def test_limits_are_set_shown_and_taken_away(console: Visitor, world: World) -> None:
    await world.enqueue(3, queue="email")
    page = await console.get("/queue/limits", name="email")
    await console.send(page, "/queue/limits", max_running="2", rate="100/min")
    page = await console.get("/queues/email")
    assert page.says("The queue email runs at most 2 jobs at once and begins at most 100/min.")
    assert not page.says("Held by its limit")
    assert len(await world.claim(queue="email")) == 2
    page = await console.get("/queues/email")
    assert page.says("Held by its limit")
    assert (await console.get("/queues")).says("limited")
    page = await console.get("/queue/limits", name="email")
    await console.send(page, "/queue/limits", max_running="", rate="")
    (row,) = await queues.stats(world.conn, "email")
    assert [row[name] for name in ("max_running", "rate_limit", "rate_period_s")] == [None] * 3
    assert not (await console.get("/queues/email")).says("Held by its limit")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"max_running": "many"}, "expected a whole number"),
        ({"max_running": "0"}, "must be between 1 and"),
        ({"rate": "fast"}, "expected jobs per time"),
        ({"rate": "5/1ms"}, "must be 0.1 to"),
        ({"rate": "0/s"}, "must be between 1 and"),
    ],
)
async def test_limits_that_make_no_sense_are_told_at_their_field(
    console: Visitor, world: World, fields: dict[str, str], told: str
) -> None:
    await world.enqueue(queue="email")
    page = await console.get("/queue/limits", name="email")
    again = await console.send(page, "/queue/limits", status=422, **fields)
    assert again.says(told)
