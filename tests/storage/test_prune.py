"""Prune: a slot gives its space back when everything in it is over, and what is not over is carried along."""

from typing import Any

import pytest

from tests.storage.work import counted
from tests.storage.world import World

pytestmark = pytest.mark.lanes

HEAD = "SELECT claim_no, cursor, owed::text, seen::text FROM awa.lane_heads WHERE queue = 'default'"
LARGE_SLOT_JOBS = 60_000
PRUNE_MAX_ROWS = (
    50  # for each job: it takes 15; comparing each live job with each claim takes five hundred
)
PAIRS_CLAIMED = """
    INSERT INTO awa.lane_claims (claim_no, cursor, claimed_at, runtime_id, lane_id, jobs, slot, seqs, seen, owed)
    SELECT row_number() OVER (ORDER BY r.lane_seq), r.lane_seq + 2, clock_timestamp(), %s, r.lane_id, 2, r.slot,
           int8multirange(int8range(r.lane_seq, r.lane_seq + 2)), pg_current_snapshot(), '{}'
      FROM awa.ready_entries r WHERE r.lane_seq %% 2 = 1
"""
ALL_BUT_SOME_CLOSED = """
    INSERT INTO awa.attempt_closures (claim_no, lane_id, jobs, slot, outcome, seqs)
    SELECT c.claim_no, c.lane_id, 2, c.slot, 'completed', c.seqs FROM awa.lane_claims c WHERE c.claim_no % 60 <> 0
"""


async def close_slot(world: World) -> None:
    """Slot 0 is not the current one from now on."""
    assert await world.rotate() == "rotated"


async def rows_in(world: World, slot: int) -> int:
    """How many rows the four tables of a slot hold."""
    (rows,) = await world.fetch(
        "SELECT (SELECT count(*) FROM awa.ready_entries WHERE slot = %(s)s)"
        "     + (SELECT count(*) FROM awa.lane_claims WHERE slot = %(s)s)"
        "     + (SELECT count(*) FROM awa.ready_tombstones WHERE slot = %(s)s)"
        "     + (SELECT count(*) FROM awa.attempt_closures WHERE slot = %(s)s)".replace(
            "%(s)s", str(slot)
        )
    )
    return int(rows)


async def test_a_slot_in_which_everything_is_over_is_emptied(world: World) -> None:
    ids = await world.enqueue(6)
    await world.cancel(ids[:1])
    await world.move(ids[1:2], "other")
    await world.finish(await world.claim(queue="other"))
    jobs = await world.claim()
    await world.finish(jobs[:1], "failed")
    await world.finish(jobs[1:2], "retried", delay_s=60.0)
    await world.finish(jobs[2:])
    await close_slot(world)
    assert await world.prune() == "pruned"
    assert await rows_in(world, 0) == 0
    assert sorted(place.state for place in (await world.audit()).values()) == [
        "cancelled",
        "failed",
        "retryable",
    ]
    assert await world.claim_ids() == []


async def test_an_empty_and_the_current_slot_are_left_alone(world: World) -> None:
    assert await world.prune(3) == "empty"
    await world.enqueue()
    assert await world.prune(0) == "current"


async def test_completed_jobs_are_kept_as_long_as_was_asked_for(world: World) -> None:
    (job,) = await world.enqueue()
    await world.finish(await world.claim())
    await close_slot(world)
    assert await world.prune(keep_s=60.0) == "young"
    assert await world.state(job) == "completed"
    assert await world.prune(keep_s=0.0) == "pruned"
    assert await world.audit() == {}


async def test_many_live_jobs_keep_their_slot(world: World) -> None:
    await world.enqueue(3)
    await close_slot(world)
    assert await world.prune(carry_limit=2) == "live"
    assert await world.prune(carry_limit=3) == "pruned"
    assert len(await world.audit()) == 3


async def test_a_few_waiting_jobs_are_carried_with_all_they_have(world: World) -> None:
    (job,) = await world.enqueue(
        priority=3, tags=["t"], metadata={"m": 1}, max_attempts=4, args_json='{"n": 1}'
    )
    before = await world.job(job)
    await close_slot(world)
    assert await world.prune() == "pruned"
    assert await rows_in(world, 0) == 0
    assert await world.job(job) == before
    assert await world.claim_ids() == [job]
    assert await world.claim_ids() == []


async def test_carried_jobs_keep_their_order_among_all_others(world: World) -> None:
    done, *old = await world.enqueue(4)
    await world.finish(await world.claim(limit=1))
    await close_slot(world)
    new = await world.enqueue(2)
    assert await world.prune() == "pruned"
    assert await world.claim_ids() == [*old, *new]
    assert done not in await world.audit()


async def test_a_running_job_is_carried_with_its_claim(world: World) -> None:
    await world.enqueue(3)
    claimed = await world.claim(limit=2, deadline_s=60)
    await world.finish(claimed[:1])
    running = claimed[1]
    before = await world.job(running.job_id)
    await close_slot(world)
    assert await world.prune() == "pruned"
    assert await world.job(running.job_id) == before
    assert (await world.heartbeat([running])).lost == []
    assert await world.finish([running]) == {running.job_id: "completed"}
    assert await world.finish([running]) == {}


