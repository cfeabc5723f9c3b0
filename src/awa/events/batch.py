"""What happens to batch operations."""

from __future__ import annotations

from collections.abc import Iterable

from awa.events.instruments import Counter, Duration, Gauge

_submitted = Counter("awa_batch_operations_submitted_total", "Operations submitted", ["op_kind"])
_active = Gauge("awa_batch_operations_active", "Operations that are not ended yet", ["state"])
_held = Gauge("awa_batch_operations_held", "1 while all operations are held", [])
_rows = Counter(
    "awa_batch_rows_total",
    "Items accounted, by outcome and reason",
    ["op_kind", "outcome", "reason"],
)
_chunk_s = Duration("awa_batch_chunk_duration_seconds", "Duration of one chunk", ["op_kind"])
_finalized = Counter(
    "awa_batch_operations_finalized_total", "Operations that ended, by state", ["op_kind", "state"]
)


def submitted(op_kind: str) -> None:
    """An operation was submitted."""
    _submitted.add(1, op_kind)


def active(state: str, operations: int) -> None:
    """So many operations are in this state (pending, scanning, running, paused, cancelling) now."""
    _active.set(operations, state)


def held(is_held: bool) -> None:
    """All operations are held, or are not."""
    _held.set(int(is_held))


def rows(op_kind: str, outcome: str, count: int, reason: str = "") -> None:
    """So many items were accounted as processed, skipped or errored."""
    _rows.add(count, op_kind, outcome, reason)


def chunk_took(op_kind: str, seconds: float) -> None:
    """One chunk was committed."""
    _chunk_s.observe(seconds, op_kind)


def finalized(op_kind: str, state: str) -> None:
    """An operation ended completed, cancelled or failed."""
    _finalized.add(1, op_kind, state)


def names() -> Iterable[str]:
    """The names of these metrics, for the documentation's check."""
    return (metric.name for metric in (_submitted, _active, _held, _rows, _chunk_s, _finalized))
