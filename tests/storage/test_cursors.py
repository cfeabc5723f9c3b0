"""Cursors of lanes that nobody claims from: they pass what was moved away, and nothing else."""

import pytest

from tests.storage.world import World

pytestmark = pytest.mark.lanes

CURSOR = "SELECT h.cursor FROM awa.lane_heads h WHERE h.queue = 'default' AND h.priority = 2"


async def cursor(world: World) -> int:
    (found,) = await world.fetch(CURSOR)
    assert isinstance(found, int)
    return found


async def test_a_cursor_passes_what_was_moved_away_up_to_the_first_job_that_waits(
    world: World,
) -> None:
    ids = await world.enqueue(10)
    await world.move(ids[:4], "b")
    await world.cancel(ids[5:6])
    assert await world.advance() == 1
    assert await cursor(world) == ids[4]
    assert await world.advance() == 0
    await world.audit()
    assert await world.claim_ids() == [ids[4], *ids[6:]]


async def test_a_lane_that_was_emptied_is_passed_whole(world: World) -> None:
    """In one large piece and in many small ones; other lanes have the positions between those."""
    ids = [(await world.enqueue(1, priority=1 + number % 2))[0] for number in range(120)]
    more = await world.enqueue(200)
    await world.move([*ids, *more], "b")
    while await world.advance():
        pass
    (left,) = await world.fetch(
        "SELECT count(*) FROM awa.lane_heads h JOIN awa.ready_entries r"
        " ON r.lane_id = h.lane_id AND r.lane_seq >= h.cursor WHERE h.queue = 'default'"
    )
    assert left == 0
    await world.audit()
    assert sorted(await world.claim_ids(1_000, "b")) == sorted([*ids, *more])


async def test_a_long_way_is_gone_in_parts(world: World) -> None:
    ids: list[int] = []
    for _ in range(12):
        ids += await world.enqueue(1_000)
        await world.enqueue(1, "other")
    await world.move([one for one in ids if one % 7], "b")
    left = [one for one in ids if not one % 7]
    await world.cancel(left[:-3])
    calls = 0
    while await world.advance():
        calls += 1
    assert calls > 1
    assert await cursor(world) == left[-3]
    assert await world.claim_ids() == left[-3:]


async def test_only_so_many_lanes_are_held_at_once(world: World) -> None:
    for queue in "abc":
        await world.cancel(await world.enqueue(2, queue))
    assert await world.advance(max_lanes=2) == 2
    assert await world.advance(max_lanes=2) == 1
    assert await world.advance() == 0


async def test_nothing_is_written_where_nothing_is_to_be_passed(world: World) -> None:
    await world.enqueue(3)
    await world.cancel((await world.enqueue(3))[:1])
    (before,) = await world.fetch("SELECT count(*) FROM awa.lane_claims")
    assert await world.advance() == 0
    assert await world.fetch("SELECT count(*) FROM awa.lane_claims") == (before,)


async def test_history_that_the_ring_has_moved_on_from_is_no_hindrance(world: World) -> None:
    ids = await world.enqueue(6)
    await world.move(ids[:3], "b")
    assert await world.rotate() == "rotated"
    await world.cancel(ids[3:4])
    assert await world.advance() == 1
    assert await world.prune() == "pruned"
    assert await world.claim_ids() == ids[4:]
    await world.audit()
