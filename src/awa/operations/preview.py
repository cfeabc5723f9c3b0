"""What an operation would touch, before it is submitted: counts, a sample and what the filter costs.

Preview asks with the same compiler and the same rules of eligibility as the scan. It is advice, not a
promise: jobs go on being claimed, and the scan counts anew. It changes nothing, so it is allowed where
nothing may be changed, and it never refuses an empty filter: an operator must see what "all" means.
"""

from collections import defaultdict
from typing import Any, Final

from psycopg import sql

from awa.db import run
from awa.db.run import Connection
from awa.model.errors import AwaError
from awa.model.filter import JobFilter
from awa.operations import kinds
from awa.operations.compile import Predicate, compile_filter
from awa.operations.failures import Failure, judge

SAMPLE_ROWS: Final = 10
BREAKDOWN_MAX_VALUES: Final = 100
INELIGIBLE_MAX_MS: Final = 500
PREVIEW_MAX_MS: Final = 60_000
# The same jobs: one view finds them by id, the other walks through the backlog without its history.
_BY_ID: Final = sql.SQL("awa.waiting_jobs")
_BY_WALK: Final = sql.SQL("awa.waiting_backlog")


async def preview(
    conn: Connection,
    op_kind: str,
    filter: Any,
    spec: Any,
) -> dict[str, Any]:
    """Count and sample the jobs that the operation would change now.

    `ineligible` counts by state the jobs that match but may not be changed; it is None when that
    would take longer than half a second. Raises `ValidationError` as submit does.
    """
    kind = kinds.get(op_kind)
    given = JobFilter.parse(filter)
    checked = kind.parse_spec(spec)
    kind.check_filter(given)
    predicate = compile_filter(given)
    async with conn.transaction():
        await run.row(conn, "operations/bounds", {"statement_ms": PREVIEW_MAX_MS})
        waiting = _BY_ID if given.ids is not None else _BY_WALK
        counts = await _counts(conn, predicate, waiting)
        sample = await _sample(conn, predicate, waiting)
        ineligible = await _ineligible(conn, predicate, given, kind)
    total = counts.pop("all", {}).get("", 0)
    return {
        "op_kind": kind.name,
        "filter": given.to_json(),
        "spec": kinds.spec_json(checked),
        "total_matched": total,
        "sample": sample,
        "breakdown": counts,
        "ineligible": ineligible,
        "cost": predicate.cost,
        "costs": [
            {"field": cost.field, "cost": cost.cost, "note": cost.note} for cost in predicate.costs
        ],
        "requires_allow_all": given.is_empty(),
    }


async def _counts(
    conn: Connection, predicate: Predicate, waiting: sql.Composable
) -> dict[str, dict[str, int]]:
    """Jobs by dimension and value; each dimension's greatest values only."""
    statement = run.statement("operations/preview_counts").format(
        filter=predicate.sql, waiting=waiting
    )
    counts: dict[str, dict[str, int]] = defaultdict(dict, queue={}, kind={}, state={}, priority={})
    for row in await run.rows_of(conn, statement, predicate.params):
        values = counts[row["dimension"]]
        if len(values) < BREAKDOWN_MAX_VALUES:
            values[row["value"]] = row["jobs"]
    return dict(counts)


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