@pytest.mark.parametrize("outcome", ["completed", "retried", "failed", "returned"])
async def test_a_carried_running_job_may_end_in_any_way(world: World, outcome: str) -> None:
    await world.enqueue()
    claimed = await world.claim()
    await world.heartbeat(claimed, progress=[{"percent": 1}])
    await close_slot(world)
    assert await world.prune() == "pruned"
    assert len(await world.finish(claimed, outcome)) == 1
    assert await world.fetch("SELECT count(*) FROM awa.attempts") == (0,)
    await world.audit()


async def test_a_carried_running_job_is_rescued(world: World) -> None:
    (job,) = await world.enqueue()
    await world.claim()
    await close_slot(world)
    assert await world.prune() == "pruned"
    assert (await world.rescue(stale_after_s=-1.0)).attempts_rescued == 1
    assert await world.state(job) == "retryable"


async def test_a_carried_running_job_can_be_cancelled(world: World) -> None:
    (job,) = await world.enqueue()
    claimed = await world.claim()
    await close_slot(world)
    assert await world.prune() == "pruned"
    assert await world.cancel_running([job]) == [job]
    assert await world.finish(claimed) == {}


async def test_a_carried_waiting_job_can_be_moved_and_cancelled(world: World) -> None:
    moved, cancelled = await world.enqueue(2)
    await close_slot(world)
    assert await world.prune() == "pruned"
    assert await world.move([moved], "other") == {moved: "moved"}
    assert await world.cancel([cancelled]) == [cancelled]
    assert await world.claim_ids() == []
    assert await world.claim_ids(queue="other") == [moved]


async def test_carried_twice_it_is_still_one_job(world: World) -> None:
    waiting, running = await world.enqueue(2)
    await world.move([waiting], priority=4)
    claimed = await world.claim(limit=1)
    assert claimed[0].job_id == running
    for slot in range(3):
        assert await world.rotate() == "rotated"
        assert await world.prune(slot) == "pruned"
        await world.audit()
    assert await world.finish(claimed) == {running: "completed"}
    assert await world.claim_ids() == [waiting]


async def test_the_head_is_carried_as_it_was(world: World) -> None:
    await world.enqueue(3)
    await world.finish(await world.claim())
    before = await world.fetch(HEAD)
    await close_slot(world)
    assert await world.prune() == "pruned"
    assert await world.fetch(HEAD) == before
    (job,) = await world.enqueue()
    (claimed,) = await world.claim()
    assert (claimed.job_id, claimed.claim_no) == (job, before[0] + 1)


async def test_heads_of_many_lanes_are_carried(world: World) -> None:
    ids = [(await world.enqueue(queue=q, priority=p))[0] for q in "ab" for p in (1, 4)]
    for queue in "ab":
        await world.finish(await world.claim(queue=queue))
    before = await all_heads(world)
    await close_slot(world)
    assert await world.prune() == "pruned"
    assert await all_heads(world) == before
    assert len(ids) == len(before)


async def test_a_claim_over_two_slots_ends_though_one_of_them_is_gone(world: World) -> None:
    (old,) = await world.enqueue()
    await close_slot(world)
    (new,) = await world.enqueue()
    claimed = await world.claim()
    await world.finish(claimed[:1])
    assert await world.prune() == "pruned"
    assert await world.state(new) == "running"
    assert await world.finish(claimed) == {new: "completed"}
    assert old not in await world.audit()


async def test_a_rolled_back_prune_leaves_everything(world: World) -> None:
    ids = await world.enqueue(2)
    await world.finish(await world.claim(limit=1))
    await close_slot(world)
    async with world.rolled_back():
        assert await world.prune_step() == "more"
    assert await world.states(ids) == ["completed", "available"]


async def all_heads(world: World) -> list[tuple[Any, ...]]:
    """Every lane's head."""
    cursor = await world.conn.execute(
        "SELECT lane_id, claim_no, cursor, owed::text, seen::text FROM awa.lane_heads ORDER BY 1"
    )
    return await cursor.fetchall()


async def test_a_few_live_jobs_are_carried_quickly_out_of_a_large_slot(world: World) -> None:
    """Every claim waits meanwhile, so what it takes must not grow with the slot."""
    await world.enqueue(LARGE_SLOT_JOBS)
    await world.conn.execute(PAIRS_CLAIMED, [world.runtime_id])
    await world.conn.execute(ALL_BUT_SOME_CLOSED)
    assert await world.rotate() == "rotated"
    async with counted(world.conn) as work:
        assert await world.prune() == "pruned"
    assert work.rows < PRUNE_MAX_ROWS * LARGE_SLOT_JOBS
    carried = await world.fetch("SELECT count(*), sum(jobs) FROM awa.lane_claims WHERE jobs > 0")
    assert carried == (LARGE_SLOT_JOBS // 2 // 60, LARGE_SLOT_JOBS // 60)
