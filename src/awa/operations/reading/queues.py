"""Queues: how deep each is, how fast it fills and empties, who works on it.

The backlog is counted in one go. Only where it is too large for that it is counted lane by lane, with a share of the
budget each, so a deep queue says "at least" and hides no other. Rates come from the leader's notes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from awa.db import run
from awa.db.run import Connection, Row
from awa.model.errors import NotFound
from awa.model.limits import PAGE_DEFAULT_ROWS, check_page, check_queue
from awa.operations.reading import activity, runtimes
from awa.operations.reading.bounds import bounded, clock_look
from awa.operations.reading.counts import ZERO, Bound, Count
from awa.operations.reading.cursors import decode_name, encode
from awa.operations.reading.looks import Look, look, together
from awa.storage import queues as storage

SEARCH_MAX_CHARS: Final = 200
# Up to so many waiting jobs are counted all. Where there are more, so many are shared out among the lanes, and so many a lane at least.
LANES_LOOKED_MAX: Final = 120_000
LANES_SHARED_MAX: Final = 100_000
LANE_LEAST_JOBS: Final = 500
ELSEWHERE_LOOKED_MAX: Final = 100_000
ELSEWHERE_LEAST: Final = 1_000
RUNTIMES_MAX_ROWS: Final = 100
OPERATIONS_MAX_ROWS: Final = 10
OPERATIONS_LOOKED_MAX: Final = 500
# Net outflow below which a backlog counts as neither growing nor shrinking, as a share of what comes in.
STEADY_SHARE: Final = 0.02


async def page(
    conn: Connection,
    *,
    limit: int = PAGE_DEFAULT_ROWS,
    cursor: str | None = None,
    search: str | None = None,
) -> tuple[list[Row], str | None]:
    """Queues by name, and the cursor of the next page; `search` is a part of the name, whatever its case."""
    check_page(limit)
    async with bounded(conn, "this page of queues", "ask for fewer queues at a time"):
        found = await _names(conn, limit + 1, after=decode_name(cursor), search=search)
        rows = await _filled(conn, found[:limit])
    return rows, encode(rows[-1]["queue"]) if len(found) > limit else None


async def detail(conn: Connection, queue: str) -> dict[str, Any]:
    """One queue: the row of the page, with its runtimes, its recent operations and its last hour. Raises NotFound."""
    check_queue(queue)
    async with bounded(conn, f"the look at queue {queue!r}", "try again in a moment"):
        found = await _names(conn, 1, names=[queue])
        if not found:
            raise NotFound(f"nothing is known of queue {queue!r}", hint="see: awa queue list")
        looked = {"looked_max": OPERATIONS_LOOKED_MAX, "max_rows": OPERATIONS_MAX_ROWS}
        looks: dict[str, Look[Any]] = {
            "operations": Look("reading/queue_operations", {"queue": queue, **looked}, list),
            "noted": activity.notes("queue", queue),
            "now": clock_look(),
        }
        (row,) = await _filled(conn, found)
        row["held_by"] = await storage.held_by(conn, row)
        seen = await together(conn, looks)
        serving, _ = await runtimes.page(conn, limit=RUNTIMES_MAX_ROWS, queue=queue)
    series = activity.series(seen["noted"], seen["now"])
    return {**row, "runtimes": serving, "operations": seen["operations"], "series": series}


async def backlog(
    conn: Connection, queues: Sequence[str] | None
) -> tuple[dict[str, "Backlog"], bool]:
    """What waits in the lanes of these queues (None: all), and whether all of it was counted."""
    found = await whole_backlog(conn, queues, await look(conn, backlog_look(queues)))
    return found, all(one.total.exact for one in found.values())


def backlog_look(queues: Sequence[str] | None) -> Look[list[Row]]:
    """The first look at what waits, for `whole_backlog`."""
    names = None if queues is None else list(queues)
    params = {"queues": names, "looked_max": LANES_LOOKED_MAX}
    return Look("reading/queue_backlog", params, list)


async def whole_backlog(
    conn: Connection, queues: Sequence[str] | None, lanes: list[Row]
) -> dict[str, "Backlog"]:
    """What waits by queue, after a first look at the lanes: a second one only if they are too full."""
    if lanes and lanes[0]["looked"] >= LANES_LOOKED_MAX:
        names = None if queues is None else list(queues)
        bounds = {"looked_max": LANES_SHARED_MAX, "least": LANE_LEAST_JOBS}
        lanes = await run.rows(conn, "reading/queue_lanes", {"queues": names, **bounds})
    found: dict[str, Backlog] = {}
    for row in lanes:
        capped = row["jobs"] >= row.get("share", LANES_LOOKED_MAX)
        found.setdefault(row["queue"], Backlog()).add(row, capped=capped)
    return found


@dataclass(slots=True)
class Backlog:
    """What waits in the lanes of one queue."""

    by_priority: dict[int, Count] = field(default_factory=dict)
    oldest: datetime | None = None

    @property
    def total(self) -> Count:
        """All priorities together."""
        return sum(self.by_priority.values(), start=ZERO)

    def add(self, lane: Row, *, capped: bool) -> None:
        """Add what was counted in a lane."""
        count = Count(lane["jobs"], "at_least" if capped else "exact")
        before = self.by_priority.get(lane["priority"], ZERO)
        self.by_priority[lane["priority"]] = before + count
        if lane["oldest"] is not None:
            self.oldest = min(self.oldest or lane["oldest"], lane["oldest"])


async def _names(
    conn: Connection,
    max_rows: int,
    *,
    after: str | None = None,
    search: str | None = None,
    names: Sequence[str] | None = None,
) -> list[Row]:
    wanted = (search or "").strip().lower()[:SEARCH_MAX_CHARS].replace("\x00", "")
    params = {
        "after": after,
        "search": wanted or None,
        "names": None if names is None else list(names),
        "max_rows": max_rows,
    }
    return await run.rows(conn, "reading/queue_names", params)


async def _filled(conn: Connection, rows: list[Row]) -> list[Row]:
    """The rows with everything that is counted."""
    names = [row["queue"] for row in rows]
    if not names:
        return []
    looks: dict[str, Look[Any]] = {
        "lanes": backlog_look(names),
        "elsewhere": _elsewhere(names),
        "running": _running(),
        "completed": _completed(names),
        "rates": activity.sums("queue", names, activity.NOW_S),
        "fresh": activity.freshness(),
        "servers": Look("reading/servers", {}, lambda found: {row["queue"]: row for row in found}),
        "now": clock_look(),
    }
    seen = await together(conn, looks)
    waiting = await whole_backlog(conn, names, seen["lanes"])
    for row in rows:
        name = row["queue"]
        here = waiting.get(name, Backlog())
        row["depth"] = {
            "available": here.total,
            **_deferred(seen["elsewhere"][name]),
            "running": seen["running"](name),
            "completed": Count(seen["completed"].get(name, 0), "about"),
            **_finished(seen["elsewhere"][name]),
        }
        row["by_priority"] = {n: here.by_priority.get(n, ZERO) for n in range(1, 5)}
        row["oldest_available_at"] = here.oldest
        age_s = (seen["now"] - here.oldest).total_seconds() if here.oldest else None
        row["oldest_available_age_s"] = None if age_s is None else max(0.0, age_s)
        row.update(flow(here.total.jobs, seen["rates"].get(name), seen["fresh"]))
        serving = seen["servers"].get(name)
        row["workers"] = serving["workers"] if serving else 0
        row["slots"] = serving["slots"] if serving else 0
    return rows


def flow(
    waiting: int, noted: Mapping[str, Any] | None, fresh: activity.Freshness
) -> dict[str, Any]:
    """Rates in and out, and how long the backlog lasts at the present net outflow."""
    if not fresh.is_known:
        nothing = dict.fromkeys(
            ("rate_in_per_s", "rate_out_per_s", "started_per_s", "failed_per_s")
        )
        return {**nothing, "time_to_drain_s": None, "drain_words": "unknown"}
    noted = noted or {}

    def per_s(*names: str) -> float:
        return fresh.rate(sum(noted.get(name, 0) for name in names)) or 0.0

    into, out_of = per_s("arrived"), per_s("started")
    net = out_of - into
    if not waiting:
        drain_s, words = 0.0, "empty"
    elif abs(net) <= STEADY_SHARE * max(into, out_of):
        drain_s, words = None, "steady"
    elif net < 0:
        drain_s, words = None, "growing"
    else:
        drain_s, words = round(waiting / net, 1), "shrinking"
    return {
        "rate_in_per_s": into,
        "rate_out_per_s": per_s("completed", "failed", "cancelled"),
        "started_per_s": out_of,
        "failed_per_s": per_s("failed", "retried"),
        "time_to_drain_s": drain_s,
        "drain_words": words,
    }


def _elsewhere(names: list[str]) -> Look[dict[str, Row]]:
    looked_max = max(ELSEWHERE_LEAST, ELSEWHERE_LOOKED_MAX // len(names))
    params = {"queues": names, "looked_max": looked_max}

    def tell(rows: list[Row]) -> dict[str, Row]:
        return {row["queue"]: {**row, "looked_max": looked_max} for row in rows}

    return Look("reading/queue_elsewhere", params, tell)


def _deferred(row: Row) -> dict[str, Count]:
    bound: Bound = "exact" if row["deferred_looked"] < row["looked_max"] else "at_least"
    states = ("scheduled", "retryable", "waiting_external")
    return {state: Count(row[state], bound) for state in states}


def _finished(row: Row) -> dict[str, Count]:
    bound: Bound = "exact" if row["finished_looked"] < row["looked_max"] else "at_least"
    return {state: Count(row[state], bound) for state in ("failed", "cancelled")}


def _running() -> Look[Callable[[str], Count]]:
    def tell(rows: list[Row]) -> Callable[[str], Count]:
        held: dict[str, int] = {}
        for row in rows:
            held[row["queue"]] = held.get(row["queue"], 0) + row["jobs"]
        looked = rows[0]["looked"] if rows else 0
        bound: Bound = "exact" if looked < runtimes.HELD_LOOKED_MAX else "at_least"
        return lambda name: Count(held.get(name, 0), bound)

    params = {"runtimes": None, "looked_max": runtimes.HELD_LOOKED_MAX}
    return Look("reading/held", params, tell)


def _completed(names: list[str]) -> Look[dict[str, int]]:
    params = {"scope": "queue", "names": names}
    return Look("reading/totals", params, lambda rows: {row["name"]: row["jobs"] for row in rows})
