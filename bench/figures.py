"""Medians, percentiles and turns."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TypeVar

T = TypeVar("T")

__all__ = ["in_turns", "median", "percentile", "rate"]


def percentile(values: Sequence[float], share: float) -> float:
    """The value that `share` (0 to 1) of the values don't exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def rate(count: int, seconds: float) -> float:
    """How many a second."""
    return count / max(seconds, 1e-9)


def in_turns(rounds: int, measurements: Mapping[str, Callable[[], T]]) -> dict[str, list[T]]:
    """Each measurement `rounds` times, in turns, so that what disturbs the machine disturbs them all alike."""
    seen: dict[str, list[T]] = {name: [] for name in measurements}
    for _ in range(rounds):
        for name, measure in measurements.items():
            seen[name].append(measure())
    return seen
