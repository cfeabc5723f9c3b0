"""The pool's connections: a task that is told to end ends, whatever the pool is doing just then."""

import asyncio

import pytest

from awa.db.pool import Pool, connection, make_pool


async def hold(pool: Pool) -> None:
    """Take a connection and keep it until cancelled."""
    async with connection(pool):
        await asyncio.Event().wait()


@pytest.mark.parametrize("steps", range(12))
async def test_a_cancellation_is_heard_while_a_connection_is_handed_over(
    database_url: str, steps: int
) -> None:
    pool = make_pool(database_url, max_size=1)
    await pool.open()
    try:
        async with connection(pool):
            waiting = asyncio.create_task(hold(pool))
            for _ in range(100):
                await asyncio.sleep(0)
            assert pool.get_stats()["requests_waiting"] == 1
        for _ in range(steps):
            await asyncio.sleep(0)
        waiting.cancel()
        done, _ = await asyncio.wait([waiting], timeout=5)
        heard = bool(done) and waiting.cancelled()
        waiting.cancel()
        await asyncio.wait([waiting])
        assert heard
        async with connection(pool):
            pass  # it came back
    finally:
        await pool.close()


async def test_a_task_that_is_being_cancelled_may_still_use_the_pool(database_url: str) -> None:
    pool = make_pool(database_url, max_size=1)
    await pool.open()
    told: list[int] = []

    async def tidy_up_at_the_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            async with connection(pool) as conn:
                cursor = await conn.execute("SELECT 1")
                told.extend(await cursor.fetchone() or ())

    task = asyncio.create_task(tidy_up_at_the_end())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await pool.close()
    assert told == [1]
