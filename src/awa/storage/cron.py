"""Schedules: declaring, firing, pausing."""

from collections.abc import Sequence
from datetime import datetime

from psycopg.types.json import Jsonb

from awa.db import run
from awa.db.run import Connection, Row
from awa.model.cron import Schedule


async def clock(conn: Connection) -> datetime:
    """The database's clock, by which ticks are due."""
    now = await run.value(conn, "cron/clock")
    assert isinstance(now, datetime)
    return now


async def declare(
    conn: Connection, app: str, schedule: Schedule, next_fire_at: datetime | None
) -> None:
    """Writes a schedule down, or anew; pause and history stay."""
    options = schedule.job.options
    await run.rows(
        conn,
        "cron/declare",
        {
            "app": app,
            "name": schedule.name,
            "cron_expr": schedule.cron_expr,
            "timezone": schedule.timezone,
            "missed": schedule.missed.value,
            "kind": schedule.job.kind,
            "queue": schedule.queue,
            "priority": options.priority,
            "max_attempts": options.max_attempts,
            "args": schedule.job.args_json.decode(),
            "tags": options.tags,
            "metadata": None if options.metadata is None else Jsonb(options.metadata),
            "ordering_key": options.ordering_key,
            "concurrency_key": options.concurrency_key,
            "concurrency_limit": options.concurrency_limit,
            "unique_opts": None if options.unique_opts is None else Jsonb(options.unique_opts),
            "next_fire_at": next_fire_at,
        },
    )


async def due(conn: Connection, *, max_rows: int, now: datetime | None = None) -> list[Row]:
    """Schedules whose next tick has come, the longest due first."""
    return await run.rows(conn, "cron/due", {"now": now, "max_rows": max_rows})


async def fire(
    conn: Connection,
    name: str,
    seen: datetime,
    ticks: Sequence[datetime],
    following: datetime | None,
) -> list[int]:
    """Enqueues a job a tick and moves the schedule on; [] if it isn't as it was seen any more."""
    params = {"name": name, "seen": seen, "ticks": list(ticks), "next": following}
    ids: list[int] = await run.value(conn, "cron/fire", params)
    return ids


async def fail(
    conn: Connection, name: str, seen: datetime, following: datetime | None, error: str
) -> None:
    """Notes why a schedule could not be fired, and moves it on."""
    await run.count(
        conn, "cron/fail", {"name": name, "seen": seen, "next": following, "error": error}
    )


async def trigger(conn: Connection, name: str) -> tuple[int, str] | None:
    """Enqueues a schedule's job now; its id and what came of it (see awa.enqueue_unique), None if there is no such schedule."""
    ((job_id, outcome),) = await run.tuples(conn, "cron/trigger", {"name": name})
    return None if job_id is None else (job_id, outcome)


async def pause(conn: Connection, name: str, paused_by: str | None) -> bool:
    """Stops its fires; answers whether there is such a schedule."""
    return bool(await run.rows(conn, "cron/pause", {"name": name, "paused_by": paused_by}))


async def resume(conn: Connection, name: str, next_fire_at: datetime | None) -> bool:
    """Lets it fire again from `next_fire_at` on; answers whether there is such a schedule."""
    return bool(await run.rows(conn, "cron/resume", {"name": name, "next_fire_at": next_fire_at}))


async def page(
    conn: Connection,
    *,
    name: str | None = None,
    after: str | None = None,
    retired: bool = False,
    max_rows: int,
) -> list[Row]:
    """Schedules by name."""
    params = {"name": name, "after": after, "retired": retired, "max_rows": max_rows}
    return await run.rows(conn, "cron/list", params)


async def retire(conn: Connection, *, now: datetime | None = None) -> list[Row]:
    """Retires what no program declares any more and brings back what one does: rows of name, retired_at."""
    return await run.rows(conn, "cron/retire", {"now": now})
