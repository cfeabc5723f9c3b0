"""Ageing: who waits long is served sooner, and nobody gains by it what an operator has just taken away."""

import pytest

from awa.storage.ageing import age_lanes
from tests.storage.world import World

STEP_S = 60.0


async def age(world: World, *, waited_s: float) -> int:
    """Ages the lanes as if so much time had gone by."""
    return await age_lanes(world.conn, step_s=STEP_S, now=await world.now(later_s=waited_s))


async def effective(world: World, queue: str = "default") -> list[tuple[int, int]]:
    """(priority, effective priority) of a queue's lanes."""
    cursor = await world.conn.execute(
        "SELECT priority, effective_priority FROM awa.lanes WHERE queue = %s ORDER BY 1", [queue]
    )
    return await cursor.fetchall()


async def test_a_lane_gains_a_step_for_each_interval_its_oldest_job_waits(world: World) -> None:
    await world.enqueue(priority=4)
    for waited_s, expected in ((0, 4), (59, 4), (61, 3), (121, 2), (181, 1), (3_600, 1)):
        await age(world, waited_s=waited_s)
        assert await effective(world) == [(4, expected)]


async def test_a_lane_that_was_served_falls_back(world: World) -> None:
    await world.enqueue(priority=3)
    await age(world, waited_s=61)
    assert await effective(world) == [(3, 2)]
    await world.claim()
    await age(world, waited_s=61)
    assert await effective(world) == [(3, 3)]


async def test_nothing_to_change_changes_nothing(world: World) -> None:
    await world.enqueue(priority=3)
    assert await age(world, waited_s=61) == 1
    assert await age(world, waited_s=62) == 0


async def test_without_a_step_nothing_ages_and_what_had_aged_falls_back(world: World) -> None:
    await world.enqueue(priority=3)
    await age(world, waited_s=121)
    for step_s in (None, 0.0):
        await age_lanes(world.conn, step_s=step_s, now=await world.now(later_s=1_000))
        assert await effective(world) == [(3, 3)]


async def test_a_demoted_job_is_not_aged_straight_back(world: World) -> None:
    """Its age counts from when it came into its present lane."""
    (job,) = await world.enqueue(priority=1)
    await world.conn.execute(
        "UPDATE awa.ready_entries SET ready_at = ready_at - interval '1 h', created_at = created_at - interval '1 h'"
    )
    await world.move([job], priority=4)
    await age(world, waited_s=30)
    assert await effective(world) == [(1, 1), (4, 4)]
    await age(world, waited_s=61)
    assert await effective(world) == [(1, 1), (4, 3)]


async def test_a_cancelled_job_ages_nobody(world: World) -> None:
    old, _ = await world.enqueue(2, priority=3)
    await world.conn.execute(
        "UPDATE awa.ready_entries SET ready_at = ready_at - interval '1 h' WHERE job_id = %s", [old]
    )
    await world.cancel([old])
    await age(world, waited_s=30)
    assert await effective(world) == [(3, 3)]


async def test_an_owed_job_ages_its_lane(world: World) -> None:
    """It was locked when the cursor went by, and has waited longest of all."""
    old, _ = await world.enqueue(2, priority=3)
    async with world.rolled_back():
        await world.lock([old])
        other = await World.on(await type(world.conn).connect(world.conn.info.dsn, autocommit=True))
        await other.claim()
    await other.conn.close()
    await age(world, waited_s=61)
    assert await effective(world) == [(3, 2)]


async def test_an_aged_lane_gets_its_share_before_better_ones(world: World) -> None:
    """A busy first priority would starve it for ever; a fifth of each claim is its own."""
    aged = await world.enqueue(40, priority=4)
    await age(world, waited_s=121)
    await world.enqueue(200, priority=1)
    served = [job.priority for job in await world.claim(limit=50)]
    assert served.count(4) == 10
    assert served == [4] * 10 + [1] * 40
    assert len(aged) == 40


async def test_small_claims_give_the_share_now_and_then(world: World) -> None:
    await world.enqueue(300, priority=4)
    await age(world, waited_s=121)
    await world.enqueue(300, priority=1)
    served = [(await world.claim(limit=1))[0].priority for _ in range(150)]
    assert 10 <= served.count(4) <= 60


async def test_a_lane_raised_to_the_first_priority_still_leaves_most_to_the_first(
    world: World,
) -> None:
    await world.enqueue(100, priority=2)
    await age(world, waited_s=61)
    assert await effective(world) == [(2, 1)]
    await world.enqueue(100, priority=1)
    served = [job.priority for job in await world.claim(limit=50)]
    assert served.count(1) >= 40


@pytest.mark.lanes
async def test_history_is_not_walked(world: World) -> None:
    """Each lane is looked at once, however many of its jobs are done."""
    await world.enqueue(300)
    await world.finish(await world.claim(limit=300))
    await world.enqueue()
    async with world.conn.transaction():
        await world.conn.execute("SET LOCAL track_functions = 'pl'")
        await age(world, waited_s=61)
        (calls,) = await world.fetch(
            "SELECT calls FROM pg_stat_xact_user_functions WHERE funcname = 'pass_tombstones'"
        )
    assert calls == 1
