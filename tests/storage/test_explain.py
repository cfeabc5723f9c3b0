"""Explain: why a job could not be locked as waiting, said of each and never wrongly final."""

import pytest

from tests.conftest import Connect
from tests.storage.world import World


async def test_each_place_has_its_word(world: World) -> None:
    done, failed, cancelled, running = await world.enqueue(4)
    jobs = await world.claim()
    await world.finish(jobs[:1])
    await world.finish(jobs[1:2], "failed")
    await world.cancel_running([cancelled])
    assert await world.explain([done, failed, cancelled, running, 999]) == {
        done: "finished",
        failed: "finished",
        cancelled: "cancelled",
        running: "claimed",
        999: "not_found",
    }


@pytest.mark.parametrize("deferred", [False, True])
async def test_a_job_that_waits_is_on_its_way_or_in_other_hands(
    world: World, connect: Connect, deferred: bool
) -> None:
    other = await World.on(await connect())
    run_at = await world.now(later_s=60) if deferred else None
    (job,) = await world.enqueue(run_at=run_at)
    async with other.rolled_back():
        await other.lock([job])
        assert await world.lock([job]) == []
        assert await world.explain([job]) == {job: "locked"}


async def test_a_job_cancelled_while_it_waited_is_cancelled(world: World) -> None:
    ready, deferred = (
        *(await world.enqueue()),
        *(await world.enqueue(run_at=await world.now(later_s=60))),
    )
    await world.cancel([ready, deferred])
    assert await world.explain([ready, deferred]) == {ready: "cancelled", deferred: "cancelled"}


async def test_a_completed_job_with_metadata_is_finished(world: World) -> None:
    (job,) = await world.enqueue()
    await world.finish(await world.claim(), metadata={"m": 1})
    assert await world.explain([job]) == {job: "finished"}


async def test_a_job_between_two_attempts_is_not_called_claimed(world: World) -> None:
    """It waits again: whoever asks should try again, not give the job up."""
    ids = await world.enqueue(3)
    jobs = await world.claim()
    for job, outcome in zip(jobs, ("retried", "snoozed", "returned"), strict=True):
        await world.finish([job], outcome)
    assert await world.explain(ids) == dict.fromkeys(ids, "locked")


async def test_a_job_retried_by_hand_is_not_called_finished(world: World) -> None:
    (job,) = await world.enqueue()
    await world.finish(await world.claim(), "failed")
    await world.retry([job])
    assert await world.explain([job]) == {job: "locked"}
    await world.claim()
    assert await world.explain([job]) == {job: "claimed"}


async def test_an_empty_question_has_an_empty_answer(world: World) -> None:
    assert await world.explain([]) == {}
