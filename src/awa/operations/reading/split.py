"""A filter in parts: what a lane alone can answer, what only a row can, and what the row in a lane can already."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from awa.model.filter import JobFilter
from awa.operations.compile import Predicate, compile_filter

LANE_FIELDS = frozenset({"queue", "queues", "priority"})
# What a claim and an end leave as it is; attempts are counted and the end is noted elsewhere.
RAW_FIELDS = frozenset(
    {
        "kind",
        "kinds",
        "kind_prefix",
        "tag",
        "tags_any",
        "tags_all",
        "tags_none",
        "created_at_gte",
        "created_at_lt",
        "run_at_gte",
        "run_at_lt",
        "args_contains",
        "error_contains",
    }
)


@dataclass(frozen=True, slots=True)
class Split:
    """Places and rows together ask what the filter asks, but for its state; `raw` is a part of rows."""

    places: Predicate
    rows: Predicate
    raw: Predicate
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
            compile_filter(_filter({name: row[name] for name in row.keys() & RAW_FIELDS})),
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
