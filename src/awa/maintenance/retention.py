"""Retention: what has ended is kept for a while and then forgotten: failed and cancelled jobs, answered callbacks, runtimes, sessions."""

from datetime import datetime

from awa.config import Settings
from awa.db import run
from awa.db.run import Connection
from awa.events import upkeep as events
from awa.maintenance.duty import RunOnce
from awa.storage import callbacks, dead_letters, follow_ups
from awa.storage.retention import MAX_ROWS, retain_finished

BOUND_JOBS = MAX_ROWS
BOUND_LETTERS = dead_letters.MAX_ROWS
BOUND_CALLBACKS = callbacks.MAX_CALLBACKS
BOUND_RUNTIMES = 500
BOUND_SESSIONS = 1_000
BOUND_FOLLOW_UPS = follow_ups.MAX_OWED
RUNTIME_KEEP_S = 24 * 3600.0
HOUR_S = 3600
DAY_S = 86_400


def job_retainer(settings: Settings) -> RunOnce:
    """The duty that deletes finished jobs whose retention is over."""

    async def run_once(conn: Connection, now: datetime | None = None) -> int:
        return await retain_finished(
            conn,
            keep_s=settings.failed_retention_hours * HOUR_S,
            completed_keep_s=settings.completed_retention_hours * HOUR_S,
            max_rows=BOUND_JOBS,
            now=now,
        )

    return run_once


def letter_retainer(settings: Settings) -> RunOnce:
    """The duty that deletes dead letters whose retention is over."""

    async def run_once(conn: Connection, now: datetime | None = None) -> int:
        return await dead_letters.retain(
            conn, keep_s=settings.dlq_retention_days * DAY_S, max_rows=BOUND_LETTERS, now=now
        )

    return run_once


def callback_retainer(settings: Settings) -> RunOnce:
    """The duty that deletes callbacks whose answer is old."""

    async def run_once(conn: Connection, now: datetime | None = None) -> int:
        return await callbacks.retain(
            conn,
            keep_s=settings.callback_retention_hours * HOUR_S,
            max_rows=BOUND_CALLBACKS,
            now=now,
        )

    return run_once


def follow_up_retainer(settings: Settings) -> RunOnce:
    """The duty that gives up follow-ups that are owed for as long as a failed job is kept."""

    async def run_once(conn: Connection, now: datetime | None = None) -> int:
        given_up = await follow_ups.give_up(
            conn, keep_s=settings.failed_retention_hours * HOUR_S, now=now
        )
        events.gave_up_follow_ups(given_up)
        return given_up

    return run_once


async def forget_runtimes(conn: Connection, now: datetime | None = None) -> int:
    """Delete rows of runtimes that ended a day ago and own no open attempt."""
    params = {"keep_s": RUNTIME_KEEP_S, "limit": BOUND_RUNTIMES, "now": now}
    return await run.count(conn, "maintenance/forget_runtimes", params)


async def forget_sessions(conn: Connection, now: datetime | None = None) -> int:
    """Delete what says that a session has ended, when its cookie is too old anyway."""
    return await run.count(
        conn, "maintenance/forget_sessions", {"limit": BOUND_SESSIONS, "now": now}
    )
