"""The whole at a glance: is it all right, how fast does it go, what waits, who is there."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from awa.db import run
from awa.db.run import Connection, Row
from awa.model import histogram
from awa.model.filter import JobFilter
from awa.operations.reading import activity, queues, runtimes, verdict
from awa.operations.reading.bounds import bounded, clock
from awa.operations.reading.counting import counts_by_state

BACKLOG_MAX_ROWS: Final = 10
OPERATIONS_MAX_ROWS: Final = 20
PAUSED_MAX_ROWS: Final = 1_000
SERIES_MINUTES: Final = 60


async def overview(
    conn: Connection, *, stale_after_s: float = runtimes.STALE_AFTER_S
) -> dict[str, Any]:
    """Everything that the first page shows; see docs/reference/http.md for each field."""
    async with bounded(conn, "the overview", "try again in a moment"):
        now = await clock(conn)
        fresh = await activity.freshness(conn)
        waiting, _ = await queues.backlog(conn, None)
        paused = {
            row["queue"]: row
            for row in await run.rows(conn, "reading/paused", {"max_rows": PAUSED_MAX_ROWS})
        }
        seen = {
            "at": now,
            "throughput": await _throughput(conn, fresh),
            "statistics_age_s": fresh.age_s,
            "series": await activity.series(conn, "all", "", now=now, minutes=SERIES_MINUTES),
            "backlog": _backlog(waiting, paused, now),
            "totals": await counts_by_state(conn, JobFilter()),
            "oldest_waiting": _oldest(waiting, now),
            "pickup": await _pickup(conn),
            "operations": await run.rows(
                conn, "reading/open_operations", {"max_rows": OPERATIONS_MAX_ROWS}
            ),
            "runtimes": await run.row(conn, "reading/runtime_counts", {"stale_s": stale_after_s}),
            "leader": await runtimes.leader(conn),
            "ring": await _ring(conn),
        }
        served = {row["queue"] for row in await run.rows(conn, "reading/servers")}
        recent = await activity.sums(conn, "all", None, verdict.FAILURES_S)
    findings = verdict.findings(seen, waiting, paused, served, recent.get("", {}))
    return {**seen, "verdict": {"level": verdict.level(findings), "findings": findings}}


async def _throughput(conn: Connection, fresh: activity.Freshness) -> dict[str, float | None]:
    done = (await activity.sums(conn, "all", None, activity.NOW_S)).get("", {})
    names = {"enqueued": "arrived"} | {
        name: name for name in ("started", "completed", "failed", "retried")
    }
    return {f"{name}_per_s": fresh.rate(done.get(column, 0)) for name, column in names.items()}


def _backlog(
    waiting: Mapping[str, queues.Backlog], paused: Mapping[str, Row], now: datetime
) -> list[dict[str, Any]]:
    fullest = sorted(waiting.items(), key=lambda item: (-item[1].total.jobs, item[0]))
    return [
        {
            "queue": name,
            "available": one.total,
            "oldest_age_s": None if one.oldest is None else age_s(one.oldest, now),
            "paused": name in paused,
        }
        for name, one in fullest[:BACKLOG_MAX_ROWS]
        if one.total.jobs
    ]


def _oldest(waiting: Mapping[str, queues.Backlog], now: datetime) -> dict[str, Any] | None:
    found = [(one.oldest, name) for name, one in waiting.items() if one.oldest is not None]
    if not found:
        return None
    at, name = min(found)
    return {"queue": name, "age_s": age_s(at, now), "at": at}


def age_s(at: datetime, now: datetime) -> float:
    """How long ago it was, never less than nothing."""
    return max(0.0, (now - at).total_seconds())


async def _pickup(conn: Connection) -> dict[str, Any] | None:
    params = {"scope": "all", "names": None, "since_s": activity.LATENCY_S}
    found = await run.row(conn, "reading/activity_histograms", params)
    if found is None or not sum(found["pickup"]):
        return None
    waits = found["pickup"]
    shares = {f"p{n}_ms": histogram.percentile_ms(waits, n / 100) for n in (50, 95, 99)}
    return {**shares, "jobs": sum(waits)}


async def _ring(conn: Connection) -> dict[str, Any]:
    ring = await run.row(conn, "reading/ring")
    assert ring is not None
    snapshot = await run.row(conn, "reading/oldest_snapshot")
    return {**ring, "bytes": sum(ring["slot_bytes"]), "oldest_snapshot": snapshot}
