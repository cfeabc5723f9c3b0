"""Kinds of jobs: how many there are of each, how often they fail, how long they take."""

from collections import defaultdict
from typing import Any, Final

from awa.db.run import Connection, Row
from awa.model.limits import PAGE_DEFAULT_ROWS, check_page
from awa.operations.reading import activity
from awa.operations.reading.bounds import bounded
from awa.operations.reading.counts import STATES, Bound, Count
from awa.operations.reading.cursors import decode_name, encode
from awa.operations.reading.looks import Look, together

WAITING_LOOKED_MAX: Final = 150_000
ELSEWHERE_LOOKED_MAX: Final = 50_000
QUEUES_MAX: Final = 20


async def page(
    conn: Connection,
    *,
    limit: int = PAGE_DEFAULT_ROWS,
    cursor: str | None = None,
    search: str | None = None,
) -> tuple[list[Row], str | None]:
    """Kinds by name, and the cursor of the next page; `search` is a part of the name, whatever its case.

    A kind is known while a job of it is stored or was done in the last hour.
    """
    check_page(limit)
    after = decode_name(cursor)
    wanted = (search or "").strip().lower()
    async with bounded(conn, "this page of kinds", "try again in a moment"):
        looks: dict[str, Look[Any]] = {
            **_looks(),
            "hour": activity.sums("kind", None, activity.HOUR_S),
        }
        seen = await together(conn, looks)
        known = _Known(seen["waiting"], seen["elsewhere"], seen["completed"])
        hour = seen["hour"]
        names = sorted({*known.counts, *hour} - {""})
        names = [
            name for name in names if (after is None or name > after) and wanted in name.lower()
        ]
        shown = names[:limit]
        latency = await activity.latencies(conn, "kind", shown) if shown else {}
    rows = [known.row(name) | _done(hour.get(name), latency.get(name)) for name in shown]
    return rows, encode(shown[-1]) if len(names) > limit else None


def _looks() -> dict[str, Look[Any]]:
    """What is asked of all kinds at once."""
    elsewhere = {"looked_max": ELSEWHERE_LOOKED_MAX}
    return {
        "waiting": Look("reading/kinds_waiting", {"looked_max": WAITING_LOOKED_MAX}, list),
        "elsewhere": Look("reading/kinds_elsewhere", elsewhere, list),
        "completed": Look("reading/totals", {"scope": "kind", "names": None}, list),
    }


class _Known:
    """What is counted of all kinds at once."""

    def __init__(self, waiting: list[Row], elsewhere: list[Row], completed: list[Row]) -> None:
        self.counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        self.queues: dict[str, set[str]] = defaultdict(set)
        self.bounds: dict[str, Bound] = {str(state): "exact" for state in STATES}
        for row in waiting:
            self.queues[row["kind"]].add(row["queue"])
            self._add(row["kind"], "available", row, WAITING_LOOKED_MAX)
        for row in elsewhere:
            self._add(row["kind"], row["state"], row, ELSEWHERE_LOOKED_MAX)
        for row in completed:
            self.counts[row["name"]]["completed"] = row["jobs"]
        self.bounds["completed"] = "about"

    def row(self, name: str) -> Row:
        """The counts of a kind."""
        counts = self.counts.get(name, {})
        return {
            "kind": name,
            "counts": {
                str(state): Count(counts.get(state, 0), self.bounds[state]) for state in STATES
            },
            "queues": sorted(self.queues.get(name, set()))[:QUEUES_MAX],
        }

    def _add(self, kind: str, state: str, row: Row, looked_max: int) -> None:
        self.counts[kind][state] += row["jobs"]
        if row["looked"] >= looked_max:
            # Kinds that weren't come across may have such jobs, too: all of this place are lower bounds.
            for other in _SAME_PLACE.get(state, (state,)):
                self.bounds[other] = "at_least"


_DEFERRED: Final = ("scheduled", "retryable", "waiting_external")
_SAME_PLACE: Final = {
    "scheduled": _DEFERRED,
    "retryable": _DEFERRED,
    "waiting_external": _DEFERRED,
    "failed": ("failed", "cancelled"),
    "cancelled": ("failed", "cancelled"),
    "completed": ("failed", "cancelled"),
}


def _done(hour: Row | None, latency: Row | None) -> dict[str, Any]:
    done = hour or {}
    failed = int(done.get("failed", 0) + done.get("retried", 0))
    ended = int(failed + done.get("completed", 0) + done.get("cancelled", 0))
    nothing = dict.fromkeys(("pickup_p50_ms", "pickup_p95_ms", "run_p50_ms", "run_p95_ms"))
    return {
        "ended_last_hour": ended,
        "failed_last_hour": failed,
        "failure_share": round(failed / ended, 4) if ended else None,
        **(latency or nothing),
    }
