"""What the canonical storage does in its own way: whatever it shares with lanes is tested by the same tests as they are."""

from typing import Any

import pytest

from tests.storage.world import World

pytestmark = pytest.mark.canonical


async def test_a_job_that_moves_takes_its_row_along(world: World) -> None:
    ids = await world.enqueue(4)
    await world.move(ids[1:3], "other", 4)
    assert await world.fetch("SELECT count(*), count(DISTINCT job_id) FROM awa.ready_entries") == (
        4,
        4,
    )
    assert await world.claim_ids(queue="other") == ids[1:3]


async def test_a_completed_job_keeps_its_row_and_others_leave_with_it(world: World) -> None:
    await world.enqueue(5)
    done, failed, retried, snoozed, running = await world.claim()
    await world.finish([done])
    await world.finish([failed], "failed")
    await world.finish([retried], "retried", delay_s=60.0)
    await world.finish([snoozed], "snoozed", delay_s=60.0)
    kept = await (
        await world.conn.execute("SELECT job_id FROM awa.ready_entries ORDER BY 1")
    ).fetchall()
    assert kept == sorted([(done.job_id,), (running.job_id,)])


async def test_completed_jobs_go_after_the_retention_and_no_others(world: World) -> None:
    await world.enqueue(5)
    jobs = await world.claim(limit=4)
    await world.finish(jobs[:3])
    assert await prune(world, keep_s=60.0) == "empty"
    assert await prune(world, keep_s=0.0) == "pruned"
    assert await prune(world, keep_s=0.0) == "empty"
    states = sorted(place.state for place in (await world.audit()).values())
    assert states == ["available", "running"]


async def test_notes_of_places_go_after_the_retention(world: World) -> None:
    (job_id,) = await world.enqueue()
    await world.move([job_id], "other")
    notes = "SELECT count(*) FROM awa.past_places"
    assert await world.fetch(notes) == (1,)
    assert await prune(world, keep_s=60.0) == "empty"
    assert await prune(world, keep_s=0.0) == "pruned"
    assert await world.fetch(notes) == (0,)


async def test_what_is_completed_at_once_leaves_no_note(world: World) -> None:
    await world.enqueue(3)
    await world.finish(await world.claim())
    assert await world.fetch("SELECT count(*) FROM awa.past_places") == (0,)


async def test_a_claim_passes_by_what_somebody_else_has_locked(world: World, connect: Any) -> None:
    ids = await world.enqueue(3)
    other = await connect(autocommit=False)
    await other.execute("SELECT FROM awa.ready_entries WHERE job_id = %s FOR UPDATE", [ids[0]])
    assert await world.claim_ids() == ids[1:]
    await other.rollback()
    assert await world.claim_ids() == ids[:1]


async def test_the_rate_counts_what_has_ended_otherwise_since(world: World) -> None:
    await world.enqueue(20)
    await world.limit(rate_limit=5, rate_period_seconds=10)
    await world.finish(await world.claim(limit=3), "retried", delay_s=60.0)
    assert len(await world.claim(limit=9)) == 2
    assert await world.claim(limit=9) == []


async def prune(world: World, *, keep_s: float) -> str:
    """One step of the duty that gives space back."""
    (answer,) = await world.fetch(f"SELECT awa.prune_slot(0, {keep_s}, 0)")
    return str(answer)


async def test_a_mover_leaves_running_jobs_to_their_workers(world: World, connect: Any) -> None:
    (running,) = await world.enqueue()
    claimed = await world.claim()
    mover = await connect(autocommit=False)
    await mover.execute("SELECT * FROM awa.lock_waiting(ARRAY[%s::bigint])", [running])
    await world.conn.execute("SET statement_timeout = '20s'")
    await world.finish(claimed)
    assert await world.state(running) == "completed"
    await mover.rollback()
