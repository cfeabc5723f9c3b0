"""Schedules: when a job is to be enqueued again and again, in the words of cron.

Expressions have five fields (minute, hour, day, month, weekday) or six with seconds first, and are read in a time zone.
What happens at a change of the clock follows Debian's cron, as the library cronsim has it: a fixed time that the clock
leaps over comes at the end of the gap, one that the clock shows twice comes once, and `*/30` simply goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import islice
from typing import Any, Final
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

from awa.model.draft import Prepared, check_options, prepare, queue_for
from awa.model.errors import FieldProblem, ValidationError, invalid_field, invalid_fields
from awa.model.limits import check_queue
from awa.model.task import Tasks

EXPRESSION_MAX_CHARS: Final = 200
APP_DEFAULT: Final = "default"


class Missed(StrEnum):
    """What becomes of fires whose time passed while no leader was there."""

    COALESCE = "coalesce"
    """One job for all of them, at the latest of their times."""
    CATCH_UP = "catch_up"
    """A job for each."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One entry of the plan: when, and which job. `args_json` is UTF-8."""

    name: str
    cron_expr: str
    timezone: str
    missed: Missed
    queue: str
    job: Prepared


def make_schedule(
    name: object,
    cron_expr: object,
    args: object,
    *,
    timezone: object = "UTC",
    missed: object = Missed.COALESCE,
    tasks: Tasks | None = None,
    options: Mapping[str, Any],
) -> Schedule:
    """Check everything about a schedule. Raises ValidationError with a field for each thing that is wrong."""
    problems: list[FieldProblem] = []
    for check in (
        lambda: check_schedule_name(name),
        lambda: check_timezone(timezone),
        lambda: check_expression(cron_expr),
        lambda: _check_missed(missed),
        lambda: _refuse_per_job(options),
    ):
        try:
            check()
        except ValidationError as problem:
            problems.extend(problem.fields)
    if problems:
        raise invalid_fields("schedule", problems)
    checked = check_options(options)  # type: ignore[arg-type]
    prepared = prepare(args, checked, tasks)
    return Schedule(
        name=check_schedule_name(name),
        cron_expr=check_expression(cron_expr),
        timezone=check_timezone(timezone),
        missed=_check_missed(missed),
        queue=queue_for([prepared.kind], checked, tasks),
        job=prepared,
    )


def check_schedule_name(name: object, *, field: str = "name") -> str:
    """A schedule's name, under the same rules as a queue name."""
    return check_queue(name, field=field)


def check_expression(expression: object, *, field: str = "cron_expr") -> str:
    """Five or six fields that some time in the next decades answers to."""
    if not isinstance(expression, str):
        raise invalid_field(field, f"expected a text such as '0 9 * * 1-5', got {expression!r}")
    text = " ".join(expression.split())
    if len(text) > EXPRESSION_MAX_CHARS:
        raise invalid_field(field, f"at most {EXPRESSION_MAX_CHARS} characters, got {len(text)}")
    fields = len(text.split())
    if fields not in (5, 6):
        raise invalid_field(
            field,
            f"expected five fields (minute hour day month weekday) or six with seconds first, got {fields} in {text!r}",
        )
    try:
        next(CronSim(text, datetime.now(UTC)))
    except CronSimError as problem:
        raise invalid_field(field, f"{str(problem).lower()} in {text!r}") from None
    except StopIteration:
        raise invalid_field(field, f"{text!r} never comes") from None
    return text


def check_timezone(name: object, *, field: str = "timezone") -> str:
    """A name of the IANA time zone database, such as Europe/Berlin."""
    if not isinstance(name, str):
        raise invalid_field(field, f"expected a name such as 'Europe/Berlin', got {name!r}")
    try:
        ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        raise invalid_field(
            field,
            f"there is no time zone {name!r}",
            hint="use a name such as Europe/Berlin, or UTC",
        ) from None
    return name


def next_ticks(cron_expr: str, timezone: str, after: datetime, limit: int) -> list[datetime]:
    """The first `limit` times after `after`, in UTC. Fewer if the expression ends."""
    return list(islice(_ticks(cron_expr, timezone, after), limit))


def next_tick(cron_expr: str, timezone: str, after: datetime) -> datetime | None:
    """The first time after `after`, in UTC."""
    return next(_ticks(cron_expr, timezone, after), None)


def latest_tick(cron_expr: str, timezone: str, until: datetime) -> datetime | None:
    """The last time at or before `until`, in UTC."""
    # cronsim's times are strictly before the one it goes back from.
    just_after = (until + timedelta(microseconds=1)).astimezone(ZoneInfo(timezone))
    with _told():
        found = next(CronSim(cron_expr, just_after, reverse=True), None)
    return None if found is None else found.astimezone(UTC)


def explain(cron_expr: str) -> str:
    """The expression in words: 'At 09:00 on Monday through Friday'; the expression itself if it is none."""
    try:
        return CronSim(cron_expr, datetime.now(UTC)).explain()
    except CronSimError:
        return cron_expr


def _ticks(cron_expr: str, timezone: str, after: datetime) -> Iterator[datetime]:
    with _told():
        for tick in CronSim(cron_expr, after.astimezone(ZoneInfo(timezone))):
            yield tick.astimezone(UTC)


@contextmanager
def _told() -> Iterator[None]:
    """What somebody wrote into the table by hand may be no expression at all."""
    try:
        yield
    except CronSimError as problem:
        raise invalid_field("cron_expr", str(problem).lower()) from None
    except (ValueError, OSError, LookupError) as problem:
        raise invalid_field("timezone", str(problem)) from None


def _check_missed(missed: object) -> Missed:
    try:
        return Missed(missed)  # type: ignore[arg-type]
    except ValueError:
        raise invalid_field(
            "missed", f"expected one of {', '.join(Missed)}, got {missed!r}"
        ) from None


def _refuse_per_job(options: Mapping[str, Any]) -> None:
    """A schedule's jobs run when they are fired."""
    if options.get("run_at") is not None:
        raise invalid_field("run_at", "a schedule says itself when its jobs run")
