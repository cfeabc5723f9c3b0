"""What operators say about a whole queue, for all its workers together: how many jobs may run, how fast they are begun."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, Literal, TypeAlias

from awa.model.errors import ValidationError, invalid_field
from awa.model.limits import check_whole_number

MAX_RUNNING_MAX: Final = 1_000_000
RATE_LIMIT_MAX: Final = 1_000_000
RATE_PERIOD_MIN_S: Final = 0.1
RATE_PERIOD_MAX_S: Final = 86_400.0

_RATE = re.compile(r"(\d+)/(\d+(?:\.\d+)?)?(ms|s|min|m|h|d)")
_UNIT_S: Final = {"ms": 0.001, "s": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


class Unchanged(Enum):
    """The one value of an argument that was left out; None takes a limit away."""

    UNCHANGED = "unchanged"


UNCHANGED: Final = Unchanged.UNCHANGED
Limit: TypeAlias = "int | Literal[Unchanged.UNCHANGED] | None"


def queue_limits(
    max_running: Limit = UNCHANGED,
    rate_limit: Limit = UNCHANGED,
    rate_period_seconds: float | None = None,
    *,
    period_field: str = "rate_period_seconds",
) -> dict[str, Any]:
    """The limits that are to change, checked, by the names of their columns. Raises ValidationError."""
    changes: dict[str, Any] = {}
    if max_running is not UNCHANGED:
        changes["max_running"] = _limit(max_running, "max_running", MAX_RUNNING_MAX)
    if rate_limit is not UNCHANGED:
        changes["rate_limit"] = _limit(rate_limit, "rate_limit", RATE_LIMIT_MAX)
        changes["rate_period_s"] = None
        if rate_limit is not None:
            changes["rate_period_s"] = _period(
                1.0 if rate_period_seconds is None else rate_period_seconds, period_field
            )
    if rate_period_seconds is not None and changes.get("rate_limit") is None:
        raise invalid_field(period_field, "goes with a rate_limit")
    if not changes:
        raise ValidationError(
            "no limit is given", hint="give max_running, rate_limit or both; null takes one away"
        )
    return changes


def read_rate(text: str, *, field: str = "rate") -> tuple[int, float]:
    """`100/s`, `20/min`, `1000/h`, `5/10s` as (jobs, seconds). Raises ValidationError."""
    found = _RATE.fullmatch(text.replace(" ", ""))
    if found is None:
        raise invalid_field(
            field, f"expected jobs per time, such as 100/s, 20/min or 5/10s, got {text!r}"
        )
    jobs, times, unit = found.groups()
    return int(jobs), float(times or 1) * _UNIT_S[unit]


def rate_words(jobs: int, period_s: float) -> str:
    """`100/s`, as `read_rate` reads it."""
    for unit in ("d", "h", "min", "s"):
        times = period_s / _UNIT_S[unit]
        if times == 1:
            return f"{jobs}/{unit}"
        if times > 1 and times == int(times):
            return f"{jobs}/{int(times)}{unit}"
    return f"{jobs}/{period_s:g}s"


def limit_words(limits: Mapping[str, Any]) -> str:
    """What the limits of a queue say, after its name: "has no limit", "runs at most 5 jobs at once and begins at most 100/s"."""
    said = []
    if limits["max_running"] is not None:
        said.append(f"runs at most {_jobs(limits['max_running'])} at once")
    if limits["rate_limit"] is not None:
        rate = rate_words(limits["rate_limit"], limits["rate_period_s"])
        said.append(f"begins at most {rate}")
    return " and ".join(said) or "has no limit"


def _jobs(count: int) -> str:
    return f"{count:,} job" if count == 1 else f"{count:,} jobs"


def _limit(value: Any, field: str, highest: int) -> int | None:
    return None if value is None else check_whole_number(value, field, 1, highest)


def _period(seconds: Any, field: str) -> float:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise invalid_field(field, f"expected a number of seconds, got {seconds!r}")
    if not RATE_PERIOD_MIN_S <= seconds <= RATE_PERIOD_MAX_S:
        bounds = f"{RATE_PERIOD_MIN_S:g} to {RATE_PERIOD_MAX_S:g}"
        raise invalid_field(field, f"must be {bounds}, got {seconds}")
    return float(seconds)
