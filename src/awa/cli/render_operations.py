"""How batch operations are shown: a preview before, a row while, totals by reason after.

The demo shows its operations with the same functions, so what it prints is what an operator sees.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from awa.cli.output import Column, cell, fields_table, number, rows_table
from awa.cli.progress import clock
from awa.cli.render import short_day, short_time
from awa.model.states import OperationState
from awa.model.steering import changes_in_words
from awa.operations.kinds import UNDO

BREAKDOWN_VALUES: Final = 5
SAMPLE_ROWS: Final = 5
SAMPLE_COLUMNS: Final = (
    Column("id", "ID", right=True, plain=True),
    Column("kind", "KIND", elastic=True),
    Column("queue", "QUEUE", elastic=True),
    Column("state", "STATE"),
    Column("priority", "PRIO", right=True),
)
_NARROW_COLUMNS: Final = (
    Column("id", "ID", plain=True),
    Column("op_kind", "KIND", elastic=True),
    Column("state", "STATE"),
    Column("share", "DONE", right=True),
    Column("since", "SINCE"),
)
_WIDE_COLUMNS: Final = (
    Column("id", "ID", plain=True),
    Column("op_kind", "KIND", elastic=True),
    Column("state", "STATE"),
    Column("total_matched", "MATCHED", right=True),
    Column("processed", "DONE", right=True),
    Column("skipped", "SKIPPED", right=True),
    Column("errored", "ERRORED", right=True),
    Column("submitted", "SUBMITTED"),
    Column("submitted_by", "BY", elastic=True),
)
WIDE_ENOUGH: Final = 110
ITEM_COLUMNS: Final = (
    Column("job_id", "JOB", right=True, plain=True),
    Column("state", "OUTCOME"),
    Column("reason", "REASON"),
    Column("processed_at", "AT"),
    Column("error", "ERROR", wrap=True, elastic=True),
)
_ELIGIBLE_WORDS: Final = {
    "set_priority": "get the priority {priority}",
    "move_queue": "go to the queue {queue}",
    "undo": "get back what operation {operation_id} changed",
}


def intention(op_kind: str, spec: Mapping[str, Any]) -> str:
    """What an operation does to its jobs, in words."""
    template = _ELIGIBLE_WORDS.get(op_kind)
    if template is None:
        return f"are given to {op_kind} {_compact(spec)}"
    words = template.format_map(spec)
    if op_kind == "move_queue" and spec.get("priority") is not None:
        words += f" with priority {spec['priority']}"
    return words


def preview_page(preview: Mapping[str, Any]) -> RenderableType:
    """What would be touched, by what it is; a sample; what is left alone, and why."""
    verb = intention(preview["op_kind"], preview["spec"])
    total = number(preview["total_matched"], "job")
    parts: list[RenderableType] = [Text(f"{total} would {verb}.", style="bold")]
    if preview["noop"]:
        parts.append(Text(f"{preview['noop']:,} of them are at the target already (noop)."))
    parts += _breakdown(preview["breakdown"])
    parts += _ineligible(preview["ineligible"], undo=preview["op_kind"] == UNDO)
    if preview["total_matched"]:
        parts.append(_duration(preview["estimate"]))
    parts += [
        Text(f"Cost of {cost['field']}: {cost['note']}.", style="dim")
        for cost in preview["costs"]
        if cost["cost"] == "scan"
    ]
    if preview["sample"]:
        parts.append(Text("The first of them:"))
        parts.append(
            Padding(
                rows_table(preview["sample"][:SAMPLE_ROWS], SAMPLE_COLUMNS),
                (0, 0, 0, 2),
                expand=False,
            )
        )
    return Group(*parts)


def operation_columns(width: int) -> tuple[Column, ...]:
    """The columns of a list of operations that fit: an id alone takes 36 of 80."""
    return _WIDE_COLUMNS if width >= WIDE_ENOUGH else _NARROW_COLUMNS


def operation_line(row: Mapping[str, Any]) -> dict[str, Any]:
    """What fits into a line of a list."""
    total = row["total_matched"]
    accounted = row["processed"] + row["skipped"] + row["errored"]
    share = None if total is None else f"{100 * accounted // total if total else 100} %"
    times = {"submitted": short_time(row["submitted_at"]), "since": short_day(row["submitted_at"])}
    return {**row, "share": share, **times}


def operation_page(
    row: Mapping[str, Any], events: Sequence[Mapping[str, Any]] = ()
) -> RenderableType:
    """One operation with its counts and totals by reason, and what happened to it."""
    state = OperationState(row["state"])
    facts = {
        "operation": str(row["id"]),
        "kind": f"{row['op_kind']} {_compact(row['spec'])}",
        # The filter of an undo is empty, and must not read as if every job were meant.
        "undoes": row.get("undo_of") and f"what {row['undo_of']} changed",
        "filter": None if row.get("undo_of") else _compact(row["filter"]),
        "state": state.value,
        "undone by": _undos(row),
        "paused": _paused(row),
        "reason": row.get("reason"),
        "pace": pace_words(row),
        "not before": row.get("not_before"),
        "max jobs": row.get("max_jobs"),
        "submitted": f"{cell(row['submitted_at'])} by {row['submitted_by'] or '-'}",
        "started": row["started_at"],
        "finalized": row["finalized_at"],
        "runner": row["runner_instance"] and str(row["runner_instance"]),
        "last error": row["last_error"],
    }
    known = {name: value for name, value in facts.items() if value is not None}
    return Group(fields_table(known), counts_table(row), *_accounting(row), *_history(events))


def held_words(hold: Mapping[str, Any]) -> str:
    """That all operations are held, by whom, since when and why."""
    why = f": {hold['reason']}" if hold["reason"] else ""
    return f"All batch operations are held by {hold['held_by']} since {short_time(hold['held_at'])}{why}."


def counts_table(row: Mapping[str, Any]) -> RenderableType:
    """Matched, processed, skipped and errored, with the reasons below their count."""
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(justify="right")
    table.add_column()
    table.add_row("matched", cell(row["total_matched"]), "")
    for outcome in ("processed", "skipped", "errored"):
        reasons = (row.get("totals") or {}).get(outcome) or {}
        named = [f"{reason} {count:,}" for reason, count in sorted(reasons.items()) if reason]
        table.add_row(outcome, cell(row[outcome]), Text(", ".join(named), style="dim"))
    if row.get("pending"):
        table.add_row("pending", cell(row["pending"]), "")
    return table


def _paused(row: Mapping[str, Any]) -> str | None:
    if row.get("paused_at") is None:
        return None
    why = f": {row['paused_reason']}" if row["paused_reason"] else ""
    return f"{cell(row['paused_at'])} by {row['paused_by']}, while {row['paused_from']}{why}"


def _undos(row: Mapping[str, Any]) -> str | None:
    told = [
        f"{undo['id']} ({undo['state']}, {number(undo['processed'], 'job')} put back)"
        for undo in row.get("undos") or ()
    ]
    return "\n".join(told) or None


def pace_words(row: Mapping[str, Any]) -> str:
    """How fast an operation may go, and its own priority."""
    limit = row.get("max_rows_per_second")
    rate = "as fast as it can" if limit is None else f"at most {limit:,} jobs a second"
    return f"{rate}, priority {row['priority']}"


def _accounting(row: Mapping[str, Any]) -> list[RenderableType]:
    """The sum that must hold, spelled out once an operation has ended."""
    total = row["total_matched"]
    if total is None or row.get("pending"):
        return []
    parts = (row["processed"], row["skipped"], row["errored"])
    words = " + ".join(f"{part:,}" for part in parts)
    return [Text(f"{words} = {total:,}", style="green" if sum(parts) == total else "red")]


def _history(events: Sequence[Mapping[str, Any]]) -> list[RenderableType]:
    lines = [
        f"{cell(event['at'])}  {changes_in_words(event['changes']) or event['to_state']} by {event['actor']}"
        + (f": {event['reason']}" if event["reason"] else "")
        for event in events
    ]
    return [Text("\n".join(lines), style="dim")] if lines else []


def _breakdown(breakdown: Mapping[str, Any]) -> list[RenderableType]:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for dimension, values in breakdown.items():
        if not values:
            continue
        pairs = sorted(values.items(), key=lambda pair: (-pair[1], pair[0]))
        shown = [f"{value}: {count:,}" for value, count in pairs[:BREAKDOWN_VALUES]]
        if len(pairs) > BREAKDOWN_VALUES:
            shown.append(f"and {len(pairs) - BREAKDOWN_VALUES} more")
        table.add_row(f"by {dimension}", Text(", ".join(shown)))
    return [table] if table.row_count else []


def _duration(estimate: Mapping[str, Any]) -> Text:
    """How long it takes, and how that is known."""
    known = (
        "as the last such operation here" if estimate["measured"] else "assumed: none ran here yet"
    )
    rate = f"{estimate['rate_per_s']:,.0f} jobs/s, {known}"
    seconds = estimate["duration_s"]
    takes = "less than a second" if seconds < 1 else f"about {clock(seconds)}"
    return Text(f"It takes {takes} ({rate}).", style="dim")


def _ineligible(ineligible: Mapping[str, int] | None, *, undo: bool) -> list[RenderableType]:
    if not ineligible:
        return []
    named = ", ".join(f"{reason} {count:,}" for reason, count in sorted(ineligible.items()))
    why = "because they are not as it left them" if undo else "because of their state"
    return [Text(f"Left alone, {why}: {named}.")]


def _compact(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()
