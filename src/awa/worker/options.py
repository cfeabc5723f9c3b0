"""What a worker is told to work on: one entry for each queue, as `("email", 50)` or as a mapping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from awa.model.errors import FieldProblem, ValidationError, invalid_field
from awa.model.limits import check_queue, check_whole_number

MAX_WORKERS_DEFAULT: Final = 10
MAX_WORKERS_MAX: Final = 10_000
DEADLINE_MAX_S: Final = 30 * 24 * 3600.0
RATE_MIN_PER_S: Final = 0.001
RATE_MAX_PER_S: Final = 100_000.0
WEIGHT_MAX: Final = 1_000

QueueSpec: TypeAlias = "str | tuple[str, int] | Mapping[str, Any] | QueueOptions"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOptions:
    """One queue of a worker. `deadline_seconds` counts from the claim; None lets handlers take any time.

    `rate_limit` is how many jobs this worker begins a second, at most. `weight` and `min_workers` say how the queue
    shares the slots that `start(…, max_workers=)` gives to all queues.
    """

    queue: str
    max_workers: int = MAX_WORKERS_DEFAULT
    deadline_seconds: float | None = None
    rate_limit: float | None = None
    weight: int = 1
    min_workers: int = 0

    def __post_init__(self) -> None:
        check_queue(self.queue)
        check_whole_number(self.max_workers, "max_workers", 1, MAX_WORKERS_MAX)
        check_whole_number(self.weight, "weight", 1, WEIGHT_MAX)
        check_whole_number(self.min_workers, "min_workers", 0, self.max_workers)
        _check_deadline(self.deadline_seconds)
        _check_rate(self.rate_limit)


def _check_deadline(seconds: Any) -> None:
    if seconds is None:
        return
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise invalid_field("deadline_seconds", f"expected a number of seconds, got {seconds!r}")
    if not 0 < seconds <= DEADLINE_MAX_S:
        raise invalid_field(
            "deadline_seconds", f"must be above 0 and at most {DEADLINE_MAX_S:.0f}, got {seconds}"
        )


def _check_rate(per_s: Any) -> None:
    if per_s is None:
        return
    if isinstance(per_s, bool) or not isinstance(per_s, int | float):
        raise invalid_field("rate_limit", f"expected a number of jobs per second, got {per_s!r}")
    if not RATE_MIN_PER_S <= per_s <= RATE_MAX_PER_S:
        raise invalid_field(
            "rate_limit",
            f"must be {RATE_MIN_PER_S:g} to {RATE_MAX_PER_S:.0f} jobs per second, got {per_s}",
        )


def queue_options(specs: Iterable[QueueSpec], max_workers: int | None = None) -> list[QueueOptions]:
    """Check what `start` was given; `max_workers` is for all queues together. Raises ValidationError that names the entry."""
    if max_workers is not None:
        check_whole_number(max_workers, "max_workers", 1, MAX_WORKERS_MAX)
    if isinstance(specs, str | Mapping):
        raise invalid_field("queues", f"expected a list such as [('email', 50)], got {specs!r}")
    options: list[QueueOptions] = []
    for place, spec in enumerate(specs):
        try:
            options.append(_one(spec, max_workers))
        except ValidationError as problem:
            at = [FieldProblem(f"queues[{place}].{p.field}", p.message) for p in problem.fields]
            raise ValidationError(
                f"queue {place} of the list: {problem.message}", hint=problem.hint, fields=at
            ) from problem
    twice = {o.queue for o in options if sum(p.queue == o.queue for p in options) > 1}
    if twice:
        raise invalid_field("queues", f"named more than once: {', '.join(sorted(twice))}")
    if max_workers is not None:
        _check_least(options, max_workers)
    return options


def _check_least(options: list[QueueOptions], max_workers: int) -> None:
    least = sum(one.min_workers for one in options)
    if least > max_workers:
        raise invalid_field(
            "queues", f"their min_workers are {least} together, more than max_workers={max_workers}"
        )


def _one(spec: Any, total: int | None) -> QueueOptions:
    match spec:
        case QueueOptions():
            return _fitted(spec, total)
        case str(queue):
            return _from_mapping({"queue": queue}, total)
        case (queue, max_workers):
            return _from_mapping({"queue": queue, "max_workers": max_workers}, total)
        case Mapping():
            return _from_mapping(spec, total)
        case _:
            raise invalid_field("queue", f"expected ('email', 50) or a mapping, got {spec!r}")


def _from_mapping(spec: Mapping[Any, Any], total: int | None) -> QueueOptions:
    known = [field.name for field in fields(QueueOptions)]
    for name in spec:
        if name not in known:
            close = get_close_matches(str(name), known, n=1)
            advice = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            raise invalid_field(str(name), f"is not an option of a queue; {advice}")
    if "queue" not in spec:
        raise invalid_field("queue", "is required")
    if total is None:
        for name in ("weight", "min_workers"):
            if name in spec:
                raise invalid_field(
                    name, "is for queues that share slots: start(…, max_workers=100)"
                )
        return QueueOptions(**spec)
    return _fitted(QueueOptions(**{"max_workers": total, **spec}), total)


def _fitted(options: QueueOptions, total: int | None) -> QueueOptions:
    """No queue has more than there are for all."""
    if total is None or options.max_workers <= total:
        return options
    return replace(options, max_workers=total)
