"""Pages of jobs show what awa.jobs holds, each job once, whatever comes meanwhile and however short a page is."""

import random
from collections.abc import Mapping
from typing import Any

import pytest

from awa.db import run
from awa.model.errors import TooSlow, ValidationError
from awa.model.filter import JobFilter
from awa.operations.compile import compile_filter
from awa.operations.reading import bounds, jobs, walk
from awa.operations.reading.split import Split
from awa.storage import read
from tests.storage.world import World

FILTERS: list[dict[str, Any]] = [
    {},
    {"queue": "a"},
    {"queues": ["a", "c"], "priority": 1},
    {"kind": "sms"},
    {"tag": "customer:1"},
    {"tags_none": ["customer:1"], "state": "available"},
    {"state": "available"},
    {"state": "available", "queue": "late"},
    {"state": "available", "queue": "owed"},
    {"state": "scheduled"},
    {"state": "retryable"},
    {"state": "running"},
    {"state": "completed"},
    {"state": "completed", "queue": "b"},
    {"state": "failed"},
    {"state": "cancelled", "kind": "mail"},
    {"state": "waiting_external"},
    {"error_contains": "full"},
    {"attempt_gte": 1},
    {"ids": [1, 2, 3, 60, 99_999]},
    {"ids": []},
    {"created_at_gte": "2020-01-01T00:00:00Z", "queue": "c"},
    {"finalized_at_gte": "2020-01-01T00:00:00Z"},
    {"args_contains": {"no": 1}},
]


async def truth(world: World, given: Mapping[str, Any]) -> list[int]:
    """The ids that awa.jobs has for the filter, newest first."""
    predicate = compile_filter(JobFilter.parse(given))
    query = "SELECT j.id FROM awa.jobs j WHERE " + predicate.sql.as_string(world.conn)
    cursor = await world.conn.execute(query.encode(), predicate.params)
    return sorted((row[0] for row in await cursor.fetchall()), reverse=True)


async def all_pages(world: World, given: Mapping[str, Any], limit: int) -> list[int]:
    ids: list[int] = []
    cursor = None
    while True:
        page, cursor = await jobs.page(
            world.conn, JobFilter.parse(given), limit=limit, cursor=cursor
        )
        assert len(page) <= limit
        ids += [row["id"] for row in page]
        if cursor is None:
            return ids


@pytest.mark.parametrize("given", FILTERS, ids=str)
async def test_the_pages_of_a_filter_are_its_jobs(mixed: World, given: dict[str, Any]) -> None:
    wanted = await truth(mixed, given)
    assert await all_pages(mixed, given, 1_000) == wanted
    assert await all_pages(mixed, given, 3) == wanted


