"""What a worker is told to work on: one entry for each queue, as `("email", 50)` or as a mapping."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, Final, TypeAlias

from awa.model.errors import FieldProblem, ValidationError, invalid_field
from awa.model.limits import check_queue, check_whole_number

MAX_WORKERS_DEFAULT: Final = 10
MAX_WORKERS_MAX: Final = 10_000
DEADLINE_MAX_S: Final = 30 * 24 * 3600.0

QueueSpec: TypeAlias = "str | tuple[str, int] | Mapping[str, Any] | QueueOptions"


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueOptions:
    """One queue of a worker. `deadline_seconds` counts from the claim; None lets handlers take any time."""

    queue: str
    max_workers: int = MAX_WORKERS_DEFAULT
    deadline_seconds: float | None = None

    def __post_init__(self) -> None:
        check_queue(self.queue)
        check_whole_number(self.max_workers, "max_workers", 1, MAX_WORKERS_MAX)
        deadline = self.deadline_seconds
        if deadline is None:
            return
        if isinstance(deadline, bool) or not isinstance(deadline, int | float):
            raise invalid_field(
                "deadline_seconds", f"expected a number of seconds, got {deadline!r}"
            )
        if not 0 < deadline <= DEADLINE_MAX_S:
            raise invalid_field(
                "deadline_seconds",
                f"must be above 0 and at most {DEADLINE_MAX_S:.0f}, got {deadline}",
            )


def queue_options(specs: Iterable[QueueSpec]) -> list[QueueOptions]:
    """Check what `start` was given. Raises ValidationError that names the entry."""
    if isinstance(specs, str | Mapping):
        raise invalid_field("queues", f"expected a list such as [('email', 50)], got {specs!r}")
    options: list[QueueOptions] = []
    for place, spec in enumerate(specs):
        try:
            options.append(_one(spec))
        except ValidationError as problem:
            at = [FieldProblem(f"queues[{place}].{p.field}", p.message) for p in problem.fields]
            raise ValidationError(
                f"queue {place} of the list: {problem.message}", hint=problem.hint, fields=at
            ) from problem
    twice = {o.queue for o in options if sum(p.queue == o.queue for p in options) > 1}
    if twice:
        raise invalid_field("queues", f"named more than once: {', '.join(sorted(twice))}")
    return options


def _one(spec: Any) -> QueueOptions:
    match spec:
        case QueueOptions():
            return spec
        case str(queue):
            return QueueOptions(queue=queue)
        case (queue, max_workers):
            return QueueOptions(queue=queue, max_workers=max_workers)
        case Mapping():
            return _from_mapping(spec)
        case _:
            raise invalid_field("queue", f"expected ('email', 50) or a mapping, got {spec!r}")


def _from_mapping(spec: Mapping[Any, Any]) -> QueueOptions:
    known = [field.name for field in fields(QueueOptions)]
    for name in spec:
        if name == "rate_limit":
            raise invalid_field("rate_limit", "is not supported in this version")
        if name not in known:
            close = get_close_matches(str(name), known, n=1)
            advice = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            raise invalid_field(str(name), f"is not an option of a queue; {advice}")
    if "queue" not in spec:
        raise invalid_field("queue", "is required")
    return QueueOptions(**spec)
