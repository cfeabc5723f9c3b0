"""Takes an operation in: checks everything that can be checked, records it, and leaves the rest to the runner.

What an operator submits may touch millions of jobs, so nothing is guessed: an unknown kind, a field
too many, a state that the kind does not change, or an empty filter without `allow_all` is refused
before anything is written.

With a plan token the jobs are counted once more, in the statement that records the operation, so that count and
record see one snapshot. If there are more or fewer than the plan tolerates, nothing is recorded.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from awa.db import run
from awa.db.run import Connection
from awa.events import batch as events
from awa.model.draft import check_run_at
from awa.model.drift import PlanDrifted, drift_between
from awa.model.errors import Conflict, invalid_field
from awa.model.filter import JobFilter
from awa.model.limits import (
    JOB_ID_MAX,
    PRIORITY_DEFAULT,
    check_actor,
    check_idempotency_key,
    check_priority,
    check_reason,
    check_rows_per_second,
    check_whole_number,
)
from awa.model.plan import Count, Matter, PlanLimits
from awa.operations import kinds, plan, read
from awa.operations.compile import compile_filter
from awa.operations.preview import PREVIEW_MAX_MS, counting, waiting_for


async def submit(
    conn: Connection,
    op_kind: str,
    filter: Any,
    spec: Any,
    *,
    actor: str | None = None,
    allow_all: bool = False,
    reason: str | None = None,
    priority: int = PRIORITY_DEFAULT,
    max_rows_per_second: int | None = None,
    idempotency_key: str | None = None,
    not_before: datetime | None = None,
    max_jobs: int | None = None,
    plan_token: str | None = None,
    plan_limits: PlanLimits | None = None,
    plan_max_ms: int = PREVIEW_MAX_MS,
) -> dict[str, Any]:
    """Record an operation and return it whole, as `read.get` does.

    `actor` is who is known to have asked; None records the database's session_user. With an
    `idempotency_key` that was used before, the same request returns the operation that exists, and
    another request raises `Conflict`. It is not begun before `not_before`, and lists at most `max_jobs` jobs: those that
    its scan meets first. With the `plan_token` of a preview it raises `PlanDrifted` if the jobs are no
    longer those that were counted then, `PlanExpired`, or `TooSlow` if they can't be counted within `plan_max_ms`. Raises
    `ValidationError` with the fields that are wrong, and what of the plan was made for something else.
    """
    kind = kinds.get(op_kind)
    given = JobFilter.parse(filter)
    checked = kind.parse_spec(spec)
    kind.check_filter(given)
    if given.is_empty() and not allow_all:
        raise empty_filter(given)
    params = {
        "op_kind": kind.name,
        "filter": Jsonb(given.to_json()),
        "spec": Jsonb(kinds.spec_json(checked)),
        **terms(
            actor=actor,
            reason=reason,
            priority=priority,
            max_rows_per_second=max_rows_per_second,
            idempotency_key=idempotency_key,
            not_before=not_before,
            max_jobs=max_jobs,
        ),
    }
    if plan_token is None:
        submitted: UUID | None = await run.value(conn, "operations/submit", params)
    else:
        limits = plan_limits or PlanLimits()
        planned = _Planned(plan_token, kind, given, checked, limits, plan_max_ms)
        submitted = await _as_planned(conn, planned, params)
    if submitted is None:
        return await read.get(conn, await existing(conn, params))
    events.submitted(kind.name)
    return await read.get(conn, submitted)


def terms(
    *,
    actor: str | None,
    reason: str | None,
    priority: int,
    max_rows_per_second: int | None,
    idempotency_key: str | None,
    not_before: datetime | None,
    max_jobs: int | None,
) -> dict[str, Any]:
    """Under what terms an operation is carried out, checked; the parameters that all submissions have in common."""
    rate, jobs, key = max_rows_per_second, max_jobs, idempotency_key
    return {
        "actor": None if actor is None else check_actor(actor),
        "reason": check_reason(reason),
        "priority": check_priority(priority),
        "max_rows_per_second": None if rate is None else check_rows_per_second(rate),
        "not_before": None if not_before is None else check_run_at(not_before, field="not_before"),
        "max_jobs": None if jobs is None else check_whole_number(jobs, "max_jobs", 1, JOB_ID_MAX),
        "idempotency_key": None if key is None else check_idempotency_key(key),
    }


@dataclass(frozen=True, slots=True)
class _Planned:
    """A token, and what is submitted with it."""

    token: str
    kind: kinds.Kind
    filter: JobFilter
    spec: kinds.Spec
    limits: PlanLimits
    max_ms: int


async def _as_planned(conn: Connection, planned: _Planned, params: dict[str, Any]) -> UUID | None:
    """Record the operation if there are as many jobs as planned; None if its key was used before."""
    matter = Matter(planned.kind.name, planned.filter, kinds.spec_json(planned.spec))
    known, now = await plan.unsealed(conn, planned.token, matter)
    # Whoever repeats a submission hears of the first one, however much it has changed since.
    if params["idempotency_key"] and await read.submitted_with(conn, params["idempotency_key"]):
        return None
    known.check_fresh(now)
    tolerance = planned.limits.tolerance(known.count.jobs)
    rows = await _record_if_still(conn, planned, params, known.count, tolerance)
    drift = drift_between(known.count, count_of(rows), tolerance)
    if drift is not None:
        raise PlanDrifted.of(drift)
    submitted: UUID | None = rows[0]["id"]
    return submitted


async def _record_if_still(
    conn: Connection, planned: _Planned, params: dict[str, Any], count: Count, tolerance: int
) -> list[dict[str, Any]]:
    """The counts of now, with the operation's id if it was recorded."""
    predicate = compile_filter(planned.filter)
    statement = run.statement("operations/submit_planned").format(
        filter=predicate.sql,
        waiting=waiting_for(planned.filter),
        unchanged=run.statement(planned.kind.unchanged),
    )
    held = {"planned": count.jobs, "planned_noop": count.noop, "tolerance": tolerance}
    asked = predicate.params | planned.kind.params(planned.spec) | params | held
    async with conn.transaction(), counting(conn, planned.max_ms, "nothing was submitted"):
        return await run.rows_of(conn, statement, asked)


def count_of(rows: list[dict[str, Any]]) -> Count:
    """The counts of all dimensions as one."""
    by: dict[str, dict[str, int]] = {"queue": {}, "state": {}}
    jobs = noop = 0
    for row in rows:
        if row["dimension"] == "all":
            jobs, noop = row["jobs"], row["noop"]
        else:
            by[row["dimension"]][row["value"]] = row["jobs"]
    return Count(jobs, noop, by["queue"], by["state"])


def empty_filter(given: JobFilter) -> Exception:
    """The refusal of an operation that would touch every job."""
    said = "names no ids" if given.matches_nothing() else "is empty"
    return invalid_field(
        "filter",
        f"{said}, and an operation without a filter touches every job",
        hint="Give a filter, or confirm with allow_all (--all) that every job is meant.",
    )


async def existing(conn: Connection, params: dict[str, Any]) -> UUID:
    """The operation that holds the idempotency key, if it asks for the same."""
    row = await run.row(conn, "operations/by_idempotency_key", params)
    key = params["idempotency_key"]
    if row is None:
        raise Conflict(
            f"the operation with idempotency key {key!r} was deleted just now", hint="Submit again."
        )
    if not row["same"]:
        raise Conflict(
            f"idempotency key {key!r} belongs to another request",
            hint="Use a new key for a new request.",
            details={"id": str(row["id"])},
        )
    existing: UUID = row["id"]
    return existing
