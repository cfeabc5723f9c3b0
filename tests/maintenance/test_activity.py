"""The leader's notes: everything that was done is noted once, in all, by queue and by kind."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from psycopg import AsyncConnection

from awa.maintenance import activity
from awa.operations.reading import activity as reading
from awa.operations.reading.looks import look
from tests.operations.kit import rows
from tests.storage.world import World

ZERO = {"arrived": 0, "started": 0, "completed": 0, "failed": 0, "retried": 0, "cancelled": 0}


@pytest.fixture
async def world(conn: AsyncConnection[Any]) -> World:
    return await World.on(conn)


class Beat:
    """The duty, run so that it sees all that has happened up to now."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def __call__(self, *, later_s: float = 0.0) -> datetime:
        now = await self.world.now(later_s=activity.LAG_S + later_s)
        await activity.run_once(self.world.conn, now)
        return now - timedelta(seconds=activity.LAG_S)


@pytest.fixture
async def beat(world: World) -> Beat:
    """A duty that has run once."""
    beat = Beat(world)
    await beat()
    return beat


async def sums(world: World, scope: str) -> dict[str, dict[str, int]]:
    found = await rows(
        world.conn,
        "SELECT name, sum(arrived)::int AS arrived, sum(started)::int AS started, sum(completed)::int AS completed,"
        " sum(failed)::int AS failed, sum(retried)::int AS retried, sum(cancelled)::int AS cancelled"
        " FROM awa.activity WHERE scope = %s GROUP BY name",
        scope,
    )
    return {row.pop("name"): row for row in found}


async def totals(world: World, scope: str) -> dict[tuple[str, str], int]:
    found = await rows(
        world.conn,
        "SELECT name, outcome::text AS outcome, sum(jobs)::int AS jobs FROM awa.activity_totals"
        " WHERE scope = %s GROUP BY 1, 2",
        scope,
    )
    return {(row["name"], row["outcome"]): row["jobs"] for row in found}


@pytest.mark.lanes
async def test_what_is_done_is_noted_once_in_all_by_queue_and_by_kind(
    world: World, beat: Beat
) -> None:
    await world.enqueue(6, "a", kind="mail")
    await world.enqueue(4, "b", kind="sms")
    taken = await world.claim(6, "a")
    await world.finish(taken[:3])
    await world.finish(taken[3:4], "failed")
    await world.finish(taken[4:5], "retried", delay_s=60.0)
    await beat()
    await world.finish(taken[5:6], "cancelled")
    await world.finish(await world.claim(4, "b"), metadata={"n": 1})
    await beat()
    await beat()
    a = {
        **ZERO,
        "arrived": 6,
        "started": 6,
        "completed": 3,
        "failed": 1,
        "retried": 1,
        "cancelled": 1,
    }
    b = {**ZERO, "arrived": 4, "started": 4, "completed": 4}
    assert await sums(world, "queue") == {"a": a, "b": b}
    assert await sums(world, "kind") == {"mail": {**a, "arrived": 0}, "sms": {**b, "arrived": 0}}
    assert await sums(world, "all") == {"": {name: a[name] + b[name] for name in ZERO}}
    assert await totals(world, "queue") == {
        ("a", "completed"): 3,
        ("a", "failed"): 1,
        ("a", "retried"): 1,
        ("a", "cancelled"): 1,
        ("b", "recorded"): 4,
    }


async def answered(world: World, beat: Beat) -> dict[str, int]:
    """What is noted of four jobs that waited for callbacks, each answered otherwise."""
    for answer in ("complete", "fail", "retry", "resume"):
        _, callback = await world.waiting(kind="mail")
        await world.answer(callback, answer)
    await beat()
    await beat()
    return (await sums(world, "queue"))["default"]


async def test_what_callbacks_moved_on_is_noted_too_and_once(world: World, beat: Beat) -> None:
    noted = await answered(world, beat)
    assert (noted["completed"], noted["failed"], noted["retried"]) == (1, 1, 1)
    assert (await sums(world, "kind"))["mail"]["completed"] == 1


@pytest.mark.lanes
async def test_so_are_the_attempts_that_came_to_wait(world: World, beat: Beat) -> None:
    """The canonical storage keeps no row of an attempt that was not the last."""
    assert (await answered(world, beat))["started"] == 4
    assert await totals(world, "queue") == {
        ("default", "waiting"): 4,
        ("default", "completed"): 1,
        ("default", "failed"): 1,
        ("default", "retried"): 1,
        ("default", "returned"): 1,
    }


