"""A batch operation: an operator's mutation of many jobs, as a durable thing of its own.

The column names are those of ADR-030; what the client, the command line and HTTP show are mappings
with these names. The runner works with `BatchOperation`, which holds what a chunk needs to know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from awa.model.states import OperationState

OPERATION_COLUMNS: Final = (
    "id",
    "op_kind",
    "filter",
    "spec",
    "state",
    "submitted_by",
    "submitted_at",
    "started_at",
    "finalized_at",
    "cursor",
    "total_matched",
    "processed",
    "skipped",
    "errored",
    "last_error",
    "runner_instance",
    "retention_until",
    "updated_at",
    "reason",
    "priority",
    "max_rows_per_second",
    "scan_bound",
    "idempotency_key",
    "wait_until",
    "paced_until",
    "not_before",
    "max_jobs",
    "paused_from",
    "paused_by",
    "paused_at",
    "paused_reason",
    "undo_of",
    "keeps_places",
    "purge_began_at",
)
ITEM_COLUMNS: Final = (
    "operation_id",
    "job_id",
    "state",
    "error",
    "processed_at",
    "reason",
    "before",
)
EVENT_COLUMNS: Final = (
    "id",
    "operation_id",
    "at",
    "actor",
    "from_state",
    "to_state",
    "reason",
    "changes",
)


@dataclass(frozen=True, slots=True)
class BatchOperation:
    """What the runner reads of one row of `awa.batch_operations`."""

    id: UUID
    op_kind: str
    filter: dict[str, Any]
    spec: dict[str, Any]
    state: OperationState
    priority: int
    cursor: dict[str, Any]
    scan_bound: int | None
    total_matched: int | None
    processed: int
    skipped: int
    errored: int
    last_error: str | None
    max_rows_per_second: int | None
    max_jobs: int | None
    paused_from: OperationState | None
    started_at: datetime | None
    undo_of: UUID | None = None

    @property
    def pending(self) -> int:
        """Items that are not accounted yet; at every commit the four add up to `total_matched`."""
        return (self.total_matched or 0) - self.processed - self.skipped - self.errored


def operation_from_row(row: Mapping[str, Any]) -> BatchOperation:
    """A `BatchOperation` from a row of the table; what the runner does not need is left out."""
    return BatchOperation(
        id=row["id"],
        op_kind=row["op_kind"],
        filter=row["filter"],
        spec=row["spec"],
        state=OperationState(row["state"]),
        priority=row["priority"],
        cursor=row["cursor"] or {},
        scan_bound=row["scan_bound"],
        total_matched=row["total_matched"],
        processed=row["processed"],
        skipped=row["skipped"],
        errored=row["errored"],
        last_error=row["last_error"],
        max_rows_per_second=row["max_rows_per_second"],
        max_jobs=row["max_jobs"],
        paused_from=None if row["paused_from"] is None else OperationState(row["paused_from"]),
        started_at=row["started_at"],
        undo_of=row["undo_of"],
    )


def chunk_times(record: Sequence[int] | None) -> list[dict[str, float]]:
    """How long the chunks of an operation took, oldest first: what `awa.note_chunk` keeps, with names.

    A point stands for one chunk or, in a long operation, for several: `at_s` after the beginning the last of
    them was done, `chunks` and `items` are what it stands for, `mean_ms` and `max_ms` what they took.
    """
    points = [] if record is None else [record[at : at + 5] for at in range(1, len(record), 5)]
    return [
        {
            "at_s": at_cs / 100,
            "chunks": chunks,
            "items": items,
            "mean_ms": sum_ms / chunks,
            "max_ms": max_ms,
        }
        for at_cs, chunks, items, sum_ms, max_ms in points
    ]
