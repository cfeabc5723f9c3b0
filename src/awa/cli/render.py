"""How jobs are shown: as a document for programs and as a line or a page for people."""

from dataclasses import asdict, is_dataclass
from datetime import datetime
from typing import Any

import orjson
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from awa.cli.output import cell, fields_table
from awa.model.job import JOB_COLUMNS, Job

ARGS_SHOWN_LINES = 40


def job_document(job: Job[Any]) -> dict[str, Any]:
    """All columns of `awa.jobs`, ready for JSON."""
    document = {name: getattr(job, name) for name in JOB_COLUMNS}
    args = document["args"]
    if is_dataclass(args) and not isinstance(args, type):
        document["args"] = asdict(args)
    return document


def job_line(job: Job[Any]) -> dict[str, Any]:
    """What fits into a line of a list."""
    return {
        "id": job.id,
        "kind": job.kind,
        "queue": job.queue,
        "state": str(job.state),
        "priority": job.priority,
        "attempts": f"{job.attempt}/{job.max_attempts}",
        "run_at": short_time(job.run_at),
        "tags": list(job.tags),
    }


def short_time(moment: datetime) -> str:
    """The time if it is today's, the day and the time otherwise, by the clock of this machine."""
    local = moment.astimezone()
    today = local.date() == datetime.now(local.tzinfo).date()
    return local.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M")


def short_day(moment: datetime) -> str:
    """As short as can be: the time if it is today's, the day in this year, the month before that."""
    local = moment.astimezone()
    now = datetime.now(local.tzinfo)
    if local.date() == now.date():
        return local.strftime("%H:%M:%S")
    return local.strftime("%d %b" if local.year == now.year else "%b %Y")


def job_page(job: Job[Any], unique: dict[str, Any] | None = None) -> RenderableType:
    """Everything about one job: its columns, its unique key, its arguments, and what went wrong so far."""
    document = job_document(job)
    if unique is not None:
        document["unique"] = f"by {', '.join(unique['by'])}; {unique['told']}"
    args, errors = document.pop("args"), document.pop("errors")
    document["id"] = str(document["id"])
    document["attempt"] = f"{document.pop('attempt')} of {document.pop('max_attempts')}"
    known = {name: value for name, value in document.items() if value not in (None, {}, ())}
    parts: list[RenderableType] = [
        fields_table(known),
        Text("arguments", style="bold"),
        _json(args),
    ]
    if errors:
        parts.append(Text("errors, oldest first", style="bold"))
        parts += [_error_line(error) for error in errors]
    return Group(*parts)


def _json(value: Any) -> RenderableType:
    lines = orjson.dumps(value, option=orjson.OPT_INDENT_2, default=str).decode().splitlines()
    if len(lines) > ARGS_SHOWN_LINES:
        left_out = len(lines) - ARGS_SHOWN_LINES
        lines = [*lines[:ARGS_SHOWN_LINES], f"… {left_out:,} more lines (--json shows all)"]
    code = Syntax(
        "\n".join(lines), "json", theme="ansi_dark", background_color="default", word_wrap=True
    )
    return Padding(code, (0, 0, 0, 2), expand=False)


def _error_line(error: dict[str, Any]) -> RenderableType:
    kind = f"{error['kind']}: " if error.get("kind") else ""
    at = datetime.fromisoformat(error["at"]) if error.get("at") else None
    words = f"  attempt {error.get('attempt', '?')}, {cell(at)}: {kind}"
    return Text(words + str(error.get("error", "")))
