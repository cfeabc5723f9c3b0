"""Freezes an operation's membership: walks the backlog once, in bounded pages, and lists what matches.

What the scan may see is fixed when it begins: no job with a greater id than `scan_bound`, and a
snapshot (`seen`) that tells apart what was there. Whatever state a crash leaves, the stored cursor
says where to go on, and a job that is met twice is listed once.

While the scan walks, jobs move. A job that waits in a lane only ever goes forward through three
places: past the lane's cursor (`window`), below it but missed because its transaction ended late
(`late`), below it and remembered (`owed`). The scan visits them in this order, so it cannot be
overtaken. Jobs that another operation or their time brings into a lane meanwhile arrive in a
transaction that `seen` does not show; the last phase, `since`, looks through those.

The jobs of an undo are no backlog: it lists the items that the operation which it takes back has changed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from awa.db import run
from awa.db.run import Connection
from awa.model.filter import JobFilter
from awa.model.operation import BatchOperation
from awa.model.states import JobState
from awa.operations.compile import Predicate, compile_filter

IDS_PAGE_ROWS: Final = 1_000
LANE_PHASES: Final = ("window", "late", "owed", "since")
BY_TRANSACTION: Final = frozenset({"late", "since"})

Cursor = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Walked:
    """What one page did: rows looked at, items added, and where to go on (None: this phase is over)."""

    rows: int
    listed: int
    cursor: Cursor | None


def phases(given: JobFilter, undo_of: UUID | None = None) -> tuple[str, ...]:
    """The places that the filter's jobs can be in, in the order in which they are walked.

    An undo has one: the items of the operation that it takes back.
    """
    if undo_of is not None:
        return ("undone",)
    if given.ids is not None:
        return ("ids",)
    # Available jobs are deferred, too, while they are parked for their concurrency key.
    if given.state in (None, JobState.AVAILABLE):
        return ("deferred", *LANE_PHASES)
    return ("deferred",)


class Scan:
    """One transaction's worth of a scan; the caller holds the operation and keeps the cursor."""

    def __init__(self, conn: Connection, operation: BatchOperation, given: JobFilter) -> None:
        self._conn = conn
        self._operation = operation
        self._given = given
        self._listed = 0
        self._predicate: Predicate = compile_filter(given, ids=False)

    @property
    def left(self) -> int | None:
        """How many jobs may still be listed; None: any number."""
        most = self._operation.max_jobs
        return None if most is None else most - (self._operation.total_matched or 0) - self._listed

    async def page(self, cursor: Cursor, rows: int) -> Walked:
        """Walk up to `rows` rows from the cursor on; a cursor of None in the answer ends the scan.

        So does the operation's `max_jobs`th job.
        """
        walked = await self._walk(cursor, rows)
        self._listed += walked.listed
        if self.left == 0:
            return Walked(walked.rows, walked.listed, None)
        if walked.cursor is not None:
            return walked
        return Walked(walked.rows, walked.listed, await self._next_phase(cursor))

    async def _walk(self, cursor: Cursor, rows: int) -> Walked:
        match cursor["phase"]:
            case "ids":
                return await self._ids(cursor)
            case "undone":
                return await self._undone(cursor, rows)
            case "deferred":
                return await self._deferred(cursor, rows)
            case _:
                return await self._lane(cursor, rows)

    async def _next_phase(self, cursor: Cursor) -> Cursor | None:
        order = phases(self._given, self._operation.undo_of)
        following = order[order.index(cursor["phase"]) + 1 :]
        if not following:
            return None
        begun = {"phase": following[0], "seen": cursor["seen"]}
        if following[0] == "since":
            begun["until"] = await run.value(self._conn, "operations/snapshot")
        return begun

    async def _ids(self, cursor: Cursor) -> Walked:
        after = cursor.get("id", 0)
        left = sorted({job_id for job_id in self._given.ids or () if job_id > after})
        page = left[:IDS_PAGE_ROWS]
        if not page:
            return Walked(0, 0, None)
        found = await self._list("operations/scan_ids", {"ids": page})
        return Walked(len(page), found["listed"], {**cursor, "id": page[-1]})

    async def _deferred(self, cursor: Cursor, rows: int) -> Walked:
        params = {
            "after": cursor.get("id", 0),
            "queue": self._given.queue,
            "rows": rows,
            "parked_only": self._given.state is JobState.AVAILABLE,
        }
        found = await self._list("operations/scan_deferred", params)
        if found["walked"] < rows:
            return Walked(found["walked"], found["listed"], None)
        return Walked(found["walked"], found["listed"], {**cursor, "id": found["last_id"]})

    async def _undone(self, cursor: Cursor, rows: int) -> Walked:
        params = {
            "undo_of": self._operation.undo_of,
            "after": cursor.get("id", 0),
            "rows": rows,
        }
        found = await self._list("operations/scan_undone", params)
        if found["walked"] < rows:
            return Walked(found["walked"], found["listed"], None)
        return Walked(found["walked"], found["listed"], {**cursor, "id": found["last_id"]})

    async def _lane(self, cursor: Cursor, rows: int) -> Walked:
        """A page of the cursor's lane; a lane that is finished leads to the next one."""
        phase = cursor["phase"]
        lane = cursor.get("lane") or await self._lane_after(0)
        if lane is None:
            return Walked(0, 0, None)
        params = {
            "lane": lane,
            "after": cursor.get("seq", 0),
            "upto": self._operation.scan_bound,
            "rows": rows,
            "after_txid": cursor.get("txid", "0"),
            "seen": cursor["seen"],
            "until": cursor.get("until", cursor["seen"]),
        }
        found = await self._list("operations/scan_lane", params, walk=f"operations/walk/{phase}")
        if found["walked"] < rows:
            following = await self._lane_after(lane)
            begun = _without_place(cursor) | {"lane": following}
            return Walked(found["walked"], found["listed"], begun if following else None)
        return Walked(found["walked"], found["listed"], _with_place(cursor, lane, found))

    async def _lane_after(self, lane: int) -> int | None:
        queues = self._given.queues
        if self._given.queue is not None:
            queues = [self._given.queue]
        params = {"after": lane, "queues": queues, "priority": self._given.priority}
        following: int | None = await run.value(self._conn, "operations/next_lane", params)
        return following

    async def _list(
        self, name: str, params: Mapping[str, Any], *, walk: str | None = None
    ) -> dict[str, Any]:
        """Run a statement that adds items, with the filter in its place."""
        holes = {"filter": self._predicate.sql}
        if walk is not None:
            holes["walk"] = run.statement(walk)
        statement = run.statement(name).format(**holes)
        common = {
            "id": self._operation.id,
            "bound": self._operation.scan_bound,
            "left": self.left,
        }
        found = await run.rows_of(
            self._conn, statement, {**common, **params, **self._predicate.params}
        )
        return found[0]


def _without_place(cursor: Cursor) -> Cursor:
    return {name: cursor[name] for name in ("phase", "seen", "until") if name in cursor}


def _with_place(cursor: Cursor, lane: int, found: Mapping[str, Any]) -> Cursor:
    """The cursor after a full page: the last row in the order of the walk."""
    place = _without_place(cursor) | {"lane": lane}
    if cursor["phase"] in BY_TRANSACTION:
        return place | {"txid": found["last_txid"], "seq": found["last_seq_of_txid"]}
    return place | {"seq": found["last_seq"]}
