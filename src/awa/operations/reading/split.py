"""A filter in two halves: what a lane alone can answer, and what only a row can."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from awa.model.filter import JobFilter
from awa.operations.compile import Predicate, compile_filter

LANE_FIELDS = frozenset({"queue", "queues", "priority"})


@dataclass(frozen=True, slots=True)
class Split:
    """Both halves; together they ask what the filter asks, but for its state."""

    places: Predicate
    rows: Predicate
    queues: list[str] | None
    priority: int | None

    @classmethod
    def of(cls, given: JobFilter) -> Self:
        """The halves of a filter."""
        lane: dict[str, Any] = {}
        row: dict[str, Any] = {}
        for name, value in given.given().items():
            if name != "state":
                (lane if name in LANE_FIELDS else row)[name] = value
        return cls(
            compile_filter(_filter(lane)),
            compile_filter(_filter(row)),
            _queues(given.queue, given.queues),
            given.priority,
        )

    @property
    def lanes(self) -> dict[str, Any]:
        """The lanes' half again, as the parameters of `awa.lane_backlog_of`."""
        return {"lane_queues": self.queues, "lane_priority": self.priority}

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of both halves."""
        return {**self.places.params, **self.rows.params, **self.lanes}


def _queues(one: str | None, several: Sequence[str] | None) -> list[str] | None:
    if one is None:
        return None if several is None else list(several)
    return [one] if several is None or one in several else []


def _filter(fields: dict[str, Any]) -> JobFilter:
    # The values come from a filter that has been checked.
    return JobFilter.model_construct(_fields_set=set(fields), **fields)
