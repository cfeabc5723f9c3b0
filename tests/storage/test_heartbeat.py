"""Heartbeat: a runtime says that it lives and what it holds, and learns what it lost."""

from typing import Any
from uuid import uuid4

import psycopg
import pytest

from awa.model.errors import AwaError
from awa.storage import runtimes
from tests.conftest import Connect
from tests.storage.work import counted
from tests.storage.world import World

GONE_S = -1.0
LONG_ATTEMPTS = 8_000
BEAT_MAX_ROWS = (
    100  # for each attempt: it takes 37; a look at each claim for each attempt takes thousands
)
ONE_CLAIM_A_JOB = """
    INSERT INTO awa.lane_claims (claim_no, cursor, claimed_at, runtime_id, lane_id, jobs, slot, seqs, seen, owed)
    SELECT row_number() OVER (ORDER BY r.lane_seq), r.lane_seq + 1, clock_timestamp(), %s, r.lane_id, 1, r.slot,
           int8multirange(int8range(r.lane_seq, r.lane_seq + 1)), pg_current_snapshot(), '{}'
      FROM awa.ready_entries r
    RETURNING lane_id, claim_no, cursor - 1
"""


async def test_a_runtime_is_written_down_with_what_it_does(world: World) -> None:
    runtime_id = uuid4()
    at = await runtimes.register(world.conn, runtime_id, ["worker", "maintenance"], {"q": 5}, "1.2")
    (row,) = [r for r in await runtimes.list_runtimes(world.conn) if r["id"] == runtime_id]
    assert (row["state"], row["roles"], row["queues"]) == (
        "alive",
        ["maintenance", "worker"],
        {"q": 5},
    )
    assert (row["version"], row["started_at"], row["ended_at"]) == ("1.2", at, None)


async def test_an_id_can_be_used_once(world: World) -> None:
    with pytest.raises(AwaError):
        await runtimes.register(world.conn, world.runtime_id, ["worker"], {})


async def test_a_heartbeat_answers_the_databases_clock(world: World) -> None:
    before = await world.now()
    beat = await world.heartbeat()
    assert beat.alive
    assert beat.lost == []
    assert before <= beat.db_now <= await world.now()


async def test_a_runtime_that_is_unknown_stopped_or_dead_is_told_so(world: World) -> None:
    unknown = World(world.conn, uuid4())
    assert not (await unknown.heartbeat()).alive
    await runtimes.stop(world.conn, world.runtime_id)
    assert not (await world.heartbeat()).alive
    dead = await World.on(world.conn)
    await dead.rescue(stale_after_s=GONE_S)
    assert not (await dead.heartbeat()).alive


async def test_attempts_that_still_run_are_not_lost(world: World) -> None:
    await world.enqueue(3)
    jobs = await world.claim()
    assert (await world.heartbeat(jobs)).lost == []
    assert (await world.heartbeat(jobs)).lost == []
    assert await world.fetch("SELECT count(*) FROM awa.attempts") == (3,)


async def test_attempts_that_others_ended_are_reported_lost(world: World) -> None:
    await world.enqueue(3)
    jobs = await world.claim()
    await world.heartbeat(jobs)
    await world.cancel_running([jobs[1].job_id])
    assert (await world.heartbeat(jobs)).lost == [jobs[1].lane_seq]
    assert await world.fetch("SELECT count(*) FROM awa.attempts") == (2,)


async def test_attempts_of_another_runtime_are_lost_to_this_one(
    world: World, connect: Connect
) -> None:
    other = await World.on(await connect())
    await other.enqueue()
    theirs = await other.claim()
    assert (await world.heartbeat(theirs)).lost == [theirs[0].lane_seq]
    assert (await other.heartbeat(theirs)).lost == []


async def test_progress_is_kept_until_it_changes(world: World) -> None:
    (job,) = await world.enqueue()
    claimed = await world.claim()
    await world.heartbeat(claimed, progress=[{"percent": 10}])
    assert (await world.job(job))["progress"] == {"percent": 10}
    await world.heartbeat(claimed, progress=[None])
    assert (await world.job(job))["progress"] == {"percent": 10}
    await world.heartbeat(claimed, progress=[{"percent": 50, "message": "half"}])
    assert (await world.job(job))["progress"] == {"percent": 50, "message": "half"}


@pytest.mark.parametrize("outcome", ["completed", "retried", "failed", "returned"])
async def test_what_was_written_down_goes_when_the_attempt_ends(world: World, outcome: str) -> None:
    await world.enqueue()
    claimed = await world.claim()
    await world.heartbeat(claimed, progress=[{"percent": 10}])
    await world.finish(claimed, outcome)
    assert await world.fetch("SELECT count(*) FROM awa.attempts") == (0,)
    # The job takes it along, unless there is nothing left to come.
    kept = None if outcome == "completed" else {"percent": 10}
    assert (await world.job(claimed[0].job_id))["progress"] == kept


async def test_a_beat_without_change_rewrites_no_attempt(world: World) -> None:
    await world.enqueue(2)
    claimed = await world.claim()
    await world.heartbeat(claimed, progress=[{"percent": 1}, None])
    before = await written(world)
    await world.heartbeat(claimed, progress=[{"percent": 1}, None])
    assert await written(world) == before


async def test_stopping_twice_keeps_the_first_end(world: World) -> None:
    await runtimes.stop(world.conn, world.runtime_id)
    (first,) = await world.fetch("SELECT ended_at FROM awa.runtimes")
    await runtimes.stop(world.conn, world.runtime_id)
    assert await world.fetch("SELECT ended_at FROM awa.runtimes") == (first,)


async def written(world: World) -> list[Any]:
    """Which transaction wrote each row of awa.attempts."""
    cursor: psycopg.AsyncCursor[Any] = await world.conn.execute(
        "SELECT xmin::text, lane_seq FROM awa.attempts ORDER BY 2"
    )
    return await cursor.fetchall()


@pytest.mark.lanes
async def test_thousands_of_long_attempts_fit_into_a_beat(world: World) -> None:
    """Each of a claim of its own, as with jobs that come one by one and run long."""
    await world.enqueue(LONG_ATTEMPTS)
    claims = await world.conn.execute(ONE_CLAIM_A_JOB, [world.runtime_id])
    held = await claims.fetchall()
    async with counted(world.conn) as work:
        beat = await runtimes.heartbeat(world.conn, world.runtime_id, None, held)
    assert beat.lost == []
    assert work.rows < BEAT_MAX_ROWS * LONG_ATTEMPTS
    assert await world.fetch("SELECT count(*) FROM awa.attempts") == (LONG_ATTEMPTS,)
