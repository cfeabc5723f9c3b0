"""Settings: what an operator may turn, each with its unit, its default and its limits.

Every setting is one line of `Settings`. It says the environment variable that sets it, the default,
and the least and the greatest value that make sense. `Settings.from_env()` reads them all at start,
so that a bad value stops the program there, with the variable, what was seen and what is allowed,
and not at three in the morning in the middle of a duty.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields
from typing import Any, Self

from awa.model.errors import FieldProblem, ValidationError
from awa.model.plan import PlanLimits


def _setting(
    env: str, default: float | None, least: float = 0, greatest: float = math.inf, *, about: str
) -> Any:
    """One numeric setting; whole numbers only, where the default is a whole number."""
    meta = {"env": (env,), "least": least, "greatest": greatest, "about": about}
    return field(default=default, metadata=meta)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of one process. Durations end with their unit."""

    database_url: str | None = field(
        default=None,
        metadata={"env": ("AWA_DATABASE_URL", "DATABASE_URL"), "about": "where PostgreSQL is"},
    )
    pool_max_size: int = _setting(
        "AWA_POOL_MAX_SIZE", 10, 2, 1000, about="connections that one client may hold"
    )
    pool_timeout_s: float = _setting(
        "AWA_POOL_TIMEOUT_S", 30.0, 0.1, 3600, about="wait for a free connection, then an error"
    )

    heartbeat_interval_s: float = _setting(
        "AWA_HEARTBEAT_INTERVAL_S", 5.0, 0.05, 300, about="how often a runtime says it is alive"
    )
    runtime_stale_s: float = _setting(
        "AWA_RUNTIME_STALE_S", 30.0, 0.2, 3600, about="silence after which a runtime counts as dead"
    )
    poll_min_ms: int = _setting(
        "AWA_POLL_MIN_MS", 20, 1, 60_000, about="first wait of an idle queue without LISTEN"
    )
    poll_max_ms: int = _setting(
        "AWA_POLL_MAX_MS", 1000, 1, 60_000, about="longest wait of an idle queue between two looks"
    )
    cancel_grace_s: float = _setting(
        "AWA_CANCEL_GRACE_S", 5.0, 0, 3600, about="from is_cancelled() to cancelling the handler"
    )
    shutdown_timeout_s: float = _setting(
        "AWA_SHUTDOWN_TIMEOUT_S", 30.0, 0, 86_400, about="wait for handlers when shutting down"
    )

    completed_retention_hours: float = _setting(
        "AWA_COMPLETED_RETENTION_HOURS", 24.0, 0.01, 87_600, about="how long completed jobs stay"
    )
    failed_retention_hours: float = _setting(
        "AWA_FAILED_RETENTION_HOURS",
        720.0,
        0.01,
        87_600,
        about="how long failed and cancelled jobs stay",
    )
    callback_retention_hours: float = _setting(
        "AWA_CALLBACK_RETENTION_HOURS",
        168.0,
        0.01,
        87_600,
        about="how long callbacks that were answered can say so",
    )
    callback_secret: str | None = field(
        default=None,
        repr=False,
        metadata={
            "env": ("AWA_CALLBACK_SECRET",),
            "takes": "a secret",
            "about": "signs the URLs of callbacks; several, separated by blanks: the first signs, all are accepted",
        },
    )
    callback_url: str | None = field(
        default=None,
        metadata={
            "env": ("AWA_CALLBACK_URL",),
            "takes": "a URL",
            "about": "where `awa serve` is reached from outside, for the URLs of callbacks",
        },
    )
    dlq_retention_days: float = _setting(
        "AWA_DLQ_RETENTION_DAYS", 90.0, 0.001, 36_500, about="how long dead letters stay"
    )
    batch_op_retention_days: float = _setting(
        "AWA_BATCH_OP_RETENTION_DAYS", 90.0, 0.001, 36_500, about="how long ended operations stay"
    )
    batch_chunk_ms: int = _setting(
        "AWA_BATCH_CHUNK_MS", 100, 5, 10_000, about="time that one chunk of an operation may take"
    )
    batch_concurrency: int = _setting(
        "AWA_BATCH_CONCURRENCY", 2, 1, 64, about="operations that run side by side"
    )
    plan_minutes: float = _setting(
        "AWA_PLAN_MINUTES", 60.0, 0.01, 10_080, about="how long a plan token is good"
    )
    plan_drift_percent: float = _setting(
        "AWA_PLAN_DRIFT_PERCENT",
        1.0,
        0,
        100,
        about="how many of a plan's jobs may be others when it is submitted",
    )
    plan_drift_jobs: int = _setting(
        "AWA_PLAN_DRIFT_JOBS",
        10,
        0,
        1_000_000,
        about="the same as a number, for small plans; at most a tenth of the plan",
    )
    lease_ttl_s: float = _setting(
        "AWA_LEASE_TTL_S",
        15.0,
        0.5,
        300,
        about="after how long a dead maintenance leader is replaced",
    )
    ageing_step_s: float = _setting(
        "AWA_AGEING_STEP_S",
        60.0,
        0,
        86_400,
        about="wait that betters a lane's priority by one; 0: none",
    )
    masked_keys: str | None = field(
        default=None,
        metadata={
            "env": ("AWA_MASKED_KEYS",),
            "takes": "names",
            "about": "fields of arguments whose values pages and API hide; `+ …` adds to the default, `off` hides none",
        },
    )
    session_hours: float = _setting(
        "AWA_SESSION_HOURS", 12.0, 0.01, 720, about="how long a log-in of a browser is good"
    )

    @property
    def plan_limits(self) -> PlanLimits:
        """How long a plan is good, and how much its jobs may drift."""
        return PlanLimits(self.plan_minutes, self.plan_drift_percent, self.plan_drift_jobs)

    def __post_init__(self) -> None:
        problems = [problem for spec in fields(self) if (problem := self._problem(spec))]
        if self.poll_min_ms > self.poll_max_ms:
            problems.append(
                FieldProblem(
                    "poll_min_ms",
                    f"AWA_POLL_MIN_MS is {self.poll_min_ms}, more than AWA_POLL_MAX_MS"
                    f" ({self.poll_max_ms})",
                )
            )
        if self.runtime_stale_s < 2 * self.heartbeat_interval_s:
            problems.append(
                FieldProblem(
                    "runtime_stale_s",
                    f"AWA_RUNTIME_STALE_S is {self.runtime_stale_s:g}, less than two heartbeats"
                    f" of {self.heartbeat_interval_s:g} s: healthy runtimes would count as dead",
                )
            )
        if problems:
            _refuse(problems)

    def _problem(self, spec: Field[Any]) -> FieldProblem | None:
        """What is wrong with one value, or None."""
        if "least" not in spec.metadata:
            return None
        value, least, greatest = (
            getattr(self, spec.name),
            spec.metadata["least"],
            spec.metadata["greatest"],
        )
        if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value):
            return FieldProblem(spec.name, f"{_names(spec)} is {value!r}, not a number")
        if isinstance(spec.default, int) and not isinstance(value, int):
            return FieldProblem(spec.name, f"{_names(spec)} is {value!r}, not a whole number")
        if not least <= value <= greatest:
            allowed = f"{least:g} to {greatest:g}"
            return FieldProblem(spec.name, f"{_names(spec)} is {value:g}; allowed: {allowed}")
        return None

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> Self:
        """Read the environment; `overrides` win over it. Raises ValidationError with every problem."""
        environ = os.environ if environ is None else environ
        seen: dict[str, Any] = {}
        problems: list[FieldProblem] = []
        for spec in fields(cls):
            variable = next((name for name in spec.metadata["env"] if environ.get(name)), None)
            if variable is None or spec.name in overrides:
                continue
            try:
                seen[spec.name] = _parse(spec, environ[variable])
            except ValueError as problem:
                problems.append(
                    FieldProblem(spec.name, f"{variable} is {environ[variable]!r}, {problem}")
                )
        if problems:
            _refuse(problems)
        return cls(**{**seen, **overrides})


def _parse(spec: Field[Any], text: str) -> str | int | float:
    """The value that a variable's text stands for; a ValueError says what it should have been."""
    if "least" not in spec.metadata:
        return text
    whole = isinstance(spec.default, int)
    allowed = f"{spec.metadata['least']:g} to {spec.metadata['greatest']:g}"
    try:
        return int(text) if whole else float(text)
    except ValueError:
        kind = "whole number" if whole else "number"
        raise ValueError(f"not a {kind}; allowed: {allowed}") from None


def _names(spec: Field[Any]) -> str:
    return " or ".join(spec.metadata["env"])


def _refuse(problems: list[FieldProblem]) -> None:
    raise ValidationError(
        "; ".join(problem.message for problem in problems),
        hint="correct the setting, or unset the variable to use the default",
        fields=tuple(problems),
    )
