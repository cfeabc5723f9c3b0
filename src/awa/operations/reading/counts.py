"""A number of jobs, and what kind of number it is: exact, a lower bound, or an estimate."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

from awa.model.states import JobState

Bound = Literal["exact", "at_least", "about"]

_WORDS: Final[dict[Bound, str]] = {"exact": "", "at_least": "at least ", "about": "about "}

# The states that are counted, in the order in which a job lives through them.
STATES: Final = (
    JobState.AVAILABLE,
    JobState.SCHEDULED,
    JobState.RETRYABLE,
    JobState.RUNNING,
    JobState.WAITING_EXTERNAL,
    JobState.COMPLETED,
    JobState.FAILED,
    JobState.CANCELLED,
)


@dataclass(frozen=True, slots=True)
class Count:
    """So many jobs."""

    jobs: int
    bound: Bound = "exact"

    @property
    def exact(self) -> bool:
        """Whether the number is neither a lower bound nor an estimate."""
        return self.bound == "exact"

    def words(self) -> str:
        """The number as people read it: `1,234`, `at least 100,000`, `about 901,000`."""
        return f"{_WORDS[self.bound]}{self.jobs:,}"

    def json(self) -> dict[str, Any]:
        """The number as the API says it."""
        return {"jobs": self.jobs, "exact": self.exact, "bound": self.bound}

    def __add__(self, other: Self) -> "Count":
        """Both together, as vague as the vaguer of them."""
        bounds = {self.bound, other.bound}
        bound: Bound = "about" if "about" in bounds else "exact"
        if "at_least" in bounds:
            bound = "at_least"
        return Count(self.jobs + other.jobs, bound)


ZERO: Final = Count(0)


def capped(found: int, at_most: int) -> Count:
    """A count that stopped looking beyond `at_most`."""
    return Count(at_most, "at_least") if found > at_most else Count(found)


def total(counts: Iterable[Count]) -> Count:
    """All of them together."""
    together = ZERO
    for count in counts:
        together = together + count
    return together
