"""The whole at a glance: is it all right, how fast does it go, what waits, who is there."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from awa.db.run import Connection, Row
from awa.model import histogram
from awa.model.filter import JobFilter
from awa.operations.reading import activity, queues, runtimes, verdict
from awa.operations.reading.bounds import bounded, clock_look
from awa.operations.reading.counting import Counting, merged
from awa.operations.reading.counts import STATES, total
from awa.operations.reading.looks import Look, first, only, together

BACKLOG_MAX_ROWS: Final = 10
OPERATIONS_MAX_ROWS: Final = 20
PAUSED_MAX_ROWS: Final = 1_000
OWED_MAX_ROWS: Final = 1_000


async def overview(
    conn: Connection, *, stale_after_s: float = runtimes.STALE_AFTER_S
) -> dict[str, Any]:
    """Everything that the first page shows; see docs/reference/http.md for each field."""
    async with bounded(conn, "the overview", "try again in a moment"):
        found = await together(conn, _looks(stale_after_s))
        waiting = await queues.whole_backlog(conn, None, found["lanes"])
    seen = _seen(found, waiting)
    told = verdict.findings(
        seen, waiting, found["paused"], found["served"], found["recent"], owed=found["owed"]
    )
    return {**seen, "verdict": {"level": verdict.level(told), "findings": told}}


def _looks(stale_after_s: float) -> dict[str, Look[Any]]:
    """All that is asked, but for waiting jobs by state: they are counted once, by queue."""
    by_name = {"max_rows": PAUSED_MAX_ROWS}
    return {
        "now": clock_look(),
        "lanes": queues.backlog_look(None),
        **Counting(JobFilter()).elsewhere(),
        "fresh": activity.freshness(),
        "done": activity.sums("all", None, activity.NOW_S),
        "recent": _lately(),
        "notes": activity.notes("all", ""),
        "waits": activity.histograms("all", None),
        "paused": Look("reading/paused", by_name, lambda rows: {row["queue"]: row for row in rows}),
        "served": Look("reading/servers", {}, lambda rows: {row["queue"] for row in rows}),
        "operations": Look("reading/open_operations", {"max_rows": OPERATIONS_MAX_ROWS}, list),
        "hold": Look("operations/present_hold", {}, first),
        "owed": Look(
            "reading/owed_follow_ups", {"stale_s": stale_after_s, "limit": OWED_MAX_ROWS}, list
        ),
        "runtimes": Look("reading/runtime_counts", {"stale_s": stale_after_s}, first),
        "leader": runtimes.leader_look(),
        "ring": Look("reading/ring", {}, only),
        "snapshot": Look("reading/oldest_snapshot", {}, first),
    }


def _lately() -> Look[Mapping[str, int]]:
    sums = activity.sums("all", None, verdict.FAILURES_S)
    return Look(sums.asks, sums.params, lambda rows: sums.tell(rows).get("", {}))


def _seen(found: Mapping[str, Any], waiting: Mapping[str, queues.Backlog]) -> dict[str, Any]:
    now, fresh = found["now"], found["fresh"]
    available = {"available": total(one.total for one in waiting.values())}
    counts = merged(
        (available, *(found[place] for place in ("deferred", "running", "finished", "noted")))
    )
    snapshot = {"oldest_snapshot": found["snapshot"], "bytes": sum(found["ring"]["slot_bytes"])}
    return {
        "at": now,
        "throughput": _throughput(found["done"].get("", {}), fresh),
        "statistics_age_s": fresh.age_s,
        "series": activity.series(found["notes"], now),
        "backlog": _backlog(waiting, found["paused"], now),
        "totals": {str(state): counts[str(state)] for state in STATES},
        "oldest_waiting": _oldest(waiting, now),
        "pickup": _pickup(found["waits"]),
        "operations": found["operations"],
        "operations_held": found["hold"],
        "runtimes": found["runtimes"],
        "leader": found["leader"],
        "ring": {**found["ring"], **snapshot},
    }


def _throughput(done: Mapping[str, int], fresh: activity.Freshness) -> dict[str, float | None]:
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


def _pickup(found: Sequence[Row]) -> dict[str, Any] | None:
    if not found or not sum(found[0]["pickup"]):
        return None
    waits = found[0]["pickup"]
    shares = {f"p{n}_ms": histogram.percentile_ms(waits, n / 100) for n in (50, 95, 99)}
    return {**shares, "jobs": sum(waits)}
