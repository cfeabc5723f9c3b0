"""The views: awa.jobs shows every job in its one place, awa.waiting_jobs the same for those that wait, with less work."""

import pytest

from tests.conftest import Connect
from tests.storage.world import World

HISTORY_JOBS = 20_000
BACKLOG_MAX_BLOCKS = 500  # the history has thousands
COLUMNS = """
    SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
     WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped
"""
SHARED = """
    SELECT count(*) FROM awa.jobs j FULL JOIN awa.waiting_jobs w ON w.id = j.id
     WHERE (w.id IS NOT NULL OR j.state IN ('available', 'scheduled', 'retryable'))
       AND (j.kind, j.queue, j.state, j.priority, j.attempt, j.max_attempts, j.args::text, j.tags, j.metadata, j.errors,
            j.run_at, j.created_at, j.ready_at, j.attempted_at, j.enqueue_shard)
           IS DISTINCT FROM
           (w.kind, w.queue, w.state, w.priority, w.attempt, w.max_attempts, w.args::text, w.tags, w.metadata, w.errors,
            w.run_at, w.created_at, w.ready_at, w.attempted_at, w.enqueue_shard)
"""


async def test_both_views_have_the_same_columns(world: World) -> None:
    (jobs,) = await world.fetch(COLUMNS, "awa.jobs")
    (waiting,) = await world.fetch(COLUMNS, "awa.waiting_jobs")
    assert waiting == [*jobs, "lane_id", "lane_seq", "slot"]


async def test_both_views_say_the_same_of_each_waiting_job(world: World) -> None:
    await world.enqueue(priority=3, tags=["t"], metadata={"m": 1}, args_json='{"n": [1]}')
    await world.enqueue(run_at=await world.now(later_s=60), tags=["u"])
    await world.enqueue(queue="runs")
    await world.finish(
        await world.claim(queue="runs"), "retried", error={"error": "x"}, metadata={"n": 2}
    )
    await world.enqueue(3, queue="partly")
    await world.claim(limit=2, queue="partly")
    moved = await world.enqueue(2, ordering_key="k")
    await world.move(moved, "other", 1)
    assert len(await world.audit()) == 8
    assert await world.fetch(SHARED) == (0,)


@pytest.mark.lanes
async def test_an_owed_job_is_available_in_both(world: World, connect: Connect) -> None:
    other = await World.on(await connect())
    owed, _ = await world.enqueue(2)
    async with other.rolled_back():
        await other.lock([owed])
        await world.claim()
    assert await world.fetch("SELECT cursor > %s FROM awa.lane_heads", owed) == (True,)
    assert await world.state(owed) == "available"
    assert await world.fetch(SHARED) == (0,)


@pytest.mark.lanes
async def test_a_late_job_is_available_in_both(world: World, connect: Connect) -> None:
    other = await World.on(await connect())
    await world.enqueue()
    async with other.conn.transaction():
        (late,) = await other.enqueue()
        await world.enqueue()
        await world.claim()
    assert await world.fetch("SELECT cursor > %s FROM awa.lane_heads", late) == (True,)
    assert await world.state(late) == "available"
    assert await world.fetch(SHARED) == (0,)


async def test_a_job_of_an_open_transaction_is_seen_by_that_transaction_alone(
    world: World, connect: Connect
) -> None:
    other = await World.on(await connect())
    async with other.conn.transaction():
        (job,) = await other.enqueue()
        assert await other.state(job) == "available"
        assert await world.audit() == {}


async def test_a_snapshot_shows_each_job_once_whatever_happens_meanwhile(
    world: World, connect: Connect
) -> None:
    """A report that reads twice in one transaction sees the same jobs in the same places."""
    reader = await World.on(await connect())
    ids = await world.enqueue(4)
    await world.enqueue(run_at=await world.now(later_s=60))
    async with reader.conn.transaction():
        await reader.conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        before = await reader.audit()
        await world.move(ids[:1], "other")
        await world.finish(await world.claim(limit=1), "failed")
        await world.cancel(ids[2:3])
        await world.promote(now=await world.now(later_s=61))
        assert await reader.audit() == before
    assert await reader.audit() != before


async def test_a_job_is_found_by_its_id_in_every_place(world: World) -> None:
    ids = await world.enqueue(6)
    jobs = await world.claim(limit=4)
    await world.finish(jobs[:1])
    await world.finish(jobs[1:2], "failed")
    await world.finish(jobs[2:3], "snoozed")
    await world.move(ids[5:], "other")
    states = [(await world.job(id_))["state"] for id_ in ids]
    assert states == ["completed", "failed", "scheduled", "running", "available", "available"]


@pytest.mark.parametrize("statistics", [False, True])
async def test_the_backlog_is_found_without_reading_history(world: World, statistics: bool) -> None:
    await world.enqueue(HISTORY_JOBS)
    await world.finish(await world.claim(HISTORY_JOBS))
    await world.enqueue()
    if statistics:
        await world.conn.execute("ANALYZE")
    explain = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) SELECT id FROM awa.waiting_jobs"
    (report,) = await world.fetch(explain)
    plan = report[0]["Plan"]
    assert plan["Actual Rows"] == 1
    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] < BACKLOG_MAX_BLOCKS
