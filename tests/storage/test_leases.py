"""Leases: one holder at a time, by the database's clock, and a fence that grows with each new one."""

from uuid import uuid4

from awa.db import run
from awa.storage import leases
from tests.conftest import Connect
from tests.storage.world import World

NAME = "maintenance"


async def test_a_free_lease_goes_to_whoever_asks_first(world: World) -> None:
    first, second = uuid4(), uuid4()
    now = await world.now()
    mine = await leases.take(world.conn, NAME, first, ttl_s=10, now=now)
    assert (mine.held, mine.holder, mine.fence) == (True, first, 1)
    assert (mine.expires_at - now).total_seconds() == 10
    theirs = await leases.take(world.conn, NAME, second, ttl_s=10, now=now)
    assert (theirs.held, theirs.holder, theirs.fence) == (False, first, 1)


async def test_the_holder_renews_it_under_the_same_fence(world: World) -> None:
    holder, now = uuid4(), await world.now()
    first = await leases.take(world.conn, NAME, holder, ttl_s=10, now=now)
    later = await leases.take(world.conn, NAME, holder, ttl_s=10, now=first.expires_at)
    assert (later.held, later.fence) == (True, first.fence)
    assert (later.expires_at - now).total_seconds() == 20


async def test_it_is_held_to_its_last_moment_and_not_longer(world: World) -> None:
    first, second = uuid4(), uuid4()
    now = await world.now()
    mine = await leases.take(world.conn, NAME, first, ttl_s=10, now=now)
    just_before = await world.fetch("SELECT %s::timestamptz - interval '1 us'", mine.expires_at)
    assert not (await leases.take(world.conn, NAME, second, ttl_s=10, now=just_before[0])).held
    taken = await leases.take(world.conn, NAME, second, ttl_s=10, now=mine.expires_at)
    assert (taken.held, taken.holder, taken.fence) == (True, second, 2)


async def test_a_deposed_holder_finds_out(world: World) -> None:
    first, second = uuid4(), uuid4()
    now = await world.now()
    mine = await leases.take(world.conn, NAME, first, ttl_s=10, now=now)
    await leases.take(world.conn, NAME, second, ttl_s=10, now=mine.expires_at)
    again = await leases.take(world.conn, NAME, first, ttl_s=10, now=mine.expires_at)
    assert (again.held, again.holder) == (False, second)
    assert not await leases.release(world.conn, NAME, first)


async def test_a_released_lease_is_free_at_once(world: World) -> None:
    first, second = uuid4(), uuid4()
    await leases.take(world.conn, NAME, first, ttl_s=3600)
    assert await leases.release(world.conn, NAME, first)
    taken = await leases.take(world.conn, NAME, second, ttl_s=3600)
    assert (taken.held, taken.fence) == (True, 2)


async def test_how_long_a_lease_lasts_can_be_asked_at_any_time(world: World) -> None:
    """Also of one that was given back: a candidate that fails at this never leads."""
    holder = uuid4()
    await leases.take(world.conn, NAME, holder, ttl_s=60)
    assert 0 < (await left_s(world)) <= 60
    await leases.release(world.conn, NAME, holder)
    assert (await left_s(world)) <= 0


async def left_s(world: World) -> float:
    """Seconds until the lease runs out."""
    found = await run.row(world.conn, "maintenance/lease_left", {"name": NAME})
    assert found is not None
    return float(found["left_s"])


async def test_leases_of_other_names_are_other_leases(world: World) -> None:
    first, second = uuid4(), uuid4()
    await leases.take(world.conn, NAME, first, ttl_s=10)
    assert (await leases.take(world.conn, "another", second, ttl_s=10)).held


async def test_of_two_that_ask_at_once_one_has_it(world: World, connect: Connect) -> None:
    """The second waits for the first's word and then reads what it says."""
    other = await connect()
    first, second = uuid4(), uuid4()
    async with world.conn.transaction():
        mine = await leases.take(world.conn, NAME, first, ttl_s=60)
        await other.execute("SET lock_timeout = '100ms'")
        cursor = await other.execute("SELECT count(*) FROM awa.leases")
        assert await cursor.fetchone() == (0,)
    theirs = await leases.take(other, NAME, second, ttl_s=60)
    assert (mine.held, theirs.held, theirs.holder) == (True, False, first)
