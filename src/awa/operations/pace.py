"""How many rows the next transaction takes, so that each lasts about as long as it should.

Time is what others feel, so time is what is aimed at: a chunk that was too slow makes the next one
smaller, a quick one makes it larger, never by more than twice at once, so that one odd chunk does
not swing the size. The size is remembered by the runner, not in the database: a new leader begins
small and is at full speed after a few chunks.
"""

from dataclasses import dataclass
from typing import Final

CHUNK_START_ROWS: Final = 100
CHUNK_MIN_ROWS: Final = 10
CHUNK_MAX_ROWS: Final = 5_000
PAGE_START_ROWS: Final = 1_000
PAGE_MIN_ROWS: Final = 100
PAGE_MAX_ROWS: Final = 20_000
GROWTH_MAX: Final = 2.0
# Chunks spread around what is aimed at; aiming lower keeps most of them below what was asked for.
CHUNK_AIM: Final = 0.6
# A scan's transaction begins another page as long as one page's time has not passed: two at most.
PAGE_AIM: Final = 0.4


@dataclass(slots=True)
class Pace:
    """A size in rows that follows a target in seconds."""

    target_s: float
    rows: int = CHUNK_START_ROWS
    least: int = CHUNK_MIN_ROWS
    most: int = CHUNK_MAX_ROWS
    tried: int = 0

    def next_rows(self, limit: int | None = None) -> int:
        """How many rows to try now; remembered, since a failure may concern fewer than `rows`."""
        self.tried = self.rows if limit is None else min(self.rows, limit)
        return self.tried

    def took(self, rows: int, seconds: float) -> None:
        """Learn from a transaction that handled so many rows in so much time."""
        if rows < self.rows and seconds < self.target_s:
            return  # there was no more to take: it says nothing of a full one
        wanted = rows * self.target_s / max(seconds, 1e-6)
        self._set(min(max(wanted, self.rows / GROWTH_MAX), self.rows * GROWTH_MAX))

    def halve(self) -> None:
        """Shrink after a failure, below the least size too: a bad row has to stand alone."""
        self.rows = max(1, self.tried // 2)

    def calm(self) -> None:
        """Shrink after the database was too busy; never below the least size."""
        self._set(self.rows / GROWTH_MAX)

    def _set(self, rows: float) -> None:
        # From a size below the least one, reached by halving, growth is doubling as well.
        self.rows = min(self.most, max(min(self.least, 2 * self.rows), round(rows)))


def chunk_pace(target_ms: int) -> Pace:
    """The pace of a run."""
    return Pace(CHUNK_AIM * target_ms / 1000)


def page_pace(target_ms: int) -> Pace:
    """The pace of a scan."""
    return Pace(PAGE_AIM * target_ms / 1000, PAGE_START_ROWS, PAGE_MIN_ROWS, PAGE_MAX_ROWS)
