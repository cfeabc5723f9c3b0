"""What a budget line asks for, and whether a figure meets it. Pure values."""

from dataclasses import dataclass
from typing import Literal

Sense = Literal["at least", "at most"]
SIGNS: dict[Sense, str] = {"at least": "≥", "at most": "≤"}


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on the figure itself, or, with `of`, on its ratio to the reference that is called so."""

    sense: Sense
    bound: float
    unit: str = ""
    of: str | None = None

    def __str__(self) -> str:
        if self.of is not None:
            return f"{SIGNS[self.sense]} {self.bound:g} × {self.of}"  # noqa: RUF001
        return f"{SIGNS[self.sense]} {self.bound:,g} {self.unit}".rstrip()

    def is_met(self, figure: "Figure") -> bool:
        """Whether the figure keeps this limit; a ratio without a reference doesn't."""
        seen = figure.value if self.of is None else figure.ratio
        if seen is None:
            return False
        return seen >= self.bound if self.sense == "at least" else seen <= self.bound


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the budget table: it is met if any of its limits is; without any, it is there to compare.

    `of` names the reference where no limit does.
    """

    key: str
    row: str
    what: str
    limits: tuple[Limit, ...] = ()
    of: str = ""

    @property
    def wanted(self) -> str:
        """The limits in words."""
        return " or ".join(str(limit) for limit in self.limits)

    @property
    def reference(self) -> str:
        """What the figure is compared with."""
        return self.of or next((limit.of for limit in self.limits if limit.of), "")


@dataclass(frozen=True, slots=True)
class Figure:
    """What was measured for a line: a median, its unit, the reference's median, and what else is worth saying."""

    value: float
    unit: str
    reference: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """The figure divided by its reference."""
        return self.value / self.reference if self.reference else None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A line and what came of it: met, missed, or why there is no figure."""

    line: Line
    figure: Figure | None
    problem: str = ""

    @property
    def word(self) -> str:
        """`met`, `missed`, `shown` (nothing is wanted), `not run` or `failed`."""
        if self.figure is None:
            return "failed" if self.problem else "not run"
        if not self.line.limits:
            return "shown"
        return "met" if any(limit.is_met(self.figure) for limit in self.line.limits) else "missed"


def at_least(bound: float, unit: str = "", *, of: str | None = None) -> Limit:
    """A lower limit."""
    return Limit("at least", bound, unit, of)


def at_most(bound: float, unit: str = "", *, of: str | None = None) -> Limit:
    """An upper limit."""
    return Limit("at most", bound, unit, of)
