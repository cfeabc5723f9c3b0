"""Undo: a new operation that gives jobs back what another one changed of them, as far as they are as that one left them.

Its jobs are the items that the other operation processed and no earlier undo has taken back; they are listed once, when it
is carried out, in pages by key. It has no filter and no cursor into the backlog. Everything else is as for any operation:
chunks, pause, pace, cancellation, accounting, and undoing it in turn.

Whoever undoes an operation holds its row from the look at its state until the undo is recorded. So there is one undo of it
at a time, and none of an operation that is being deleted: retention takes the same lock, and looks for an undo under it.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from psycopg import sql
from psycopg.types.json import Jsonb

from awa.db import run
from awa.db.run import Connection
from awa.events import batch as events
from awa.model.drift import PlanDrifted, drift_between
from awa.model.errors import AwaError
from awa.model.filter import JobFilter
from awa.model.limits import PRIORITY_DEFAULT
from awa.model.plan import Count, Matter, PlanLimits
from awa.operations import kinds, plan, read
from awa.operations.estimate import estimate
from awa.operations.failures import Failure, judge
from awa.operations.kinds.undo import changed_kind
from awa.operations.preview import (
    BREAKDOWN_MAX_VALUES,
    INELIGIBLE_MAX_MS,
    PREVIEW_MAX_MS,
    SAMPLE_ROWS,
    counting,
)
from awa.operations.submit import count_of, existing, terms
from awa.operations.transition import as_uuid, hold, no_such_operation
from awa.operations.undoable import check_undoable

# More jobs than these are found by walking through the backlog once, fewer one by one.
BY_ID_MAX_JOBS: Final = 2_000
GONE_MAX_JOBS: Final = 10_000
_NOT_WAITING: Final = "not_waiting"
_SLOW: Final = "undo it without a plan: each job is looked at when its turn comes anyway"

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Way:
    """Which operation is undone, as what, and where its jobs are looked for."""

    operation: Row
    undos: list[Row]
    spec: dict[str, Any]

    @property
    def params(self) -> dict[str, Any]:
        """Those of the statements about what the operation changed."""
        undos = [undo["id"] for undo in self.undos]
        return {"undo_of": self.operation["id"], "undos": undos}

    @property
    def is_long(self) -> bool:
        """Whether so many jobs were changed that the backlog is walked through."""
        return bool(self.operation["processed"] > BY_ID_MAX_JOBS)

    @property
    def matter(self) -> Matter:
        """What a plan of it is held to."""
        return Matter(kinds.UNDO, JobFilter(), self.spec)

    def statement(self, name: str) -> sql.Composed:
        """A statement about what the operation changed."""
        which = "by_walk" if self.is_long else "by_id"
        return run.statement(name).format(undone=run.statement(f"operations/undone/{which}"))


async def undo(
    conn: Connection,
    operation_id: UUID | str,
    *,
    actor: str | None = None,
    reason: str | None = None,
    priority: int = PRIORITY_DEFAULT,
    max_rows_per_second: int | None = None,
    idempotency_key: str | None = None,
    not_before: datetime | None = None,
    max_jobs: int | None = None,
    plan_token: str | None = None,
    plan_limits: PlanLimits | None = None,
    plan_max_ms: int = PREVIEW_MAX_MS,
) -> Row:
    """Record the undo of an operation and return it whole, as `read.get` does.

    Raises `NotFound`; `Conflict` with the present state if the operation can't be undone (`check_undoable`); and for
    `plan_token`, `idempotency_key` and the other terms what `submit` raises.
    """
    agreed = terms(
        actor=actor,
        reason=reason,
        priority=priority,
        max_rows_per_second=max_rows_per_second,
        idempotency_key=idempotency_key,
        not_before=not_before,
        max_jobs=max_jobs,
    )
    async with conn.transaction():
        held = await hold(conn, as_uuid(operation_id))
        # Whoever repeats an undo hears of the first one, which stands in the way of a second.
        repeated = idempotency_key is not None and await read.submitted_with(conn, idempotency_key)
        way = await _way(conn, held, check=not repeated)
        params = {
            "op_kind": kinds.UNDO,
            "filter": Jsonb({}),
            "spec": Jsonb(way.spec),
            **agreed,
            **way.params,
        }
        recorded = None
        if not repeated and plan_token is None:
            recorded = await run.value(conn, "operations/undo", params)
        elif not repeated:
            planned = _Planned(plan_token, plan_limits or PlanLimits(), plan_max_ms)
            recorded = await _as_planned(conn, way, params, planned)
        wanted = recorded or await existing(conn, params)
    if recorded is not None:
        events.submitted(kinds.UNDO)
    return await read.get(conn, wanted)


async def preview_undo(
    conn: Connection,
    operation_id: UUID | str,
    *,
    plan_limits: PlanLimits | None = None,
    max_ms: int = PREVIEW_MAX_MS,
) -> Row:
    """Count and sample the jobs that are as an operation left them, as `preview` does.

    `total_matched` are those that its undo would put back now, `ineligible` the others by reason. Raises as `undo`, and `TooSlow`.
    """
    row = await run.row(conn, "operations/get", {"id": as_uuid(operation_id)})
    if row is None:
        raise no_such_operation(operation_id)
    way = await _way(conn, row)
    async with conn.transaction(), counting(conn, max_ms, "nothing was changed", _SLOW):
        if way.is_long:
            await run.row(conn, "operations/walk_once")
        counts = await _counts(conn, way)
        ineligible = await _ineligible(conn, way, counts.pop("why"))
        total = counts.pop("all", {}).get("", 0)
        count = Count(total, 0, counts["queue"], counts["state"])
        token, until = await plan.make(conn, way.matter, count, plan_limits or PlanLimits())
        sample = await _rows(conn, way, "operations/undo_sample", limit=SAMPLE_ROWS)
        takes = await estimate(conn, kinds.UNDO, total)
    return {
        "op_kind": kinds.UNDO,
        "undo_of": way.operation["id"],
        "filter": {},
        "spec": way.spec,
        "total_matched": total,
        "noop": 0,
        "sample": sample,
        "breakdown": {
            dimension: dict(list(values.items())[:BREAKDOWN_MAX_VALUES])
            for dimension, values in counts.items()
        },
        "ineligible": ineligible,
        "estimate": takes.to_json(),
        "cost": "index",
        "costs": [],
        "requires_allow_all": False,
        "plan_token": token,
        "plan_expires_at": until,
    }


async def _way(conn: Connection, operation: Mapping[str, Any], *, check: bool = True) -> Way:
    """Look at the undos there are, in a statement after the lock if there is one, and at whether there may be another."""
    undos = await run.rows(conn, "operations/undos", {"id": operation["id"]})
    if check:
        check_undoable(operation, undos)
    return Way(dict(operation), undos, undo_spec(operation))


def undo_spec(operation: Mapping[str, Any]) -> dict[str, Any]:
    """The spec of an operation's undo: which one it is, and the kind of what it changed."""
    kind = operation["op_kind"]
    changed = changed_kind(operation["spec"]) if kind == kinds.UNDO else kind
    return {"operation_id": str(operation["id"]), "op_kind": changed}


