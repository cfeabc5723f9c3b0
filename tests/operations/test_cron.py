"""Schedules in the database: declared, fired once a tick, paused, resumed, triggered, retired."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from psycopg import AsyncConnection

from awa.model.cron import make_schedule
from awa.model.errors import NotFound, ValidationError
from awa.operations import cron
from awa.storage import runtimes

Conn = AsyncConnection[Any]
NOON = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
TICKS = "SELECT metadata->'_awa_cron'->>'tick' FROM awa.jobs ORDER BY id"


async def declare(conn: Conn, name: str = "tick", expr: str = "*/5 * * * *", **more: Any) -> None:
    """A schedule that says so; its next tick is the first after noon."""
    app = more.pop("app", "shop")
    options = {"kind": "tick", "queue": "beats", **more.pop("options", {})}
    schedule = make_schedule(name, expr, {"n": 1}, options=options, **more)
    await cron.declare(conn, app, [schedule])
    await at_noon(conn, name)


async def at_noon(conn: Conn, name: str = "tick") -> None:
    """As if it had been declared at noon."""
    first = NOON + timedelta(minutes=5)
    await conn.execute("UPDATE awa.cron_jobs SET next_fire_at = %s WHERE name = %s", [first, name])


async def ticks(conn: Conn) -> list[datetime]:
    """The ticks of the jobs that were enqueued."""
    cursor = await conn.execute(TICKS)
    return [datetime.fromisoformat(row[0]) for row in await cursor.fetchall()]


def minutes(*after_noon: float) -> list[datetime]:
    """Times after noon."""
    return [NOON + timedelta(minutes=m) for m in after_noon]


async def test_a_tick_is_fired_when_it_is_due_and_once(conn: Conn) -> None:
    await declare(conn, options={"priority": 1, "tags": ["t"], "metadata": {"m": 2}})
    assert await cron.fire_due(conn, minutes(4.9)[0]) == 0
    assert await cron.fire_due(conn, minutes(5)[0]) == 1
    assert await cron.fire_due(conn, minutes(5)[0]) == 0
    assert await ticks(conn) == minutes(5)
    cursor = await conn.execute(
        "SELECT kind, queue, priority, state, args::text, tags, metadata->>'m' FROM awa.jobs"
    )
    assert await cursor.fetchall() == [("tick", "beats", 1, "available", '{"n":1}', ["t"], "2")]
    row = await cron.get(conn, "tick")
    assert (row["last_tick_at"], row["next_fire_at"]) == tuple(minutes(5, 10))
    assert (row["fired_count"], row["last_job_state"]) == (1, "available")


async def test_missed_ticks_become_one_job_at_the_latest_of_them(conn: Conn) -> None:
    await declare(conn)
    assert await cron.fire_due(conn, minutes(23)[0]) == 1
    assert await ticks(conn) == minutes(20)
    assert (await cron.get(conn, "tick"))["next_fire_at"] == minutes(25)[0]


async def test_missed_ticks_are_all_made_up_for_if_asked(conn: Conn) -> None:
    await declare(conn, missed="catch_up")
    assert await cron.fire_due(conn, minutes(23)[0]) == 1
    assert await ticks(conn) == minutes(5, 10, 15, 20)


async def test_a_long_absence_is_made_up_for_in_steps(conn: Conn) -> None:
    await declare(conn, missed="catch_up")
    late = NOON + timedelta(minutes=5 * 250)
    steps = 1
    while await cron.fire_due(conn, late) == cron.DUE_MAX_SCHEDULES:
        steps += 1
    assert steps == 3
    assert await ticks(conn) == [NOON + timedelta(minutes=5 * n) for n in range(1, 251)]


async def test_many_schedules_that_are_due_are_fired_in_steps(conn: Conn) -> None:
    for n in range(cron.DUE_MAX_SCHEDULES + 1):
        await declare(conn, f"s{n:03}")
    assert await cron.fire_due(conn, minutes(6)[0]) == cron.DUE_MAX_SCHEDULES
    assert await cron.fire_due(conn, minutes(6)[0]) == 1


async def test_a_fire_into_a_paused_queue_waits_there(conn: Conn) -> None:
    await conn.execute("INSERT INTO awa.queue_meta (queue, paused) VALUES ('beats', true)")
    await declare(conn)
    await cron.fire_due(conn, minutes(6)[0])
    assert (await cron.get(conn, "tick"))["last_job_state"] == "available"


async def test_a_paused_schedule_fires_nothing_and_makes_up_for_nothing(conn: Conn) -> None:
    await declare(conn, missed="catch_up")
    paused = await cron.pause(conn, "tick", "alice")
    assert (paused["state"], paused["paused_by"], paused["next_fires"]) == ("paused", "alice", [])
    assert (await cron.pause(conn, "tick", "bob"))["paused_by"] == "alice"
    assert await cron.fire_due(conn, minutes(60)[0]) == 0
    resumed = await cron.resume(conn, "tick")
    assert resumed["state"] == "active"
    assert resumed["next_fire_at"] > resumed["now"]
    assert await ticks(conn) == []


async def test_resuming_what_is_not_paused_keeps_its_next_tick(conn: Conn) -> None:
    await declare(conn)
    assert (await cron.resume(conn, "tick"))["next_fire_at"] == minutes(5)[0]


async def test_triggered_by_hand_it_keeps_its_times(conn: Conn) -> None:
    await declare(conn)
    await cron.pause(conn, "tick")
    job = await cron.trigger(conn, "tick")
    assert (job.kind, job.queue, job.state) == ("tick", "beats", "available")
    assert job.metadata["_awa_cron"] == {"name": "tick", "tick": None}
    row = await cron.get(conn, "tick")
    assert (row["next_fire_at"], row["last_job_id"]) == (minutes(5)[0], job.id)


async def test_declared_again_it_keeps_what_it_missed_and_who_paused_it(conn: Conn) -> None:
    await declare(conn)
    await cron.pause(conn, "tick", "alice")
    schedule = make_schedule(
        "tick", "*/5 * * * *", {"n": 2}, options={"kind": "tick", "queue": "new"}
    )
    await cron.declare(conn, "shop", [schedule])
    row = await cron.get(conn, "tick")
    assert (row["next_fire_at"], row["paused_by"]) == (minutes(5)[0], "alice")
    assert (row["queue"], row["args"]) == ("new", {"n": 2})


@pytest.mark.parametrize(
    ("expr", "zone"), [("*/7 * * * *", "UTC"), ("*/5 * * * *", "Europe/Berlin")]
)
async def test_with_other_times_it_begins_anew(conn: Conn, expr: str, zone: str) -> None:
    await declare(conn)
    schedule = make_schedule("tick", expr, {}, timezone=zone, options={"kind": "tick"})
    await cron.declare(conn, "shop", [schedule])
    row = await cron.get(conn, "tick")
    assert row["next_fire_at"] > row["now"]


async def test_what_no_living_program_declares_is_retired_and_comes_back(conn: Conn) -> None:
    await declare(conn, "kept")
    await declare(conn, "gone")
    await declare(conn, "others", app="billing")
    assert await cron.retire(conn) == 0, "nobody is alive: an outage retires nothing"
    old, new, house = uuid4(), uuid4(), uuid4()
    await runtimes.register(conn, house, ["maintenance"], {})
    both = ["kept", "gone"]
    await runtimes.register(conn, old, ["worker"], {}, app="shop", schedules=both)
    await runtimes.register(conn, new, ["worker"], {}, app="shop", schedules=["kept"])
    assert await cron.retire(conn) == 0, "an old program is still at work"
    await runtimes.stop(conn, old)
    assert await cron.retire(conn) == 1
    assert await states(conn) == {"gone": "retired", "kept": "active", "others": "active"}
    assert await cron.fire_due(conn, minutes(6)[0]) == 2
    await runtimes.register(conn, uuid4(), ["worker"], {}, app="shop", schedules=["gone"])
    assert await cron.retire(conn) == 1
    assert await states(conn) == {"gone": "active", "kept": "active", "others": "active"}


async def test_a_program_that_declares_no_schedule_any_more_retires_its_last_one(
    conn: Conn,
) -> None:
    await declare(conn)
    await runtimes.register(conn, uuid4(), ["worker"], {}, app="shop", schedules=[])
    assert await cron.retire(conn) == 1


async def test_what_comes_back_makes_up_for_nothing(conn: Conn) -> None:
    await declare(conn, missed="catch_up")
    await runtimes.register(conn, uuid4(), ["worker"], {}, app="shop", schedules=[])
    await cron.retire(conn)
    schedule = make_schedule("tick", "*/5 * * * *", {}, options={"kind": "tick"})
    await cron.declare(conn, "shop", [schedule])
    row = await cron.get(conn, "tick")
    assert row["next_fire_at"] > row["now"]


async def test_a_schedule_that_cannot_be_fired_stops_alone_and_says_why(conn: Conn) -> None:
    await declare(conn, "a broken")
    await declare(conn, "b good")
    await conn.execute("UPDATE awa.cron_jobs SET cron_expr = 'nonsense' WHERE name = 'a broken'")
    assert await cron.fire_due(conn, minutes(6)[0]) == 2
    assert len(await ticks(conn)) == 1
    row = await cron.get(conn, "a broken")
    assert row["next_fire_at"] is None
    assert "cron_expr" in row["last_error"]


async def test_pages_by_name(conn: Conn) -> None:
    for name in "cab":
        await declare(conn, name)
    first, cursor = await cron.page(conn, limit=2)
    assert [row["name"] for row in first] == ["a", "b"]
    rest, end = await cron.page(conn, limit=2, cursor=cursor)
    assert [row["name"] for row in rest] == ["c"]
    assert end is None
    assert [fire.minute for fire in first[0]["next_fires"]] == [5, 10, 15, 20, 25]
    assert first[0]["description"] == "Every fifth minute of every hour"


async def test_unknown_names_are_not_found(conn: Conn) -> None:
    for deed in (cron.get, cron.pause, cron.resume, cron.trigger):
        with pytest.raises(NotFound, match="no schedule 'nothing'"):
            await deed(conn, "nothing")
    with pytest.raises(ValidationError):
        await cron.page(conn, cursor="%%%")


async def states(conn: Conn) -> dict[str, str]:
    """Every schedule's state."""
    rows, _cursor = await cron.page(conn, retired=True)
    return {row["name"]: row["state"] for row in rows}
