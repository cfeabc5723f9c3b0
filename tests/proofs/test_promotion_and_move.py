"""Promotion against move and cancel: a job whose time has come is found wherever it is just then."""

from datetime import timedelta

from tests.proofs.scenes import served_once
from tests.proofs.stage import Actor, Stage

SOON_S = 3600.0


async def schedule(actor: Actor) -> int:
    """A job for later."""
    (job,) = await actor.enqueue(run_at=await actor.now(later_s=SOON_S / 2))
    return job


async def promote(actor: Actor) -> int:
    """Promotes as if the job's time had come."""
    return await actor.promote(now=await actor.now(later_s=SOON_S))


async def test_a_promotion_that_came_first_is_moved_in_its_lane(stage: Stage) -> None:
    promoter, mover = await stage.actors(2)
    job = await schedule(promoter)
    async with promoter.stopped_at("promote.after_locks", promote(promoter)) as promoting:
        assert await mover.move([job], "other") == {}
    assert promoting.result() == 1
    assert await mover.move([job], "other") == {job: "moved"}
    await served_once(job, mover, queues=("default", "other"))
    await stage.audit()


async def test_a_move_that_came_first_is_promoted_where_it_arrived(stage: Stage) -> None:
    promoter, mover = await stage.actors(2)
    job = await schedule(promoter)
    async with mover.stopped_at("change.after_deferred", mover.move([job], "other", 1)) as moving:
        assert await promote(promoter) == 0
    assert moving.result() == {job: "moved"}
    assert await promote(promoter) == 1
    assert (await mover.job(job))["priority"] == 1
    await served_once(job, mover, queues=("default", "other"))
    await stage.audit()


async def test_a_job_promoted_while_a_move_looks_for_it_is_found_in_its_lane(stage: Stage) -> None:
    promoter, mover = await stage.actors(2)
    job = await schedule(promoter)
    async with stage.until_end() as go_on, promoter.conn.transaction():
        assert await promote(promoter) == 1
        looking = mover.stopped_at("change.after_deferred", mover.move([job], "other"))
        moving = await go_on.enter_async_context(looking)
    assert moving.result() == {job: "moved"}
    await served_once(job, mover, queues=("default", "other"))
    await stage.audit()


async def test_a_cancel_of_a_job_that_is_being_promoted_says_try_again(stage: Stage) -> None:
    promoter, canceller = await stage.actors(2)
    job = await schedule(promoter)
    async with promoter.stopped_at("promote.after_locks", promote(promoter)):
        assert await canceller.cancel([job]) == []
        assert await canceller.explain([job]) == {job: "locked"}
    assert await canceller.cancel([job]) == [job]
    assert await canceller.claim_ids() == []
    assert await canceller.state(job) == "cancelled"


async def test_a_cancelled_job_is_not_promoted(stage: Stage) -> None:
    promoter, canceller = await stage.actors(2)
    job = await schedule(promoter)
    async with canceller.stopped_at("change.after_deferred", canceller.cancel([job])):
        assert await promote(promoter) == 0
    assert await promote(promoter) == 0
    assert await canceller.state(job) == "cancelled"


async def test_two_promotions_at_once_promote_a_job_once(stage: Stage) -> None:
    first, second = await stage.actors(2)
    job = await schedule(first)
    async with first.stopped_at("promote.after_locks", promote(first)) as promoting:
        assert await promote(second) == 0
    assert promoting.result() == 1
    assert await promote(second) == 0
    await served_once(job, first, queues=("default",))
    await stage.audit()


async def test_a_promotion_that_was_rolled_back_is_made_again(stage: Stage) -> None:
    promoter, other = await stage.actors(2)
    job = await schedule(promoter)
    async with promoter.rolled_back():
        assert await promote(promoter) == 1
        assert await other.state(job) == "scheduled"
    assert await promote(other) == 1
    await served_once(job, other, queues=("default",))
    await stage.audit()


async def test_a_retry_by_hand_and_a_promotion_make_one_job_ready_once(stage: Stage) -> None:
    promoter, operator = await stage.actors(2)
    job = await schedule(promoter)
    async with promoter.stopped_at("promote.after_locks", promote(promoter)):
        assert await operator.retry([job]) == []
    assert await operator.retry([job]) == []
    await served_once(job, promoter, queues=("default",))
    await stage.audit()


async def test_a_job_that_was_put_off_is_not_promoted_by_its_old_time(stage: Stage) -> None:
    """The promoter's snapshot saw a time that has come; the row it locks says another."""
    promoter, operator = await stage.actors(2)
    job = await schedule(promoter)
    later = await operator.now(later_s=2 * SOON_S)
    async with operator.conn.transaction():
        await operator.conn.execute(
            "UPDATE awa.deferred_jobs SET run_at = %s WHERE job_id = %s",
            [later + timedelta(seconds=1), job],
        )
        assert await promote(promoter) == 0
    assert await promote(promoter) == 0
    assert await operator.state(job) == "scheduled"