async def test_a_sample_is_scaled_to_the_whole(
    world: World, beat: Beat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "SAMPLE_CLAIMS", 2)
    monkeypatch.setattr(activity, "SAMPLE_JOBS", 3)
    for _ in range(10):
        await world.enqueue(10, "a", kind="mail")
        await world.finish(await world.claim(10, "a"))
    await beat()
    assert (await sums(world, "queue"))["a"]["completed"] == 100
    assert (await sums(world, "kind"))["mail"]["completed"] == 100
    (found,) = await rows(world.conn, "SELECT pickup, run FROM awa.activity WHERE scope = 'queue'")
    # Sixes of a hundred and more, each rounded: the whole is met but for that.
    assert 94 <= sum(found["pickup"]) <= 106
    assert 94 <= sum(found["run"]) <= 106


async def test_the_first_look_counts_everything_and_makes_no_rate_of_it(world: World) -> None:
    await world.enqueue(5, "a")
    await world.finish(await world.claim(5, "a"))
    assert await activity.run_once(world.conn, await world.now(later_s=60)) == 5
    assert await totals(world, "queue") == {("a", "completed"): 5}
    assert await sums(world, "all") == {}


async def test_after_a_long_time_without_a_leader_only_the_totals_are_brought_up_to_date(
    world: World, beat: Beat
) -> None:
    await world.enqueue(5, "a")
    await world.finish(await world.claim(5, "a"))
    await beat(later_s=3600)
    assert await totals(world, "queue") == {("a", "completed"): 5}
    assert await sums(world, "queue") == {}


@pytest.mark.lanes
async def test_an_emptied_slot_takes_its_totals_with_it(world: World, beat: Beat) -> None:
    await world.enqueue(5, "a")
    await world.finish(await world.claim(5, "a"))
    await beat()
    await world.conn.execute(
        "TRUNCATE awa.ready_entries_0, awa.attempt_closures_0, awa.lane_claims_0"
    )
    await world.enqueue(2, "a")
    await beat()
    assert await totals(world, "queue") == {}
    await world.finish(await world.claim(2, "a"))
    await beat()
    assert await totals(world, "queue") == {("a", "completed"): 2}


async def test_old_notes_are_forgotten(world: World, beat: Beat) -> None:
    await world.enqueue(1, "a")
    await beat()
    assert await sums(world, "queue") == {"a": {**ZERO, "arrived": 1}}
    await beat(later_s=activity.KEEP_S + 20)
    assert await sums(world, "queue") == {}


async def test_only_the_busiest_have_notes_of_their_own(
    world: World, beat: Beat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(activity, "NAMES_MAX", 1)
    await world.enqueue(5, "a")
    await world.enqueue(2, "b")
    await world.enqueue(1, "c")
    await beat()
    assert await sums(world, "queue") == {
        "a": {**ZERO, "arrived": 5},
        "": {**ZERO, "arrived": 3},
    }


async def test_rates_waits_and_the_last_hour_are_read_from_the_notes(world: World) -> None:
    now = await world.now()
    await activity.run_once(world.conn, now - timedelta(seconds=8))
    await world.enqueue(30, "a", kind="mail")
    await world.finish(await world.claim(30, "a"))
    # The clock goes on to where the ends are old enough to be noted.
    await activity.run_once(world.conn, now + timedelta(seconds=12))
    fresh = await look(world.conn, reading.freshness())
    assert fresh.is_known
    done = (await look(world.conn, reading.sums("queue", ["a"], reading.NOW_S)))["a"]
    assert fresh.rate(done["completed"]) == 1.5
    latency = (await reading.latencies(world.conn, "kind", None))["mail"]
    assert latency["pickup_p50_ms"] is not None
    assert latency["run_p95_ms"] is not None
    assert set(latency) == {"pickup_p50_ms", "pickup_p95_ms", "run_p50_ms", "run_p95_ms"}
    noted = await look(world.conn, reading.notes("all", "", minutes=3))
    series = reading.series(noted, now + timedelta(seconds=20), minutes=3)
    assert len(series) == 3
    assert sum((row["completed_per_s"] or 0) for row in series) == 1.5


@pytest.mark.lanes
async def test_the_newest_pages_are_read_and_no_others(world: World, beat: Beat) -> None:
    """However much history there is: the duty reads what is new, and a few pages before it."""
    await world.conn.execute(
        "INSERT INTO awa.attempt_closures (claim_no, closed_at, lane_id, jobs, slot, outcome, seqs)"
        " SELECT n, now() - interval '1 hour', 1, 1, 0, 'completed', int8multirange(int8range(n, n + 1))"
        " FROM generate_series(1, 200000) n"
    )
    await beat()
    (state,) = await rows(world.conn, "SELECT blocks FROM awa.activity_state")
    assert state["blocks"][0] > 1_000
    plan = await rows(
        world.conn,
        "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) SELECT count(*) FROM awa.attempt_closures x"
        " WHERE x.slot = %s AND x.ctid >= %s::tid",
        0,
        f"({state['blocks'][0] - activity.OVERLAP_BLOCKS},0)",
    )
    (top,) = plan[0]["QUERY PLAN"]
    assert top["Plan"]["Shared Hit Blocks"] + top["Plan"]["Shared Read Blocks"] < 100
