"""What an operation did to each job, as a file: CSV for a spreadsheet, NDJSON for a program.

It is written a page at a time, each page in a transaction of its own: a snapshot held for as long as somebody
downloads would keep the ring from being emptied. An item doesn't change once it is accounted, so of an operation
that has ended the pages fit together; of one under way each page says what was true when it was read.
"""

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import orjson

from awa.db import run
from awa.db.run import Connection
from awa.operations.read import Row, checked_outcome, get
from awa.operations.transition import as_uuid

PAGE_ROWS: Final = 1_000
COLUMNS: Final = ("job_id", "state", "reason", "error", "processed_at", "before")
JOB_COLUMNS: Final = ("job_state", "job_queue", "job_priority", "job_attempt", "job_finalized_at")
# A spreadsheet takes a cell that begins with one of these for a formula, and runs it.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


def columns(*, with_jobs: bool) -> tuple[str, ...]:
    """The columns of a report; `with_jobs` adds what has become of the jobs since."""
    return COLUMNS + JOB_COLUMNS if with_jobs else COLUMNS


async def page(
    conn: Connection,
    operation_id: UUID | str,
    *,
    outcome: str | None = None,
    reason: str | None = None,
    with_jobs: bool = False,
    after: int = 0,
) -> list[Row]:
    """At most `PAGE_ROWS` items after a job's id, by job id; none: the end. Raises `NotFound`.

    `with_jobs` looks for each job, which takes twenty times as long.
    """
    wanted = as_uuid(operation_id)
    params = {
        "id": wanted,
        "outcome": checked_outcome(outcome),
        "reason": reason,
        "after": after,
        "limit": PAGE_ROWS,
    }
    statement = "operations/items_since" if with_jobs else "operations/items"
    found = await run.rows(conn, statement, params)
    if not found and not after:
        await get(conn, wanted)
    return found


@dataclass(frozen=True, slots=True)
class Format:
    """How a report is written: what stands first, and then each page."""

    suffix: str
    media_type: str
    head: Callable[[Sequence[str]], bytes]
    rows: Callable[[Sequence[Row], Sequence[str]], bytes]


def _csv_head(names: Sequence[str]) -> bytes:
    return _csv([list(names)])


def _csv_rows(rows: Sequence[Row], names: Sequence[str]) -> bytes:
    return _csv([[_cell(row[name]) for name in names] for row in rows])


def _ndjson_head(_names: Sequence[str]) -> bytes:
    return b""


def _ndjson_rows(rows: Sequence[Row], names: Sequence[str]) -> bytes:
    lines = [orjson.dumps({name: row[name] for name in names}) for row in rows]
    return b"".join(line + b"\n" for line in lines)


def _csv(lines: list[list[Any]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue().encode()


def _cell(value: object) -> object:
    match value:
        case None:
            return ""
        case datetime():
            return value.isoformat()
        case dict() | list():
            return orjson.dumps(value).decode()
        case str():
            return f"'{value}" if value.startswith(_FORMULA) else value
    return value


CSV: Final = Format("csv", "text/csv; charset=utf-8", _csv_head, _csv_rows)
"""RFC 4180, with a line of names; no cell is a formula."""
NDJSON: Final = Format("ndjson", "application/x-ndjson", _ndjson_head, _ndjson_rows)
"""JSON objects, one a line."""