@dataclass(frozen=True, slots=True)
class _Planned:
    """A token, and how it is held against what is there."""

    token: object
    limits: PlanLimits
    max_ms: int


async def _as_planned(
    conn: Connection, way: Way, params: dict[str, Any], planned: _Planned
) -> UUID | None:
    """Record the undo if as many jobs are as they were left as planned."""
    known, now = await plan.unsealed(conn, planned.token, way.matter)
    known.check_fresh(now)
    tolerance = planned.limits.tolerance(known.count.jobs)
    asked = params | {"planned": known.count.jobs, "tolerance": tolerance}
    async with conn.transaction(), counting(conn, planned.max_ms, "nothing was submitted", _SLOW):
        if way.is_long:
            await run.row(conn, "operations/walk_once")
        rows = await run.rows_of(conn, way.statement("operations/undo_planned"), asked)
    drift = drift_between(known.count, count_of(rows), tolerance)
    if drift is not None:
        raise PlanDrifted.of(drift)
    recorded: UUID | None = rows[0]["id"]
    return recorded


async def _counts(conn: Connection, way: Way) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = defaultdict(
        dict, queue={}, kind={}, state={}, priority={}, why={}
    )
    for row in await _rows(conn, way, "operations/undo_counts"):
        counts[row["dimension"]][row["value"]] = row["jobs"]
    return dict(counts)


async def _ineligible(conn: Connection, way: Way, why: dict[str, int]) -> dict[str, int]:
    """Why jobs aren't as they were left; of those that don't wait any more what became of them, if that is told quickly."""
    told = {"moved" if reason == "moved_away" else reason: jobs for reason, jobs in why.items()}
    gone = told.get(_NOT_WAITING, 0)
    if not 0 < gone <= GONE_MAX_JOBS:
        return told
    try:
        async with conn.transaction():
            await run.row(conn, "operations/bounds", {"statement_ms": INELIGIBLE_MAX_MS})
            found = await _rows(conn, way, "operations/undo_gone", looked_max=GONE_MAX_JOBS)
    except AwaError as error:
        if judge(error) is Failure.TRY_AGAIN:
            return told
        raise
    del told[_NOT_WAITING]
    return told | {row["reason"]: row["jobs"] for row in found}


async def _rows(conn: Connection, way: Way, name: str, **more: Any) -> list[Row]:
    return await run.rows_of(conn, way.statement(name), way.params | more)
