"""Schedules as programs and operators see them: declared, fired, listed, paused, resumed, triggered.

The leader fires. It may be late, replaced, or not alone: a tick belongs to whoever moves the schedule on, in the
transaction that enqueues the tick's job.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from awa.db.run import Connection
from awa.events import cron as events
from awa.model.cron import (
    Missed,
    Schedule,
    check_schedule_name,
    explain,
    latest_tick,
    next_tick,
    next_ticks,
)
from awa.model.errors import AwaError, NotFound, UniqueConflict, ValidationError
from awa.model.job import Job
from awa.model.limits import PAGE_DEFAULT_ROWS, check_actor, check_page
from awa.operations.failures import Failure, judge
from awa.operations.reading import cursors
from awa.operations.single import get_job
from awa.storage import cron

DUE_MAX_SCHEDULES: Final = 50
CATCH_UP_MAX_TICKS: Final = 100
NEXT_FIRES: Final = 5

Row = dict[str, Any]


async def declare(conn: Connection, app: str, schedules: Iterable[Schedule]) -> None:
    """Write a program's schedules down. Those of an app that no program declares are retired by the leader."""
    async with conn.transaction():
        now = await cron.clock(conn)
        # In one order, so that two programs that start at once never wait for each other in a circle.
        for schedule in sorted(schedules, key=lambda one: one.name):
            following = next_tick(schedule.cron_expr, schedule.timezone, now)
            await cron.declare(conn, app, schedule, following)


async def fire_due(conn: Connection, now: datetime | None = None) -> int:
    """Fire what is due; answers how many schedules, and `DUE_MAX_SCHEDULES` if there may be more."""
    due = await cron.due(conn, max_rows=DUE_MAX_SCHEDULES, now=now)
    left = False
    for row in due:
        left = await _fire(conn, row) or left
    return DUE_MAX_SCHEDULES if left else len(due)


def _ticks_of(row: Row) -> tuple[list[datetime], datetime | None]:
    """The ticks to fire now, and the one that follows them."""
    when = row["cron_expr"], row["timezone"]
    first, now = row["next_fire_at"], row["now"]
    if row["missed"] == Missed.COALESCE:
        return [latest_tick(*when, now) or first], next_tick(*when, now)
    later = next_ticks(*when, first, CATCH_UP_MAX_TICKS)
    ticks = [first, *(tick for tick in later if tick <= now)][:CATCH_UP_MAX_TICKS]
    return ticks, next_tick(*when, ticks[-1])


async def _fire(conn: Connection, row: Row) -> bool:
    """Fire one schedule; answers whether it is still behind. One that can't be fired stops, and says why."""
    name, seen = row["name"], row["next_fire_at"]
    try:
        ticks, following = _ticks_of(row)
        async with conn.transaction():
            ids = await cron.fire(conn, name, seen, ticks, following)
    except AwaError as problem:
        if not isinstance(problem, ValidationError) and judge(problem) is Failure.TRY_AGAIN:
            events.held_up(
                name, problem
            )  # who has its unique key in hands must not hold up the others
            return False
        if not isinstance(problem, ValidationError) and judge(problem) is not Failure.BAD_ROW:
            raise
        events.failed(name, problem)
        await cron.fail(conn, name, seen, None, str(problem))
        return False
    if ids:
        events.fired(name, len(ids))
    return following is not None and following <= row["now"]


async def retire(conn: Connection, now: datetime | None = None) -> int:
    """Retire what no program declares any more; answers how many schedules came or went."""
    changed = await cron.retire(conn, now=now)
    for row in changed:
        events.retired(row["name"], back=row["retired_at"] is None)
    return len(changed)


async def page(
    conn: Connection,
    *,
    retired: bool = False,
    limit: int = PAGE_DEFAULT_ROWS,
    cursor: str | None = None,
) -> tuple[list[Row], str | None]:
    """Schedules by name, each with its state, its next fires and the expression in words."""
    rows = await cron.page(
        conn,
        after=cursors.decode_name(cursor),
        retired=retired,
        max_rows=check_page(limit) + 1,
    )
    shown = [_told(row) for row in rows[:limit]]
    return shown, cursors.encode(shown[-1]["name"]) if len(rows) > limit else None


async def get(conn: Connection, name: str) -> Row:
    """One schedule. Raises NotFound."""
    rows = await cron.page(conn, name=check_schedule_name(name), retired=True, max_rows=1)
    if not rows:
        raise _no_such(name)
    return _told(rows[0])


async def pause(conn: Connection, name: str, paused_by: str | None = None) -> Row:
    """Stop a schedule's fires; pausing twice keeps who did it first. Raises NotFound."""
    by = None if paused_by is None else check_actor(paused_by, field="paused_by")
    if not await cron.pause(conn, check_schedule_name(name), by):
        raise _no_such(name)
    return await get(conn, name)


async def resume(conn: Connection, name: str) -> Row:
    """Let a schedule fire again; what passed during the pause is not made up for. Raises NotFound."""
    row = await get(conn, name)
    await cron.resume(conn, name, next_tick(row["cron_expr"], row["timezone"], row["now"]))
    return await get(conn, name)


async def trigger(conn: Connection, name: str) -> Job[Any]:
    """Enqueue a schedule's job now, beside its ticks. Raises NotFound, UniqueConflict."""
    came = await cron.trigger(conn, check_schedule_name(name))
    if came is None:
        raise _no_such(name)
    job_id, outcome = came
    if outcome == "conflict":
        raise UniqueConflict(
            f"the schedule {name!r} brought no job: job {job_id} holds its unique key",
            hint="trigger it when that job has ended, or cancel that one",
            job_id=job_id,
        )
    return replace(await get_job(conn, job_id), insertion=outcome)


def _told(row: Row) -> Row:
    """What a reader wants to know beside the row."""
    fires = row["paused_at"] is None and row["retired_at"] is None
    upcoming: list[datetime] = []
    if fires and row["next_fire_at"] is not None:
        upcoming = [row["next_fire_at"]]
        upcoming += next_ticks(row["cron_expr"], row["timezone"], upcoming[0], NEXT_FIRES - 1)
    state = "retired" if row["retired_at"] else "paused" if row["paused_at"] else "active"
    return {**row, "state": state, "description": explain(row["cron_expr"]), "next_fires": upcoming}


def _no_such(name: str) -> NotFound:
    return NotFound(f"there is no schedule {name!r}", hint="see: awa cron list --all")
