"""Lanes: made at first use, once if possible, and never a reason to wait for somebody's open transaction."""

from tests.conftest import Connect
from tests.storage.world import World

LANES = "SELECT count(*) FROM awa.lanes"


async def test_a_lane_is_made_once_and_used_again(world: World) -> None:
    await world.enqueue()
    await world.enqueue(3)
    await world.fetch("SELECT awa.enqueue('k')")
    assert await world.fetch(LANES) == (1,)


async def test_each_queue_priority_and_shard_has_its_own(world: World) -> None:
    await world.fetch(
        "INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES ('q', 2) RETURNING 1"
    )
    await world.enqueue(queue="a", priority=1)
    await world.enqueue(queue="a", priority=2)
    await world.enqueue(50, queue="q")
    lanes = await world.conn.execute("SELECT queue, priority, enqueue_shard, copy FROM awa.lanes")
    assert sorted(await lanes.fetchall()) == [
        ("a", 1, 0, 0),
        ("a", 2, 0, 0),
        ("q", 2, 0, 0),
        ("q", 2, 1, 0),
    ]


async def test_a_lane_that_is_being_made_holds_up_nobody(world: World, connect: Connect) -> None:
    slow = await World.on(await connect())
    async with slow.conn.transaction():
        (first,) = await slow.enqueue()
        (second,) = await world.enqueue()
        assert await world.claim_ids() == [second]
    assert await world.fetch(LANES) == (2,)
    assert await world.claim_ids() == [first]
    third = await world.enqueue(2)
    assert await world.claim_ids() == third


async def test_a_lane_whose_maker_rolled_back_is_made_by_the_next(world: World) -> None:
    async with world.rolled_back():
        await world.enqueue()
    assert await world.fetch(LANES) == (0,)
    (job,) = await world.enqueue()
    assert await world.claim_ids() == [job]


async def test_both_copies_of_a_lane_are_moved_cancelled_and_aged(
    world: World, connect: Connect
) -> None:
    slow = await World.on(await connect())
    async with slow.conn.transaction():
        first = await slow.enqueue(2)
        second = await world.enqueue(2)
    assert await world.cancel([first[0], second[0]]) == sorted([first[0], second[0]])
    assert await world.move([first[1], second[1]], "other") == {
        first[1]: "moved",
        second[1]: "moved",
    }
    assert sorted(await world.claim_ids(queue="other")) == sorted([first[1], second[1]])
    assert await world.claim_ids() == []
    await world.audit()
