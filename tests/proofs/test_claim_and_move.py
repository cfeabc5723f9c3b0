"""Claim against move: whoever locks a job's row first has it, whatever the other one's snapshot says."""

import pytest

from tests.proofs.scenes import cursor_of, owe, pass_by, served_once, wait_late
from tests.proofs.stage import Stage


@pytest.mark.lanes
async def test_a_claim_that_came_first_keeps_the_job(stage: Stage) -> None:
    claimer, mover = await stage.actors(2)
    (job,) = await claimer.enqueue()
    async with claimer.stopped_at("claim.before_tombstones", claimer.claim_ids()) as claiming:
        assert await mover.move([job], "other") == {}
    assert claiming.result() == [job]
    assert await mover.claim_ids(queue="other") == []
    await stage.audit()


async def test_a_move_that_came_first_keeps_the_job(stage: Stage) -> None:
    claimer, mover = await stage.actors(2)
    (job,) = await claimer.enqueue()
    async with mover.stopped_at("change.after_locks", mover.move([job], "other")) as moving:
        assert await claimer.claim_ids() == []
    assert moving.result() == {job: "moved"}
    await served_once(job, claimer, mover, queues=("default", "other"))
    await stage.audit()


async def test_a_job_that_a_mover_holds_is_never_claimed(stage: Stage) -> None:
    claimer, mover = await stage.actors(2)
    (job,) = await claimer.enqueue()
    async with mover.conn.transaction():
        await mover.relocate(await mover.lock([job]), "other")
        assert await claimer.claim_ids() == []
    await served_once(job, claimer, mover, queues=("default", "other"))
    await stage.audit()


async def test_an_owed_job_that_a_mover_holds_is_never_claimed(stage: Stage) -> None:
    claimer, mover = await stage.actors(2)
    (job,) = await owe(claimer, mover)
    async with mover.conn.transaction():
        await mover.relocate(await mover.lock([job]), "other")
        assert await claimer.claim_ids() == []
    await served_once(job, claimer, mover, queues=("default", "other"))
    await stage.audit()


@pytest.mark.lanes
async def test_a_move_that_commits_between_a_claims_snapshot_and_its_lock_wins(
    stage: Stage,
) -> None:
    claimer, mover = await stage.actors(2)
    (job,) = await claimer.enqueue()
    await stage.open_inner_point("claim.in_window")
    async with claimer.stopped_at("claim.in_window", claimer.claim_ids()) as claiming:
        assert await mover.move([job], "other") == {job: "moved"}
    assert claiming.result() == []
    await served_once(job, claimer, mover, queues=("default", "other"))
    await stage.audit()


@pytest.mark.lanes
async def test_the_same_for_an_owed_job(stage: Stage) -> None:
    claimer, mover = await stage.actors(2)
    (job,) = await owe(claimer, mover)
    await stage.open_inner_point("claim.in_due")
    async with claimer.stopped_at("claim.in_due", claimer.claim_ids()) as claiming:
        assert await mover.move([job], "other") == {job: "moved"}
    assert claiming.result() == []
    await served_once(job, claimer, mover, queues=("default", "other"))
    await stage.audit()


@pytest.mark.lanes
async def test_the_same_for_a_late_job(stage: Stage) -> None:
    claimer, mover, producer = await stage.actors(3)
    (job,) = await wait_late(claimer, producer)
    await stage.open_inner_point("claim.in_due")
    async with claimer.stopped_at("claim.in_due", claimer.claim_ids()) as claiming:
        assert await mover.move([job], "other") == {job: "moved"}
    assert claiming.result() == []
    await served_once(job, claimer, mover, queues=("default", "other"))
    await stage.audit()


async def test_a_claim_that_commits_between_a_moves_snapshot_and_its_lock_wins(
    stage: Stage,
) -> None:
    claimer, mover = await stage.actors(2)
    (job,) = await claimer.enqueue()
    await stage.open_inner_point("change.in_locks")
    async with mover.stopped_at("change.in_locks", mover.move([job], "other")) as moving:
        assert await claimer.claim_ids() == [job]
    assert moving.result() == {}
    assert await mover.claim_ids(queue="other") == []
    await stage.audit()


async def test_a_job_whose_mover_gave_up_is_served_next(stage: Stage) -> None:
    claimer, mover = await stage.actors(2)
    job, next_job = await claimer.enqueue(2)
    async with mover.rolled_back():
        await mover.lock([job])
        assert await claimer.claim_ids() == [next_job]
    await served_once(job, claimer, queues=("default",))
    await stage.audit()


async def test_a_job_that_is_owed_and_locked_again_stays_owed(stage: Stage) -> None:
    claimer, mover = await stage.actors(2)
    (job,) = await owe(claimer, mover)
    async with mover.rolled_back():
        await mover.lock([job])
        await pass_by(claimer)
    await served_once(job, claimer, queues=("default",))
    await stage.audit()


async def test_an_owed_job_beyond_the_limit_stays_owed(stage: Stage) -> None:
    claimer, mover = await stage.actors(2)
    first, second = await owe(claimer, mover, jobs=2)
    assert await claimer.claim_ids(limit=1) == [first]
    await served_once(second, claimer, queues=("default",))
    await stage.audit()


@pytest.mark.lanes
async def test_a_locked_job_stays_owed_though_nothing_was_served(stage: Stage) -> None:
    """The head of an idle lane is renewed when many positions were handed out elsewhere; it forgets nobody."""
    claimer, mover = await stage.actors(2)
    (job,) = await claimer.enqueue()
    async with mover.rolled_back():
        await mover.lock([job])
        await claimer.enqueue(5_100, queue="elsewhere")
        assert await claimer.claim_ids() == []
        assert await cursor_of(claimer) > 5_000
    await served_once(job, claimer, queues=("default",))
    await stage.audit()


@pytest.mark.lanes
async def test_an_owed_job_is_seen_waiting(stage: Stage) -> None:
    claimer, mover = await stage.actors(2)
    (job,) = await owe(claimer, mover)
    assert await cursor_of(claimer) > job
    assert await claimer.state(job) == "available"
