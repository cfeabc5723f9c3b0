"""Retry by hand: ended jobs get another attempt at once, deferred ones run now, all others are left alone."""

import pytest

from awa.storage import queues
from tests.storage.world import World


@pytest.mark.parametrize("outcome", ["failed", "cancelled"])
async def test_an_ended_job_gets_another_attempt(world: World, outcome: str) -> None:
    (job,) = await world.enqueue(priority=3, tags=["t"], metadata={"m": 1})
    await world.finish(await world.claim(), outcome, error={"error": "x"})
    assert await world.retry([job]) == [job]
    assert await world.state(job) == "available"
    (again,) = await world.claim()
    assert (again.attempt, again.priority, again.tags) == (2, 3, ["t"])
    assert (again.metadata, len(again.errors or [])) == ({"m": 1}, 1)


async def test_a_job_without_attempts_left_gets_one_more(world: World) -> None:
    (job,) = await world.enqueue(max_attempts=1)
    await world.finish(await world.claim(), "retried")
    assert await world.state(job) == "failed"
    assert await world.retry([job]) == [job]
    (again,) = await world.claim()
    assert (again.attempt, again.max_attempts) == (2, 2)
    assert await world.finish([again], "retried") == {job: "failed"}


async def test_a_scheduled_and_a_retryable_job_run_now(world: World) -> None:
    (retryable,) = await world.enqueue()
    await world.finish(await world.claim(), "retried", delay_s=3600.0)
    (scheduled,) = await world.enqueue(run_at=await world.now(later_s=3600))
    assert await world.retry([retryable, scheduled]) == [retryable, scheduled]
    assert sorted(await world.claim_ids()) == [retryable, scheduled]


async def test_jobs_that_wait_run_or_completed_are_left_alone(world: World) -> None:
    done, running, waiting = await world.enqueue(3)
    await world.finish(await world.claim(limit=1))
    await world.claim(limit=1)
    assert await world.retry([done, running, waiting, 999]) == []
    assert await world.states([done, running, waiting]) == ["completed", "running", "available"]


async def test_a_completed_job_with_metadata_is_not_run_again(world: World) -> None:
    (job,) = await world.enqueue()
    await world.finish(await world.claim(), metadata={"m": 1})
    assert await world.retry([job]) == []
    assert await world.state(job) == "completed"


async def test_a_second_retry_finds_nothing(world: World) -> None:
    (job,) = await world.enqueue()
    await world.finish(await world.claim(), "failed")
    assert [await world.retry([job]), await world.retry([job])] == [[job], []]
    assert await world.claim_ids() == [job]
    assert await world.claim_ids() == []


async def test_a_waiting_job_that_was_cancelled_comes_back_whole(world: World) -> None:
    (job,) = await world.enqueue(args_json='{"n": 1}')
    await world.cancel([job])
    assert await world.retry([job]) == [job]
    (claimed,) = await world.claim()
    assert (claimed.args, claimed.attempt) == ('{"n": 1}', 1)


async def test_a_retry_that_was_rolled_back_leaves_the_job_ended(world: World) -> None:
    (job,) = await world.enqueue()
    await world.finish(await world.claim(), "failed")
    async with world.rolled_back():
        assert await world.retry([job]) == [job]
    assert await world.state(job) == "failed"
    assert await world.claim_ids() == []


async def test_jobs_without_a_key_are_spread_over_the_shards(world: World) -> None:
    await queues.set_enqueue_shards(world.conn, "q", 4)
    ids = await world.enqueue(200, queue="q")
    await world.cancel(ids[:100])
    await world.finish(await world.claim(limit=100, queue="q"), "retried", delay_s=60.0)
    assert await world.retry(ids) == ids
    assert len({job.lane_id for job in await world.claim(limit=200, queue="q")}) == 4


async def test_jobs_of_one_ordering_key_stay_together(world: World) -> None:
    await queues.set_enqueue_shards(world.conn, "q", 8)
    ids = await world.enqueue(10, queue="q", ordering_key="k")
    await world.cancel(ids)
    assert await world.retry(ids) == ids
    assert len({job.lane_id for job in await world.claim(queue="q")}) == 1
