"""Retention: ended jobs that are kept as rows go when their time is over, in bounded portions."""

from awa.storage import retention
from tests.storage.world import World

DAY_S = 86_400.0


async def retain(world: World, *, days_later: float, max_rows: int = 100) -> int:
    """Keeps failed and cancelled jobs ten days, completed ones one."""
    now = await world.now(later_s=days_later * DAY_S)
    return await retention.retain_finished(
        world.conn, keep_s=10 * DAY_S, completed_keep_s=DAY_S, max_rows=max_rows, now=now
    )


async def test_each_state_is_kept_for_its_own_time(world: World) -> None:
    recorded, failed, cancelled = await world.enqueue(3)
    jobs = await world.claim()
    await world.finish(jobs[:1], metadata={"m": 1})
    await world.finish(jobs[1:2], "failed")
    await world.finish(jobs[2:], "cancelled")
    assert await retain(world, days_later=0.5) == 0
    assert await retain(world, days_later=2) == 1
    assert sorted(await world.audit()) == [failed, cancelled]
    assert await retain(world, days_later=11) == 2
    assert await world.audit() == {}
    assert recorded


async def test_no_more_than_asked_for_the_oldest_first(world: World) -> None:
    ids = await world.enqueue(5)
    for job in await world.claim():
        await world.finish([job], "failed")
    assert await retain(world, days_later=11, max_rows=2) == 2
    assert sorted(await world.audit()) == ids[2:]


async def test_completed_jobs_that_are_kept_do_not_hide_failed_ones(world: World) -> None:
    """The shorter time bounds the search, whichever it is; a portion is full of what may go."""
    await world.enqueue(4)
    jobs = await world.claim()
    await world.finish(jobs[:3], "failed")
    await world.finish(jobs[3:], metadata={"m": 1})
    now = await world.now(later_s=2 * DAY_S)
    gone = await retention.retain_finished(
        world.conn, keep_s=10 * DAY_S, completed_keep_s=DAY_S, max_rows=2, now=now
    )
    assert gone == 1
    assert len(await world.audit()) == 3


async def test_jobs_that_are_kept_are_not_walked_past(world: World) -> None:
    await world.enqueue(3_000)
    await world.finish(await world.claim(limit=3_000), "failed")
    await world.conn.execute("ANALYZE awa.finished_jobs")
    async with world.conn.transaction():
        assert await retain(world, days_later=2) == 0
        (read,) = await world.fetch(
            "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_user_tables WHERE relname = 'finished_jobs'"
        )
    assert read == 0


async def test_jobs_that_have_not_ended_are_never_touched(world: World) -> None:
    await world.enqueue()
    await world.enqueue(run_at=await world.now(later_s=60))
    await world.enqueue(queue="other")
    await world.claim(queue="other")
    assert await retain(world, days_later=1_000) == 0
    assert len(await world.audit()) == 3
