"""Schedules whose jobs are unique: a tick whose key another job holds brings none, and the plan goes on."""

from typing import Any

import pytest
from psycopg import AsyncConnection

from awa.model.cron import make_schedule
from awa.model.errors import NotFound, UniqueConflict
from awa.model.task import Tasks
from awa.operations import cron
from tests.operations.test_cron import declare, minutes, ticks
from tests.storage.world import World

Conn = AsyncConnection[Any]


async def end(conn: Conn) -> None:
    """What waits in the queue is run and completed."""
    world = await World.on(conn)
    await world.finish(await world.claim(queue="beats"))


@pytest.mark.parametrize("policy", ["reject", "ignore"])
async def test_a_tick_while_the_key_is_held_brings_no_job(conn: Conn, policy: str) -> None:
    await declare(conn, options={"unique_opts": {"by_args": True, "on_conflict": policy}})
    for moment in minutes(5, 10, 15):
        assert await cron.fire_due(conn, moment) == 1
    assert await ticks(conn) == minutes(5)
    row = await cron.get(conn, "tick")
    assert (row["fired_count"], row["skipped_count"], row["last_error"]) == (1, 2, None)
    assert (row["next_fire_at"], row["last_tick_at"]) == tuple(minutes(20, 15))
    assert row["unique_opts"] == {"by_args": True, "on_conflict": policy}
    first = row["last_job_id"]
    await end(conn)
    await cron.fire_due(conn, minutes(20)[0])
    assert await ticks(conn) == minutes(5, 20)
    assert (await cron.get(conn, "tick"))["last_job_id"] > first


async def test_or_changes_the_one_that_waits(conn: Conn) -> None:
    await declare(conn, options={"unique_opts": {"by_args": False, "on_conflict": "replace"}})
    await cron.fire_due(conn, minutes(5)[0])
    await conn.execute("UPDATE awa.cron_jobs SET args = '{\"n\": 2}'")
    await cron.fire_due(conn, minutes(10)[0])
    cursor = await conn.execute("SELECT args::text FROM awa.jobs")
    assert await cursor.fetchall() == [('{"n": 2}',)]
    row = await cron.get(conn, "tick")
    assert (row["fired_count"], row["skipped_count"]) == (2, 0)


async def test_of_ticks_that_are_made_up_for_one_comes(conn: Conn) -> None:
    await declare(conn, missed="catch_up", options={"unique_opts": {}})
    await cron.fire_due(conn, minutes(23)[0])
    assert await ticks(conn) == minutes(5)
    row = await cron.get(conn, "tick")
    assert (row["fired_count"], row["skipped_count"], row["last_tick_at"]) == (1, 3, minutes(20)[0])


async def test_a_task_says_it_for_its_schedules(conn: Conn) -> None:
    tasks = Tasks()
    tasks.add(dict, lambda _job: None, kind="tick", queue="beats", unique_opts={"by_args": True})
    schedule = make_schedule("tick", "*/5 * * * *", {}, tasks=tasks, options={"kind": "tick"})
    await cron.declare(conn, "shop", [schedule])
    assert (await cron.get(conn, "tick"))["unique_opts"]["by_args"] is True


async def test_a_schedule_whose_arguments_lack_the_field_stops_and_says_so(conn: Conn) -> None:
    """It can come so far only by somebody's hand in the table."""
    await declare(conn, options={"unique_opts": {"by_args": True}})
    await conn.execute(
        """UPDATE awa.cron_jobs SET unique_opts = '{"by_args": ["a"]}', args = '{"A b": 1}'"""
    )
    await cron.fire_due(conn, minutes(5)[0])
    assert await ticks(conn) == []
    row = await cron.get(conn, "tick")
    assert "by_args names the field 'a', which these arguments lack" in row["last_error"]
    assert row["next_fire_at"] is None


async def test_one_that_is_triggered_names_the_holder(conn: Conn) -> None:
    await declare(conn, options={"unique_opts": {}})
    job = await cron.trigger(conn, "tick")
    assert job.insertion == "inserted"
    with pytest.raises(UniqueConflict, match=f"brought no job: job {job.id} holds") as told:
        await cron.trigger(conn, "tick")
    assert told.value.job_id == job.id
    await declare(conn, options={"unique_opts": {"on_conflict": "ignore"}})
    same = await cron.trigger(conn, "tick")
    assert (same.id, same.insertion) == (job.id, "ignored")
    assert (await cron.get(conn, "tick"))["fired_count"] == 1
    with pytest.raises(NotFound):
        await cron.trigger(conn, "nothing")


async def test_a_key_in_open_hands_holds_up_its_own_schedule_alone(
    conn: Conn, connect: Any
) -> None:
    await declare(conn, "a", options={"unique_opts": {"key": "k"}})
    await declare(conn, "b")
    other = await connect(autocommit=False)
    await other.execute(
        "SELECT awa.enqueue('tick', '{}', 'beats', unique_opts => '{\"key\": \"k\"}')"
    )
    await cron.fire_due(conn, minutes(6)[0])
    assert await ticks(conn) == minutes(5)  # of b
    await other.rollback()
    await cron.fire_due(conn, minutes(6)[0])
    assert await ticks(conn) == minutes(5, 5)
    assert (await cron.get(conn, "a"))["skipped_count"] == 0
