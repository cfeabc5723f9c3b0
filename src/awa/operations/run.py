"""Carries an operation out, one chunk a transaction.

A chunk takes the next pending items by key, locks their jobs as far as they still wait, and then in a
new statement checks the filter again, changes what still matches, records what became of each item
and adds to the counters. Job, item and counters change together or not at all, so a chunk that dies
half way has not happened, and no item is ever accounted twice.

Jobs that somebody else holds locked stay pending. When the pass is through, another one follows after
a short wait, and looks only at what was left.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from psycopg.types.json import Jsonb

from awa.db import run
from awa.db.run import Connection
from awa.model.operation import BatchOperation, operation_from_row
from awa.operations.compile import compile_filter
from awa.operations.fence import Guard
from awa.operations.task import Task

# A later pass meets items that are accounted already; it may look so far to find pending ones.
PASS_WALK_ROWS: Final = 20_000
PASS_WAIT_S: Final = 0.2
PASS_WAIT_MAX_S: Final = 5.0

ROWS: Final = "operations/recheck/rows"
PLACES: Final = "operations/recheck/places"


@dataclass(frozen=True, slots=True)
class Chunk:
    """What a chunk took and how far it went; the arrays are PostgreSQL's text, passed through unread."""

    after: int
    upto: int | None
    taken: int
    more: bool
    ids: str
    lanes: str
    seqs: str
    slots: str
    rest: str
    rest_first: int | None


@dataclass(frozen=True, slots=True)
class ChunkDone:
    """What a chunk did: the operation afterwards, items taken, and items accounted by state and reason."""

    operation: BatchOperation
    taken: int
    by_reason: list[tuple[str, str, int]]


async def run_chunk(
    conn: Connection,
    operation: BatchOperation,
    task: Task,
    *,
    rows: int,
    guard: Guard,
) -> ChunkDone:
    """Carry out the next `rows` items of an operation that this transaction holds."""
    chunk = await _pick(conn, operation, rows)
    cursor, pause_s = _bookmark(operation, chunk)
    kept = {
        "id": operation.id,
        "cursor": Jsonb(cursor),
        "runner": guard.holder,
        "pause_s": pause_s,
    }
    if not chunk.taken:
        row = await run.row(conn, "operations/bookmark", kept)
        assert row is not None, "the operation is held"
        return ChunkDone(operation_from_row(row), 0, [])
    changed = await _change(conn, task, chunk, kept)
    by_reason = [tuple(sums) for sums in changed["by_reason"] or ()]
    return ChunkDone(operation_from_row(changed), chunk.taken, by_reason)


async def first_pending(conn: Connection, operation: BatchOperation) -> int | None:
    """The id of the item that the next chunk would begin with."""
    params = {"id": operation.id, "after": operation.cursor.get("after", 0)}
    job_id: int | None = await run.value(conn, "operations/first_pending", params)
    return job_id


async def give_up_on(
    conn: Connection, operation: BatchOperation, job_id: int, error: str, *, guard: Guard
) -> BatchOperation:
    """Account the one item whose change fails on its own."""
    params = {
        "id": operation.id,
        "job_id": job_id,
        "reason": "failed",
        "error": error,
        "cursor": Jsonb({**operation.cursor, "after": job_id}),
        "runner": guard.holder,
    }
    row = await run.row(conn, "operations/error_item", params)
    return operation if row is None else operation_from_row(row)


async def _pick(conn: Connection, operation: BatchOperation, rows: int) -> Chunk:
    after = operation.cursor.get("after", 0)
    first_pass = operation.cursor.get("pass", 1) == 1
    params = {
        "id": operation.id,
        "after": after,
        "rows": rows,
        "walk": rows if first_pass else max(rows, PASS_WALK_ROWS),
    }
    row = await run.row(conn, "operations/pick", params)
    assert row is not None, "an aggregate returns a row"
    return Chunk(after=after, **row)


async def _change(
    conn: Connection, task: Task, chunk: Chunk, kept: Mapping[str, Any]
) -> dict[str, Any]:
    predicate = compile_filter(task.given, recheck=True, ids=False)
    statement = run.statement("operations/change").format(
        filter=predicate.sql,
        rows=run.statement(PLACES if predicate.asks_for_places_only else ROWS),
        apply=run.statement(task.kind.apply),
    )
    params = {
        **kept,
        "taken": chunk.taken,
        "after": chunk.after,
        "upto": chunk.upto,
        "ids": chunk.ids,
        "lanes": chunk.lanes,
        "seqs": chunk.seqs,
        "slots": chunk.slots,
        "rest": chunk.rest,
        **task.kind.params(task.spec),
        **predicate.params,
    }
    return (await run.rows_of(conn, statement, params))[0]


def _bookmark(operation: BatchOperation, chunk: Chunk) -> tuple[dict[str, Any], float | None]:
    """Where the next chunk begins, and how long it waits if a pass has just ended.

    What could not be locked may be left pending; the next pass begins at the first of it.
    """
    cursor = dict(operation.cursor)
    if chunk.rest_first is not None:
        cursor["again"] = min(cursor.get("again", chunk.rest_first), chunk.rest_first)
    if chunk.more:
        return {**cursor, "after": chunk.upto}, None
    passes = cursor.get("pass", 1)
    begun = {"after": cursor.get("again", 1) - 1, "pass": passes + 1}
    return begun, min(PASS_WAIT_S * 2 ** min(passes - 1, 10), PASS_WAIT_MAX_S)
