"""Cancel against move, and the late word of each: a waiting job is cancelled or moved, never both, never neither."""

from tests.proofs.scenes import owe, wait_late
from tests.proofs.stage import Stage


async def test_a_cancel_that_came_first_leaves_nothing_to_move(stage: Stage) -> None:
    canceller, mover = await stage.actors(2)
    (job,) = await canceller.enqueue()
    async with canceller.stopped_at("change.after_locks", canceller.cancel([job])) as cancelling:
        assert await mover.move([job], "other") == {}
    assert cancelling.result() == [job]
    assert await mover.move([job], "other") == {}
    assert await mover.state(job) == "cancelled"


async def test_a_move_that_came_first_is_cancelled_where_it_arrived(stage: Stage) -> None:
    canceller, mover = await stage.actors(2)
    (job,) = await canceller.enqueue()
    async with mover.stopped_at("change.after_locks", mover.move([job], "other")) as moving:
        assert await canceller.cancel([job]) == []
    assert moving.result() == {job: "moved"}
    assert await canceller.cancel([job]) == [job]
    assert await mover.claim_ids(queue="other") == []
    assert await mover.state(job) == "cancelled"


async def test_a_cancel_between_a_moves_snapshot_and_its_lock_wins(stage: Stage) -> None:
    canceller, mover = await stage.actors(2)
    (job,) = await canceller.enqueue()
    await stage.open_inner_point("change.in_locks")
    async with mover.stopped_at("change.in_locks", mover.move([job], "other")) as moving:
        assert await canceller.cancel([job]) == [job]
    assert moving.result() == {}
    assert await mover.state(job) == "cancelled"


async def test_a_move_between_a_cancels_snapshot_and_its_lock_wins(stage: Stage) -> None:
    canceller, mover = await stage.actors(2)
    (job,) = await canceller.enqueue()
    await stage.open_inner_point("change.in_locks")
    async with canceller.stopped_at("change.in_locks", canceller.cancel([job])) as cancelling:
        assert await mover.move([job], "other") == {job: "moved"}
    assert cancelling.result() == []
    assert await mover.state(job) == "available"
    assert await canceller.cancel([job]) == [job]


async def test_an_owed_job_can_still_be_cancelled(stage: Stage) -> None:
    """The cursor has passed it, yet it waits: to answer "too late" of a job that then runs would be a lie."""
    claimer, canceller = await stage.actors(2)
    (job,) = await owe(claimer, canceller)
    assert await canceller.cancel([job]) == [job]
    assert await claimer.claim_ids() == []
    assert await claimer.state(job) == "cancelled"


async def test_a_late_job_can_still_be_cancelled(stage: Stage) -> None:
    claimer, canceller, producer = await stage.actors(3)
    (job,) = await wait_late(claimer, producer)
    assert await canceller.cancel([job]) == [job]
    assert await claimer.claim_ids() == []
    assert await claimer.state(job) == "cancelled"


async def test_a_cancel_that_was_rolled_back_leaves_the_job_waiting(stage: Stage) -> None:
    claimer, canceller = await stage.actors(2)
    (job,) = await claimer.enqueue()
    async with canceller.rolled_back():
        assert await canceller.cancel([job]) == [job]
    assert await claimer.state(job) == "available"
    assert await claimer.claim_ids() == [job]
