"""Promote: jobs whose time has come go into their lanes, the most overdue first."""

from awa.storage import promote, queues
from tests.storage.world import World

HOUR_S = 3600.0


async def test_nothing_is_promoted_before_its_time(world: World) -> None:
    (job,) = await world.enqueue(run_at=await world.now(later_s=60))
    assert await world.promote() == 0
    assert await world.promote(now=await world.now(later_s=50)) == 0
    assert await world.state(job) == "scheduled"


async def test_a_job_is_promoted_at_its_time_and_keeps_what_it_had(world: World) -> None:
    moment = await world.now(later_s=60)
    (job,) = await world.enqueue(
        run_at=moment, priority=3, queue="q", tags=["t"], metadata={"m": 1}, max_attempts=4
    )
    before = await world.job(job)
    assert await world.promote(now=moment) == 1
    after = await world.job(job)
    same = ("kind", "queue", "priority", "args", "tags", "metadata", "max_attempts", "created_at")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}
    assert (after["state"], after["attempt"], after["run_at"]) == ("available", 0, moment)
    assert await world.claim_ids(queue="q") == [job]


async def test_the_most_overdue_come_first_and_no_more_than_asked_for(world: World) -> None:
    late = [(await world.enqueue(run_at=await world.now(later_s=s)))[0] for s in (30, 10, 20)]
    now = await world.now(later_s=HOUR_S)
    assert await promote.promote(world.conn, max_jobs=2, now=now) == 2
    assert await world.states(late) == ["scheduled", "available", "available"]
    assert await promote.promote(world.conn, max_jobs=2, now=now) == 1
    assert await promote.promote(world.conn, max_jobs=2, now=now) == 0
    assert await world.claim_ids() == [late[1], late[2], late[0]]


async def test_a_retryable_job_comes_back_for_its_next_attempt(world: World) -> None:
    (job,) = await world.enqueue()
    await world.finish(await world.claim(), "retried", delay_s=30.0, error={"error": "x"})
    assert await world.promote() == 0
    assert await world.promote(now=await world.now(later_s=31)) == 1
    (again,) = await world.claim()
    assert (again.job_id, again.attempt) == (job, 2)


async def test_a_job_is_promoted_once(world: World) -> None:
    (job,) = await world.enqueue(run_at=await world.now(later_s=10))
    now = await world.now(later_s=HOUR_S)
    assert [await world.promote(now=now), await world.promote(now=now)] == [1, 0]
    assert await world.claim_ids() == [job]
    assert await world.claim_ids() == []


async def test_into_a_paused_queue_it_is_promoted_and_waits(world: World) -> None:
    (job,) = await world.enqueue(run_at=await world.now(later_s=10))
    await world.pause()
    assert await world.promote(now=await world.now(later_s=HOUR_S)) == 1
    assert await world.claim_ids() == []
    assert await world.state(job) == "available"
    await queues.resume(world.conn, "default")
    assert await world.claim_ids() == [job]


async def test_jobs_without_a_key_are_spread_over_the_shards(world: World) -> None:
    await queues.set_enqueue_shards(world.conn, "q", 4)
    moment = await world.now(later_s=10)
    await world.enqueue(200, queue="q", run_at=moment)
    assert await world.promote(now=moment) == 200
    assert len({job.lane_id for job in await world.claim(limit=200, queue="q")}) == 4


async def test_jobs_of_one_ordering_key_meet_in_one_lane_however_they_came(world: World) -> None:
    await queues.set_enqueue_shards(world.conn, "q", 8)
    moment = await world.now(later_s=10)
    await world.enqueue(queue="q", ordering_key="k")
    await world.enqueue(queue="q", ordering_key="k", run_at=moment)
    await world.promote(now=moment)
    first, second = await world.claim(queue="q")
    assert first.lane_id == second.lane_id
