"""Schedules under several leaders and operators: a tick is fired once, and a pause holds from the moment it is said."""

from datetime import UTC, datetime, timedelta
from typing import Any

from awa.model.cron import make_schedule
from awa.operations import cron
from tests.proofs.stage import Actor, Stage

DUE = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
LATER = DUE + timedelta(seconds=30)
JOBS = "SELECT count(*) FROM awa.jobs WHERE kind = 'tick'"


async def declared(actor: Actor) -> None:
    """A schedule whose tick is due."""
    schedule = make_schedule("tick", "* * * * *", {}, options={"kind": "tick"})
    await cron.declare(actor.conn, "shop", [schedule])
    await actor.conn.execute("UPDATE awa.cron_jobs SET next_fire_at = %s", [DUE])


async def jobs(actor: Actor) -> int:
    """How many jobs the schedule has enqueued."""
    found: tuple[Any, ...] = await actor.fetch(JOBS)
    return int(found[0])


async def test_two_leaders_fire_a_tick_once(stage: Stage) -> None:
    first, second = await stage.actors(2)
    await declared(first)
    firing = first.stopped_at("cron.after_lock", cron.fire_due(first.conn, LATER))
    async with stage.until_end() as both, firing:
        await both.enter_async_context(second.blocked(cron.fire_due(second.conn, LATER)))
    assert await jobs(first) == 1
    assert await cron.fire_due(second.conn, LATER) == 0
    assert await jobs(first) == 1


async def test_a_leader_that_dies_while_it_fires_leaves_the_tick_to_the_next(stage: Stage) -> None:
    first, second = await stage.actors(2)
    await declared(first)
    async with first.rolled_back():
        assert await cron.fire_due(first.conn, LATER) == 1
    assert await jobs(second) == 0
    assert await cron.fire_due(second.conn, LATER) == 1
    assert await jobs(second) == 1


async def test_a_pause_that_came_first_stops_the_fire(stage: Stage) -> None:
    leader, operator = await stage.actors(2)
    await declared(leader)
    async with stage.until_end() as firing, operator.conn.transaction():
        await cron.pause(operator.conn, "tick", "alice")
        await firing.enter_async_context(leader.blocked(cron.fire_due(leader.conn, LATER)))
    assert await jobs(leader) == 0


async def test_a_pause_that_came_second_stops_the_next_fire(stage: Stage) -> None:
    leader, operator = await stage.actors(2)
    await declared(leader)
    firing = leader.stopped_at("cron.after_lock", cron.fire_due(leader.conn, LATER))
    async with stage.until_end() as pausing, firing:
        await pausing.enter_async_context(operator.blocked(cron.pause(operator.conn, "tick")))
    assert await jobs(leader) == 1
    assert await cron.fire_due(leader.conn, LATER + timedelta(minutes=5)) == 0
    assert await jobs(leader) == 1


async def test_a_retirement_that_came_first_stops_the_fire(stage: Stage) -> None:
    leader, program = await stage.actors(2)
    await declared(leader)
    await program.conn.execute("UPDATE awa.runtimes SET app = 'shop', schedules = '{}'")
    async with stage.until_end() as firing, program.conn.transaction():
        assert await cron.retire(program.conn) == 1
        await firing.enter_async_context(leader.blocked(cron.fire_due(leader.conn, LATER)))
    assert await jobs(leader) == 0
