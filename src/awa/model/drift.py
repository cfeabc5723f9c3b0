"""What became of the jobs of a plan: how many more or fewer there are, and where, in words and as values."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from awa.model.errors import Conflict
from awa.model.plan import Count

PLACES_MAX: Final = 10
PLACES_IN_WORDS: Final = 3


@dataclass(frozen=True, slots=True)
class Share:
    """The jobs of one queue or state. `value` is None for all queues that the plan does not name."""

    value: str | None
    planned: int
    now: int

    @property
    def by(self) -> int:
        """How many more; fewer if below zero."""
        return self.now - self.planned


@dataclass(frozen=True, slots=True)
class Drift:
    """How the jobs of a plan and those of now differ; more than `tolerance` apart."""

    planned: Count
    now: Count
    tolerance: int
    queues: tuple[Share, ...]
    states: tuple[Share, ...]

    @property
    def by(self) -> int:
        """How many more jobs there are; fewer if below zero."""
        return self.now.jobs - self.planned.jobs

    @property
    def is_of_population(self) -> bool:
        """Whether the number of jobs drifted; if not, more or fewer of them are at the target already."""
        return abs(self.by) > self.tolerance

    def sentence(self) -> str:
        """The difference in words, without a full stop."""
        if not self.is_of_population:
            said = f"{_number(self.planned.changing, 'job')} would have changed as planned, {self.now.changing:,} now"
            return (
                f"{said}: {_more(self.planned.changing - self.now.changing)} at the target already"
            )
        said = f"{_number(self.planned.jobs, 'job')} planned, {self.now.jobs:,} now"
        return f"{said}: {self.places()}"

    def places(self) -> str:
        """Where the difference is, in words."""
        queues = [f"{_more(one.by)} in {_queue(one.value)}" for one in self.queues]
        states = [f"{_more(one.by)} {(one.value or '').replace('_', ' ')}" for one in self.states]
        said = [_listed(queues), _listed(states)]
        return "; ".join(part for part in said if part)

    def details(self) -> dict[str, Any]:
        """The same as JSON, for a program."""
        return {
            "planned": self.planned.jobs,
            "now": self.now.jobs,
            "difference": self.by,
            "tolerance": self.tolerance,
            "planned_noop": self.planned.noop,
            "now_noop": self.now.noop,
            "queues": [_told("queue", one) for one in self.queues],
            "states": [_told("state", one) for one in self.states],
        }


class PlanDrifted(Conflict):
    """There are so many more or fewer jobs than were planned that it has to be decided anew; `drift` says where."""

    code: ClassVar[str] = "plan_drifted"
    drift: Drift

    @classmethod
    def of(cls, drift: Drift) -> Self:
        """The refusal with the difference in its words, its details and as a value."""
        error = cls(
            f"the jobs are no longer those that were planned: {drift.sentence()}; nothing was submitted",
            hint=f"preview again, look at the new numbers, and decide anew; {drift.tolerance:,} more or fewer would have been "
            "let through (AWA_PLAN_DRIFT_PERCENT, AWA_PLAN_DRIFT_JOBS)",
            details=drift.details(),
        )
        error.drift = drift
        return error


def drift_between(planned: Count, now: Count, tolerance: int) -> Drift | None:
    """How far the jobs have drifted from the plan; None if that is within the tolerance."""
    if (
        abs(now.jobs - planned.jobs) <= tolerance
        and abs(now.changing - planned.changing) <= tolerance
    ):
        return None
    return Drift(
        planned, now, tolerance, _queues(planned, now), _shares(planned.states, now.states)
    )


def _queues(planned: Count, now: Count) -> tuple[Share, ...]:
    """By queue; what the plan has not kept one by one is compared in one sum."""
    unnamed = planned.jobs - sum(planned.queues.values())
    if not unnamed:
        return _shares(planned.queues, now.queues)
    named = {queue: jobs for queue, jobs in now.queues.items() if queue in planned.queues}
    rest = Share(None, unnamed, now.jobs - sum(named.values()))
    return _shares(planned.queues, named) + ((rest,) if rest.by else ())


def _shares(planned: Mapping[str, int], now: Mapping[str, int]) -> tuple[Share, ...]:
    """What differs, the greatest difference first."""
    every = [Share(one, planned.get(one, 0), now.get(one, 0)) for one in {**planned, **now}]
    differing = sorted(
        (one for one in every if one.by), key=lambda one: (-abs(one.by), one.value or "")
    )
    return tuple(differing[:PLACES_MAX])


def _listed(parts: list[str]) -> str:
    shown = parts[:PLACES_IN_WORDS]
    return ", ".join(shown) + (", and elsewhere" if len(parts) > len(shown) else "")


def _queue(value: str | None) -> str:
    return "other queues" if value is None else f"queue {value}"


def _more(by: int) -> str:
    return f"{by:,} more" if by > 0 else f"{-by:,} fewer"


def _number(count: int, thing: str) -> str:
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}s"


def _told(name: str, one: Share) -> dict[str, Any]:
    return {name: one.value, "planned": one.planned, "now": one.now, "difference": one.by}
