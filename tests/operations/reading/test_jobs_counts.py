"""Counts are what brute force counts, or say honestly that they are not."""

from collections import Counter
from typing import Any

import pytest

from awa.maintenance import activity
from awa.model.filter import JobFilter
from awa.operations.compile import compile_filter
from awa.operations.reading import counting, jobs, walk
from awa.operations.reading.counts import STATES, Count, total
from tests.operations.reading.test_jobs_page import FILTERS, truth
from tests.storage.world import World


async def by_force(world: World, given: dict[str, Any]) -> Counter[str]:
    predicate = compile_filter(JobFilter.parse(given).model_copy(update={"state": None}))
    query = "SELECT j.state FROM awa.jobs j WHERE " + predicate.sql.as_string(world.conn)
    cursor = await world.conn.execute(query.encode(), predicate.params)
    return Counter(row[0] for row in await cursor.fetchall())


@pytest.mark.parametrize("given", FILTERS, ids=str)
async def test_counts_by_state_are_those_of_brute_force(
    mixed: World, given: dict[str, Any]
) -> None:
    await activity.run_once(mixed.conn, await mixed.now(later_s=60))
    wanted = await by_force(mixed, given)
    seen = await jobs.counts_by_state(mixed.conn, JobFilter.parse(given))
    assert list(seen) == list(STATES)
    assert {state: count.jobs for state, count in seen.items()} == {
        state: wanted[state] for state in STATES
    }
    for state, count in seen.items():
        assert count.bound == "exact" or state == "completed", (state, count)


@pytest.mark.parametrize("given", FILTERS, ids=str)
async def test_counts_beside_a_page_take_its_word_for_what_waits(
    mixed: World, given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "NEWEST_FEW_ROWS", 1)
    await activity.run_once(mixed.conn, await mixed.now(later_s=60))
    wanted = JobFilter.parse(given)
    counts = await jobs.counts_by_state(mixed.conn, wanted)
    cursor = None
    for _ in range(2):
        page = await jobs.look(mixed.conn, wanted, limit=2, cursor=cursor)
        assert page.waiting in {None, counts["available"].jobs}
        assert counts == await jobs.counts_by_state(mixed.conn, wanted, waiting=page.waiting)
        cursor = page.next_cursor
        if cursor is None:
            break


async def test_a_page_that_looked_at_the_backlog_says_how_much_of_it_matches(world: World) -> None:
    await world.enqueue(5, kind="a")
    await world.enqueue(3, kind="b")
    for given in ({"state": "available"}, {"state": "available", "kind": "b"}):
        wanted = JobFilter.parse(given)
        page = await jobs.look(world.conn, wanted, limit=2)
        assert page.waiting == len(await truth(world, given))


@pytest.mark.parametrize("given", FILTERS, ids=str)
async def test_a_count_is_that_of_the_filter(mixed: World, given: dict[str, Any]) -> None:
    await activity.run_once(mixed.conn, await mixed.now(later_s=60))
    count = await jobs.count(mixed.conn, JobFilter.parse(given))
    assert count.jobs == len(await truth(mixed, given))


@pytest.mark.parametrize(
    "state", ["available", "scheduled", "retryable", "running", "failed", "cancelled"]
)
async def test_beyond_the_bound_a_count_says_at_least(mixed: World, state: str) -> None:
    true = len(await truth(mixed, {"state": state}))
    exact = await jobs.count(mixed.conn, JobFilter.parse({"state": state}), at_most=10_000)
    assert exact == Count(true)
    capped = await jobs.count(mixed.conn, JobFilter.parse({"state": state}), at_most=1)
    assert capped.jobs <= true
    assert capped.bound == "at_least"


async def test_a_filter_is_asked_of_the_jobs_within_the_bound_only(world: World) -> None:
    await world.enqueue(20, tags=["rare"])
    count = await jobs.count(
        world.conn, JobFilter.parse({"tag": "none", "state": "available"}), at_most=10
    )
    assert count == Count(0, "at_least")


async def test_completed_jobs_of_a_narrow_filter_are_walked_up_to_a_bound(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "COMPLETED_WALK_JOBS", 5)
    await world.enqueue(9, tags=["t"])
    await world.finish(await world.claim())
    wanted = JobFilter.parse({"tag": "t", "state": "completed"})
    assert await jobs.count(world.conn, wanted) == Count(5, "at_least")
    monkeypatch.setattr(counting, "COMPLETED_WALK_JOBS", 9)
    assert await jobs.count(world.conn, wanted) == Count(9)


def test_a_count_tells_what_kind_of_number_it_is() -> None:
    assert Count(1234).words() == "1,234"
    assert Count(100_000, "at_least").words() == "at least 100,000"
    assert Count(5, "about").json() == {"jobs": 5, "exact": False, "bound": "about"}
    assert total([Count(1), Count(2, "about"), Count(3, "at_least")]) == Count(6, "at_least")
    assert total([Count(1), Count(2, "about")]) == Count(3, "about")
    assert total([]) == Count(0)
