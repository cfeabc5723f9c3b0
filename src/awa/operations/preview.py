"""What an operation would touch, before it is submitted: counts, a sample, how long it takes, and a plan token.

Preview asks with the same compiler and the same rules of eligibility as the scan. It is advice, not a
promise: jobs go on being claimed, and the scan counts anew. It changes nothing, so it is allowed where
nothing may be changed, and it never refuses an empty filter: an operator must see what "all" means.

Its counts are exact, or it raises TooSlow. So the token that it hands out holds a submission to real numbers
(see awa.model.plan).
"""

from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from psycopg import sql

from awa.db import run
from awa.db.run import Connection
from awa.model.errors import AwaError, TooSlow
from awa.model.filter import JobFilter
from awa.model.plan import Count, Matter, PlanLimits
from awa.operations import kinds, plan
from awa.operations.compile import Predicate, compile_filter
from awa.operations.estimate import estimate
from awa.operations.failures import Failure, judge, sqlstate

SAMPLE_ROWS: Final = 10
BREAKDOWN_MAX_VALUES: Final = 100
INELIGIBLE_MAX_MS: Final = 500
PREVIEW_MAX_MS: Final = 60_000
_CANCELLED: Final = "57014"
# The same jobs: one view finds them by id, the other walks through the backlog without its history.
_BY_ID: Final = sql.SQL("awa.waiting_jobs")
_BY_WALK: Final = sql.SQL("awa.waiting_backlog")


async def preview(
    conn: Connection,
    op_kind: str,
    filter: Any,
    spec: Any,
    *,
    plan_limits: PlanLimits | None = None,
    max_ms: int = PREVIEW_MAX_MS,
) -> dict[str, Any]:
    """Count and sample the jobs that the operation would change now.

    `ineligible` counts by state the jobs that match but may not be changed; it is None when that
    would take longer than half a second. `plan_token` holds a submission to these counts; it is None for a database
    role that may not submit. Raises `ValidationError` as submit does, and `TooSlow`.
    """
    kind = kinds.get(op_kind)
    given = JobFilter.parse(filter)
    checked = kind.parse_spec(spec)
    kind.check_filter(given)
    predicate = compile_filter(given)
    wanted = kinds.spec_json(checked)
    async with conn.transaction(), counting(conn, max_ms, "nothing was changed"):
        where = waiting_for(given)
        counts, noop = await _counts(conn, predicate, where, kind, kind.params(checked))
        total = counts.pop("all", {}).get("", 0)
        count = Count(total, noop, counts["queue"], counts["state"])
        matter = Matter(kind.name, given, wanted)
        token, until = await plan.make(conn, matter, count, plan_limits or PlanLimits())
        sample = await _sample(conn, predicate, where)
        takes = await estimate(conn, kind.name, count.changing)
        ineligible = await _ineligible(conn, predicate, given, kind)
    return {
        "op_kind": kind.name,
        "filter": given.to_json(),
        "spec": wanted,
        "total_matched": total,
        "noop": noop,
        "sample": sample,
        "breakdown": {
            dimension: dict(list(values.items())[:BREAKDOWN_MAX_VALUES])
            for dimension, values in counts.items()
        },
        "ineligible": ineligible,
        "estimate": takes.to_json(),
        "cost": predicate.cost,
        "costs": [
            {"field": cost.field, "cost": cost.cost, "note": cost.note} for cost in predicate.costs
        ],
        "requires_allow_all": given.is_empty(),
        "plan_token": token,
        "plan_expires_at": until,
    }


def waiting_for(given: JobFilter) -> sql.Composable:
    """The view in which the jobs of a filter are counted."""
    return _BY_ID if given.ids is not None else _BY_WALK


NARROWER: Final = "narrow the filter by queue, state or priority"


@asynccontextmanager
async def counting(
    conn: Connection, max_ms: int, so_far: str, hint: str = NARROWER
) -> AsyncIterator[None]:
    """Let no statement of the block take longer, inside of a transaction; what would raises TooSlow."""
    try:
        await run.row(conn, "operations/bounds", {"statement_ms": max_ms})
        yield
    except AwaError as error:
        if sqlstate(error) != _CANCELLED:
            raise
        raise TooSlow(
            f"counting these jobs would take longer than {max_ms / 1000:g} s; {so_far}",
            hint=hint,
        ) from error


async def _counts(
    conn: Connection,
    predicate: Predicate,
    waiting: sql.Composable,
    kind: kinds.Kind,
    params: dict[str, Any],
) -> tuple[dict[str, dict[str, int]], int]:
    """Jobs by dimension and value, and how many of all are at the target already."""
    statement = run.statement("operations/preview_counts").format(
        filter=predicate.sql, waiting=waiting, unchanged=run.statement(kind.unchanged)
    )
    counts: dict[str, dict[str, int]] = defaultdict(dict, queue={}, kind={}, state={}, priority={})
    noop = 0
    for row in await run.rows_of(conn, statement, predicate.params | params):
        counts[row["dimension"]][row["value"]] = row["jobs"]
        if row["dimension"] == "all":
            noop = row["noop"]
    return dict(counts), noop


async def _sample(
    conn: Connection, predicate: Predicate, waiting: sql.Composable
) -> list[dict[str, Any]]:
    statement = run.statement("operations/preview_sample").format(
        filter=predicate.sql, waiting=waiting
    )
    return await run.rows_of(conn, statement, predicate.params | {"limit": SAMPLE_ROWS})


async def _ineligible(
    conn: Connection, predicate: Predicate, given: JobFilter, kind: kinds.Kind
) -> dict[str, int] | None:
    """Matching jobs in other states, or None when there are too many jobs to look through at once."""
    if given.state is not None or given.matches_nothing():
        return {}
    statement = run.statement("operations/preview_ineligible").format(filter=predicate.sql)
    params = predicate.params | {"eligible": sorted(kind.eligible)}
    try:
        async with conn.transaction():
            await run.row(conn, "operations/bounds", {"statement_ms": INELIGIBLE_MAX_MS})
            found = await run.rows_of(conn, statement, params)
    except AwaError as error:
        if judge(error) is Failure.TRY_AGAIN:
            return None
        raise
    return {row["state"]: row["jobs"] for row in found}
