"""awa.lane_backlog and awa.running_jobs show the same jobs as the views they are quicker than, and read no history."""

import json
from typing import Any

import pytest

from tests.conftest import Connect
from tests.storage.world import World

HISTORY_JOBS = 20_000
BACKLOG_MAX_BLOCKS = 500  # the history has thousands
DIFFERENCE = """
    SELECT count(*) FROM (SELECT * FROM awa.waiting_jobs WHERE lane_id IS NOT NULL) w
      FULL JOIN awa.lane_backlog b ON b.id = w.id
     WHERE (w.kind, w.queue, w.state, w.priority, w.attempt, w.args::text, w.tags, w.metadata, w.errors, w.run_at,
            w.created_at, w.ready_at, w.enqueue_shard, w.lane_id, w.lane_seq, w.slot)
           IS DISTINCT FROM
           (b.kind, b.queue, b.state, b.priority, b.attempt, b.args::text, b.tags, b.metadata, b.errors, b.run_at,
            b.created_at, b.ready_at, b.enqueue_shard, b.lane_id, b.lane_seq, b.slot)
"""
WALK_DIFFERENCE = """
    SELECT count(*) FROM awa.waiting_jobs w FULL JOIN awa.waiting_backlog b ON b.id = w.id
     WHERE (w.kind, w.queue, w.state, w.priority, w.attempt, w.run_at, w.ready_at, w.lane_seq)
           IS DISTINCT FROM (b.kind, b.queue, b.state, b.priority, b.attempt, b.run_at, b.ready_at, b.lane_seq)
"""
RUNNING_DIFFERENCE = """
    SELECT count(*) FROM (SELECT * FROM awa.jobs WHERE state = 'running') j
      FULL JOIN awa.running_jobs r ON r.id = j.id
     WHERE (j.kind, j.queue, j.priority, j.attempt, j.args::text, j.attempted_at, j.deadline_at, j.runtime_id, j.ready_at)
           IS DISTINCT FROM
           (r.kind, r.queue, r.priority, r.attempt, r.args::text, r.attempted_at, r.deadline_at, r.runtime_id, r.ready_at)
"""


async def assert_same(world: World) -> int:
    assert await world.fetch(DIFFERENCE) == (0,)
    assert await world.fetch(WALK_DIFFERENCE) == (0,)
    assert await world.fetch(RUNNING_DIFFERENCE) == (0,)
    (jobs,) = await world.fetch("SELECT count(*) FROM awa.lane_backlog")
    assert isinstance(jobs, int)
    return jobs


async def test_they_agree_about_waiting_moved_cancelled_and_running_jobs(world: World) -> None:
    await world.enqueue(5, tags=["t"], metadata={"m": 1}, args_json='{"n": [1]}')
    moved = await world.enqueue(4, queue="a", priority=3)
    await world.move(moved[:2], "b", 1)
    await world.cancel(moved[2:3])
    await world.claim(2, deadline_s=60.0)
    await world.claim(1, queue="b")
    await world.enqueue(2, queue="b", run_at=await world.now(later_s=60))
    assert await assert_same(world) == 3 + 1 + 1


async def test_they_agree_about_owed_and_late_jobs(world: World, connect: Connect) -> None:
    other = await World.on(await connect())
    owed, _ = await world.enqueue(2)
    async with other.rolled_back():
        await other.lock([owed])
        await world.claim()
    assert await assert_same(world) == 1
    await world.enqueue(1, "late")
    async with other.conn.transaction():
        await other.enqueue(3, "late")
        await world.enqueue(1, "late")
        await world.claim(queue="late")
        assert await assert_same(world) == 1
    # Committed after the claim had passed their positions.
    assert await assert_same(world) == 4
    await world.claim(2, "late")
    assert await assert_same(world) == 2


@pytest.mark.lanes
async def test_they_agree_after_the_ring_has_moved_on(world: World) -> None:
    await world.enqueue(6)
    await world.finish(await world.claim(2))
    await world.claim(1)
    assert await world.rotate() == "rotated"
    await world.enqueue(2)
    await world.prune()
    assert await assert_same(world) == 5


async def test_they_agree_about_what_was_moved_away_in_stretches_large_and_small(
    world: World, connect: Connect
) -> None:
    """Out of the middle, the end and the beginning of a lane; then the cursor passes a part, and some are owed."""
    other = await World.on(await connect())
    ids = await world.enqueue(400)
    await world.move(ids[100:200], "b")
    assert await assert_same(world) == 400
    await world.move([*ids[250:253], *ids[260:320:2], *ids[390:]], "c")
    assert await assert_same(world) == 400
    await world.move(ids[:60], priority=4)
    await world.cancel(ids[60:70])
    assert await assert_same(world) == 390
    async with other.rolled_back():
        await other.lock(ids[80:90])
        await world.claim(20)
    assert await assert_same(world) == 370
    await world.move(ids[82:86], "b")
    assert await assert_same(world) == 370
    assert len(await world.claim(1_000)) + await assert_same(world) == 370


@pytest.mark.lanes
async def test_nobody_walks_over_what_a_large_tombstone_covers(world: World) -> None:
    ids = await world.enqueue(400)
    await world.move([*ids[100:200], ids[300]], "b")
    left = """
        SELECT s.first_seq, s.past_seq, s.dead FROM awa.lane_stretches() s JOIN awa.lanes l ON l.lane_id = s.lane_id
         WHERE l.queue = 'default' ORDER BY 1
    """
    before, after = await (await world.conn.execute(left)).fetchall()
    assert before[1] == ids[100]
    assert after[0] == ids[200]
    # A small one in the middle of a stretch is named instead.
    assert (after[2][-1].lower, after[2][-1].upper) == (ids[300], ids[301])


@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.lanes
async def test_history_is_not_read_whatever_the_statistics_say(
    world: World, connect: Connect, analyzed: bool
) -> None:
    """Not even while a transaction has been open since before all of it."""
    old = await connect()
    async with old.transaction():
        await old.execute("SELECT pg_current_xact_id()")
        await world.enqueue(HISTORY_JOBS)
        await world.finish(await world.claim(HISTORY_JOBS))
        await world.enqueue(100)
        if analyzed:
            await world.conn.execute("ANALYZE")
        for query in (
            "SELECT count(*) FROM awa.lane_backlog",
            "SELECT count(*) FROM awa.lane_backlog WHERE queue = 'default' AND kind = 'k'",
            "SELECT count(*) FROM awa.running_jobs",
        ):
            assert await blocks(world, query) < BACKLOG_MAX_BLOCKS, query


async def blocks(world: World, query: str) -> int:
    """What the query reads, but not what it takes to plan the functions in it: a session does that once."""
    await world.fetch(query)
    async with world.conn.transaction():
        await world.conn.execute("SET LOCAL jit = off")
        await world.conn.execute("SET LOCAL enable_seqscan = off")
        (plan,) = await world.fetch(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {query}")
    told: dict[str, Any] = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]
    return int(told["Shared Hit Blocks"]) + int(told["Shared Read Blocks"])