@pytest.mark.parametrize("given", FILTERS, ids=str)
async def test_a_walk_that_runs_out_of_time_goes_on_from_where_it_was(
    mixed: World, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stretches of five ids and a budget that is spent after each: short pages, empty pages, and every job once."""
    monkeypatch.setattr(walk, "NEWEST_FEW_ROWS", 5)
    monkeypatch.setattr(walk, "STRETCH_FIRST_ROWS", 5)
    monkeypatch.setattr(walk, "STRETCH_MOST_ROWS", 5)
    monkeypatch.setattr(walk, "WALK_BUDGET_S", 0.0)
    monkeypatch.setattr(read, "FEW_WAITING_JOBS", 0)
    clock = iter(range(10**9))
    monkeypatch.setattr(walk, "monotonic", lambda: next(clock))
    assert await all_pages(mixed, given, 4) == await truth(mixed, given)


@pytest.mark.parametrize("given", FILTERS, ids=str)
async def test_pages_that_go_down_to_where_jobs_wait_are_the_filter_s_jobs(
    mixed: World, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where whole lanes have been moved to and fro, and cursors have passed what that left behind."""
    monkeypatch.setattr(walk, "NEWEST_FEW_ROWS", 2)
    for priority in (3, 1):
        await mixed.move(await truth(mixed, {"queue": "b", "state": "available"}), None, priority)
        await mixed.advance()
    await mixed.finish(await mixed.claim(3, "b"), "retried", delay_s=0.0)
    await mixed.promote()
    wanted = await truth(mixed, given)
    assert await all_pages(mixed, given, 1_000) == wanted
    assert await all_pages(mixed, given, 3) == wanted
    # With more claimed jobs than it looks at there is no such page, and ids are walked through.
    monkeypatch.setattr(read, "PASSED_MAX_JOBS", 1)
    assert await all_pages(mixed, given, 3) == wanted


async def test_a_page_goes_down_to_the_last_job_that_it_needs(world: World) -> None:
    ids = await world.enqueue(30, kind="wanted")
    await world.finish(await world.claim(10))
    await world.enqueue(30, kind="other")
    split = Split.of(JobFilter.parse({"kind": "wanted"}))
    found = {}
    for limit in (5, 20, 25):
        predicate = compile_filter(JobFilter.parse({"kind": "wanted"}))
        found[limit] = await read.page_down_to_waiting(
            world.conn,
            predicate.sql,
            {**predicate.params, **split.params},
            places=split.places.sql,
            raw=split.raw.sql,
            limit=limit,
        )
    seen = {
        limit: ([row["id"] for row in one.rows], one.to_id) for limit, one in found.items() if one
    }
    assert seen[5] == (ids[:24:-1], ids[25])
    assert seen[20] == (ids[:9:-1], ids[10])
    # Fewer wait than are wanted: what has been seen goes down to the oldest that waits, and no further.
    assert seen[25] == (ids[:9:-1], ids[10])
    assert {one.waiting for one in found.values() if one} == {20}


@pytest.mark.parametrize("given", [{}, {"kinds": ["mail", "sms"]}], ids=str)
async def test_no_job_is_shown_twice_or_missed_while_jobs_come_and_go(
    mixed: World, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "NEWEST_FEW_ROWS", 2)
    rng = random.Random(7)
    before = await truth(mixed, given)
    seen: list[int] = []
    cursor = None
    while True:
        page, cursor = await jobs.page(mixed.conn, JobFilter.parse(given), limit=5, cursor=cursor)
        seen += [row["id"] for row in page]
        await mixed.enqueue(2, rng.choice("abc"))
        await mixed.finish(await mixed.claim(2, rng.choice("abc")), "retried", delay_s=0.0)
        await mixed.promote()
        waiting = await truth(mixed, {"state": "available"})
        await mixed.move(rng.sample(waiting, 2), rng.choice("abc"), rng.choice([1, 3]))
        if cursor is None:
            break
    assert seen == before


async def test_a_page_hides_secrets(world: World) -> None:
    await world.enqueue(args_json='{"to": "ada", "api_key": "sk-1"}')
    ((row,), cursor) = await jobs.page(world.conn, JobFilter())
    assert row["args"] == {"to": "ada", "api_key": "•••"}
    assert cursor is None


@pytest.mark.parametrize(
    "cursor", ["", "x", "!!!", "MA", "LTU", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5", "é"]
)
async def test_what_no_page_returned_is_refused(world: World, cursor: str) -> None:
    with pytest.raises(ValidationError, match="is not a cursor that a page returned"):
        await jobs.page(world.conn, JobFilter(), cursor=cursor)


@pytest.mark.parametrize("limit", [0, 1_001, True])
async def test_a_limit_is_one_to_a_thousand(world: World, limit: int) -> None:
    with pytest.raises(ValidationError):
        await jobs.page(world.conn, JobFilter(), limit=limit)


async def test_what_takes_too_long_is_told_with_what_to_do(world: World) -> None:
    with pytest.raises(TooSlow, match=r"would take longer than 0\.05 s") as told:
        async with bounds.bounded(world.conn, "this page", "narrow it", max_ms=50):
            await run.rows_of(world.conn, "SELECT pg_sleep(5)")
    assert told.value.hint == "narrow it"
    assert await world.fetch("SELECT current_setting('statement_timeout')") == ("0",)


async def test_a_look_leaves_the_caller_s_own_limits_as_they_were(mixed: World) -> None:
    async with mixed.conn.transaction():
        await mixed.conn.execute("SET LOCAL statement_timeout = '7s'")
        await jobs.page(mixed.conn, JobFilter())
        assert await mixed.fetch("SELECT current_setting('statement_timeout')") == ("7s",)


@pytest.mark.lanes
async def test_completed_jobs_are_found_though_cursors_have_passed_more_than_was_claimed(
    world: World,
) -> None:
    """Whoever looks for them begins below what was claimed, not below what was moved away."""
    ids = await world.enqueue(20)
    await world.finish(await world.claim(5))
    await world.move(ids[5:15], "b")
    await world.cancel(ids[15:18])
    assert await world.advance() == 1
    wanted = {"state": "completed"}
    assert await all_pages(world, wanted, 2) == await truth(world, wanted) == ids[4::-1]
    passed = await read.newest_passed(world.conn)
    assert passed == ids[4]
