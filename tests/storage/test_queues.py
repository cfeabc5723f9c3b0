"""Queues: paused and resumed, spread over shards, counted."""

import asyncio
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection

from awa.model.errors import AwaError
from awa.storage import queues
from tests.conftest import Connect
from tests.storage.world import World


async def stats(world: World, queue: str = "default") -> dict[str, Any]:
    """What is said of one queue."""
    (row,) = await queues.stats(world.conn, queue)
    return row


async def test_each_job_is_counted_in_its_state(world: World) -> None:
    await world.enqueue(run_at=await world.now(later_s=60))
    await world.enqueue(9)
    jobs = await world.claim(limit=7)
    await world.finish(jobs[:2])
    await world.finish(jobs[2:3], "failed")
    await world.finish(jobs[3:4], "retried")
    await world.cancel_running([jobs[4].job_id])
    row = await stats(world)
    counted = {
        state: row[state]
        for state in (
            "available",
            "scheduled",
            "retryable",
            "running",
            "completed",
            "failed",
            "cancelled",
        )
    }
    assert counted == {
        "available": 2,
        "scheduled": 1,
        "retryable": 1,
        "running": 2,
        "completed": 2,
        "failed": 1,
        "cancelled": 1,
    }
    assert row["oldest_available_age_s"] >= 0


async def test_a_moved_job_counts_where_it_is(world: World) -> None:
    (job,) = await world.enqueue()
    await world.move([job], "other")
    assert (await stats(world))["available"] == 0
    assert (await stats(world, "other"))["available"] == 1


async def test_all_queues_are_listed_each_once(world: World) -> None:
    await world.enqueue(queue="b")
    await world.enqueue(queue="a", run_at=await world.now(later_s=60))
    await world.pause("c")
    listed = [row["queue"] for row in await queues.stats(world.conn)]
    assert listed == ["a", "b", "c"]


async def test_a_pause_says_who_and_when_and_the_first_word_stands(world: World) -> None:
    first = await queues.pause(world.conn, "q", "ada")
    again = await queues.pause(world.conn, "q", "bob")
    assert (first["paused"], first["paused_by"]) == (True, "ada")
    assert (again["paused_by"], again["paused_at"]) == ("ada", first["paused_at"])
    resumed = await queues.resume(world.conn, "q")
    assert resumed is not None
    assert (resumed["paused"], resumed["paused_by"], resumed["paused_at"]) == (False, None, None)


async def test_resuming_what_was_never_paused_says_so(world: World) -> None:
    assert await queues.resume(world.conn, "unknown") is None


@pytest.mark.parametrize("shards", [0, 65])
async def test_an_impossible_number_of_shards_is_refused(world: World, shards: int) -> None:
    with pytest.raises(AwaError):
        await queues.set_enqueue_shards(world.conn, "q", shards)


async def test_waiting_ids_come_in_pages(world: World) -> None:
    ids = await world.enqueue(5)
    ids += await world.enqueue(run_at=await world.now(later_s=60))
    await world.claim(limit=1)
    first = await queues.waiting_ids(world.conn, "default", after_id=0, limit=3)
    rest = await queues.waiting_ids(world.conn, "default", after_id=first[-1], limit=3)
    assert first + rest == ids[1:]


async def test_a_queue_exists_once_something_was_said_of_it(world: World) -> None:
    assert not await queues.exists(world.conn, "q")
    await world.enqueue(queue="q")
    assert await queues.exists(world.conn, "q")
    await world.pause("only paused")
    assert await queues.exists(world.conn, "only paused")


async def test_a_sleeping_worker_is_woken_and_nobody_else_is_bothered(
    world: World, connect: Connect
) -> None:
    listener = await connect()
    await listener.execute("LISTEN awa_ready")
    await world.enqueue(queue="q")
    await listener.execute("SELECT awa.mark_idle('q')")
    await world.enqueue(queue="other")
    await world.enqueue(queue="q")
    heard = [note.payload async for note in listener.notifies(timeout=60, stop_after=1)]
    await listener.execute("SELECT awa.mark_busy('q')")
    await world.enqueue(queue="q")
    await listener.execute("SELECT 1")
    heard += [note.payload async for note in listener.notifies(timeout=0)]
    assert heard == ["q"]


async def test_a_cancelled_producer_leaves_no_lock_behind(world: World, connect: Connect) -> None:
    """A lock of the session would make every later producer believe that a worker sleeps."""
    other = await connect()
    calls = (
        "SELECT awa.notify_if_idle('q') FROM generate_series(1, 1000) a, generate_series(1, 1000) b"
    )
    for _ in range(20):
        producing = asyncio.create_task(world.conn.execute(calls.encode()))
        while not await _is_active(other, world.conn.info.backend_pid):
            assert not producing.done()
        await other.execute("SELECT pg_cancel_backend(%s)", [world.conn.info.backend_pid])
        with pytest.raises(psycopg.errors.QueryCanceled):
            await producing
        held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = %s"
        cursor = await other.execute(held.encode(), [world.conn.info.backend_pid])
        assert await cursor.fetchone() == (0,)


async def _is_active(conn: AsyncConnection[Any], pid: int) -> bool:
    cursor = await conn.execute(
        "SELECT state = 'active' AND query LIKE '%%notify_if_idle%%' FROM pg_stat_activity WHERE pid = %s",
        [pid],
    )
    found = await cursor.fetchone()
    return bool(found and found[0])
