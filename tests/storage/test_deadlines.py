"""Deadlines: an attempt that runs past its own is ended, whether or not its runtime lives."""

from tests.storage.world import World


async def test_an_attempt_within_its_deadline_runs_on(world: World) -> None:
    (job,) = await world.enqueue()
    await world.claim(deadline_s=60)
    assert await world.rescue(now=await world.now(later_s=20)) == (0, 0, 0)
    assert await world.state(job) == "running"


async def test_an_attempt_past_its_deadline_is_ended_while_its_runtime_lives(world: World) -> None:
    (job,) = await world.enqueue()
    claimed = await world.claim(deadline_s=10)
    assert await world.rescue(now=await world.now(later_s=11)) == (0, 0, 1)
    row = await world.job(job)
    assert (row["state"], row["errors"][0]["kind"]) == ("retryable", "DeadlineExceeded")
    assert await world.finish(claimed) == {}


async def test_an_attempt_without_a_deadline_runs_as_long_as_it_likes(world: World) -> None:
    (job,) = await world.enqueue()
    await world.claim()
    days_later = await world.now(later_s=10 * 86_400)
    assert await world.rescue(stale_after_s=100 * 86_400, now=days_later) == (0, 0, 0)
    assert await world.state(job) == "running"


async def test_the_deadline_counts_from_the_claim(world: World) -> None:
    await world.enqueue()
    (claimed,) = await world.claim(deadline_s=2.5)
    assert claimed.deadline_at is not None
    assert (claimed.deadline_at - claimed.claimed_at).total_seconds() >= 2.5
    assert (await world.job(claimed.job_id))["deadline_at"] == claimed.deadline_at


async def test_deadlines_hold_for_attempts_that_were_written_down(world: World) -> None:
    (job,) = await world.enqueue()
    claimed = await world.claim(deadline_s=60)
    await world.heartbeat(claimed, open_since=await world.now(later_s=30))
    assert await world.rescue(stale_after_s=1e6, now=await world.now(later_s=61)) == (0, 0, 1)
    assert await world.state(job) == "retryable"


async def test_only_what_is_past_its_own_deadline_ends(world: World) -> None:
    ids = await world.enqueue(3)
    await world.claim(limit=1, deadline_s=10)
    await world.claim(limit=1, deadline_s=1_000)
    await world.claim(limit=1)
    rescued = await world.rescue(stale_after_s=1e6, now=await world.now(later_s=60))
    assert rescued.deadlines_passed == 1
    assert await world.states(ids) == ["retryable", "running", "running"]


async def test_the_worker_is_told(world: World) -> None:
    await world.enqueue()
    (claimed,) = await world.claim(deadline_s=10)
    await world.conn.execute("LISTEN awa_control")
    await world.rescue(now=await world.now(later_s=11))
    async for heard in world.conn.notifies(timeout=60, stop_after=1):
        assert heard.payload == f'{{"cancelled" : [{claimed.lane_seq}]}}'
