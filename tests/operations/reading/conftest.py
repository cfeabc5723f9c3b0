"""A store with a job of every sort."""

from typing import Any

import pytest
from psycopg import AsyncConnection

from tests.conftest import Connect
from tests.storage.world import World


@pytest.fixture
async def world(conn: AsyncConnection[Any]) -> World:
    """A session with a runtime."""
    return await World.on(conn)


@pytest.fixture
async def mixed(world: World, connect: Connect) -> World:
    """Jobs in all states, queues, priorities and kinds; some moved, tried again, owed, late, cancelled."""
    other = await World.on(await connect())
    for number, (queue, kind) in enumerate((q, k) for q in "abc" for k in ("mail", "sms")):
        for priority in (1, 2, 4):
            tags = [f"customer:{number % 2}", f"p:{priority}"]
            await world.enqueue(7, queue, kind=kind, priority=priority, tags=tags)
        await world.enqueue(
            2, queue, kind=kind, run_at=await world.now(later_s=3600), tags=["later"]
        )
    for queue in "ab":
        taken = await world.claim(8, queue)
        await world.finish(taken[:3])
        await world.finish(taken[3:4], metadata={"n": 1})
        await world.finish(taken[4:5], "failed", error={"error": "full", "kind": "MailboxFull"})
        await world.finish(taken[5:6], "retried", error={"error": "busy"}, delay_s=60.0)
        await world.finish(taken[6:7], "cancelled")
    moved = await world.enqueue(4, "a", kind="mail", tags=["moved"])
    await world.move(moved[:3], "c", 1)
    await world.cancel(moved[3:4])
    owed, _ = await world.enqueue(2, "owed")
    async with other.rolled_back():
        await other.lock([owed])
        await world.claim(queue="owed")
    await world.enqueue(1, "late")
    async with other.conn.transaction():
        await other.enqueue(2, "late", kind="late")
        await world.enqueue(1, "late")
        await world.claim(queue="late")
    return world
