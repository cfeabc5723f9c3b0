"""A filter in two halves: what a lane alone can answer, and what only a row can."""

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

    @classmethod
    def of(cls, given: JobFilter) -> Self:
        """The halves of a filter."""
        lane: dict[str, Any] = {}
        row: dict[str, Any] = {}
        for name, value in given.given().items():
            if name != "state":
                (lane if name in LANE_FIELDS else row)[name] = value
        return cls(compile_filter(_filter(lane)), compile_filter(_filter(row)))

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of both."""
        return {**self.places.params, **self.rows.params}


def _filter(fields: dict[str, Any]) -> JobFilter:
    # The values come from a filter that has been checked.
    return JobFilter.model_construct(_fields_set=set(fields), **fields)
