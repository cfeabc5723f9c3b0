"""A cursor that is moved without a claim: nobody is lost by it, and nobody served twice."""

import pytest

from tests.proofs.scenes import cursor_of, owe, served_once, wait_late
from tests.proofs.stage import Stage

pytestmark = pytest.mark.lanes


async def test_a_lane_in_a_claimers_hands_is_left_alone(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    gone, job = await claimer.enqueue(2)
    await claimer.cancel([gone])
    async with claimer.stopped_at("claim.after_snapshot", claimer.claim_ids()) as claiming:
        # Its front is still the cancelled job, so the keeper sees something to do.
        assert await keeper.advance() == 0
    assert claiming.result() == [job]
    assert await claimer.claim_ids() == []
    await stage.audit()


async def test_a_lane_whose_cursor_is_moved_is_passed_by_claimers(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    gone, job = await claimer.enqueue(2)
    await claimer.cancel([gone])
    async with keeper.stopped_at("advance.before_snapshot", keeper.advance()) as advancing:
        assert await claimer.claim_ids() == []
    assert advancing.result() == 1
    await served_once(job, claimer, keeper, queues=("default",))
    await stage.audit()


async def test_what_was_owed_stays_owed(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    (job,) = await owe(claimer, keeper)
    await claimer.cancel(await claimer.enqueue())
    assert await keeper.advance() == 1
    await served_once(job, claimer, keeper, queues=("default",))
    await stage.audit()


async def test_what_came_late_is_owed(stage: Stage) -> None:
    """The new head's snapshot shows it, so by that it would no longer be late."""
    claimer, keeper = await stage.actors(2)
    (job,) = await wait_late(claimer, keeper)
    await claimer.cancel(await claimer.enqueue())
    assert await keeper.advance() == 1
    await stage.audit()
    await served_once(job, claimer, keeper, queues=("default",))
    await stage.audit()


async def test_a_job_that_is_committed_after_the_walk_comes_late(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    producer = await stage.actor()
    (before,) = await claimer.enqueue()
    async with stage.until_end() as end, producer.conn.transaction():
        (job,) = await producer.enqueue()
        (after,) = await claimer.enqueue()
        await claimer.cancel([before, after])
        advancing = await end.enter_async_context(
            keeper.stopped_at("advance.after_walk", keeper.advance())
        )
    assert advancing.result() == 1
    assert await cursor_of(keeper) > job
    await stage.audit()
    await served_once(job, claimer, keeper, queues=("default",))
    await stage.audit()


async def test_a_job_of_a_mover_that_gives_up_is_not_passed(stage: Stage) -> None:
    claimer, mover = await stage.actors(2)
    keeper = await stage.actor()
    gone, job = await claimer.enqueue(2)
    await claimer.cancel([gone])
    async with mover.rolled_back():
        assert await mover.relocate(await mover.lock([job]), "other")
        assert await keeper.advance() == 1
        assert await cursor_of(keeper) == job
    await served_once(job, claimer, keeper, queues=("default", "other"))
    await stage.audit()


async def test_a_job_is_moved_though_its_cursor_moves_on_meanwhile(stage: Stage) -> None:
    """The mover has the row and reads the head afterwards: the job is past the cursor, or owed, as before."""
    claimer, keeper = await stage.actors(2)
    (late,) = await wait_late(claimer, keeper)
    gone, job = await claimer.enqueue(2)
    await claimer.cancel([gone])
    mover = await stage.actor()
    async with mover.stopped_at("change.after_locks", mover.move([late, job], "other")) as move:
        assert await keeper.advance() == 1
    assert move.result() == {late: "moved", job: "moved"}
    await stage.audit()
    assert await claimer.claim_ids() == []
    assert sorted(await claimer.claim_ids(queue="other")) == sorted([late, job])
