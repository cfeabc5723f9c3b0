"""Changing jobs that wait, cancelling those that run, retrying those that ended: always a set.

`lock_waiting` comes first and `relocate` or `cancel_waiting` after it, in one transaction of the caller.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from awa.db import run
from awa.db.run import Connection


class Waiting(NamedTuple):
    """A waiting job, locked; the position is None for deferred ones."""

    job_id: int
    place: str
    lane_id: int | None
    lane_seq: int | None
    slot: int | None
    queue: str
    priority: int


class Relocated(NamedTuple):
    """outcome: moved | noop | unique_conflict | locked | waiting_external; `before` holds what changed, as it was.

    unique_conflict: `holder` has the unique key that the job would need there. locked: an open transaction has that
    key in its hands, so try again.
    """

    job_id: int
    outcome: str
    detail: str | None
    before: dict[str, Any] | None
    holder: int | None


class Retried(NamedTuple):
    """outcome: moved, or why the job stays where it is: unique_conflict | locked, as in Relocated."""

    job_id: int
    outcome: str
    holder: int | None


async def lock_waiting(conn: Connection, ids: Sequence[int]) -> list[Waiting]:
    """Locks those jobs of the set that wait and are not in another transaction's hands."""
    params = {"ids": list(ids), "lane_ids": None, "lane_seqs": None, "slots": None}
    return [Waiting(*found) for found in await run.tuples(conn, "storage/lock_waiting", params)]


async def relocate(
    conn: Connection,
    locked: Sequence[Waiting],
    *,
    queue: str | None = None,
    priority: int | None = None,
) -> list[Relocated]:
    """Gives locked jobs another queue, another priority, or both."""
    params = _positions(locked) | {"queue": queue, "priority": priority}
    return [Relocated(*found) for found in await run.tuples(conn, "storage/relocate", params)]


async def cancel_waiting(
    conn: Connection, locked: Sequence[Waiting], *, reason: str | None = None
) -> list[int]:
    """Cancels locked jobs; answers their ids."""
    params = _positions(locked) | {"reason": reason}
    return [found[0] for found in await run.tuples(conn, "storage/cancel_waiting", params)]


async def cancel_running(
    conn: Connection, ids: Sequence[int], *, reason: str | None = None
) -> list[int]:
    """Ends the attempts of running jobs as cancelled and tells their workers; answers the ids."""
    params = {"ids": list(ids), "reason": reason}
    return [found[0] for found in await run.tuples(conn, "storage/cancel_running", params)]


async def retry_jobs(conn: Connection, ids: Sequence[int]) -> list[Retried]:
    """Gives failed and cancelled jobs another attempt and runs deferred ones now; answers what came of them.

    Jobs in other states are left out.
    """
    found = await run.tuples(conn, "storage/retry_jobs", {"ids": list(ids)})
    return [Retried(*row) for row in found]


def moved(retried: Sequence[Retried]) -> list[int]:
    """The jobs that were."""
    return [one.job_id for one in retried if one.outcome == "moved"]


async def explain_not_waiting(conn: Connection, ids: Sequence[int]) -> dict[int, str]:
    """job_id -> claimed | finished | cancelled | locked (try again) | not_found."""
    found = await run.tuples(conn, "storage/explain_not_waiting", {"ids": list(ids)})
    return dict(found)


def _positions(locked: Sequence[Waiting]) -> dict[str, Any]:
    return {
        "ids": [w.job_id for w in locked],
        "lane_ids": [w.lane_id for w in locked],
        "lane_seqs": [w.lane_seq for w in locked],
        "slots": [w.slot for w in locked],
    }
