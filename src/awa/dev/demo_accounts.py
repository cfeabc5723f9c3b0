"""The end of the demo: what happened to every job, from two witnesses, and whether it adds up.

One witness is the database: jobs, closures of attempts, items of operations. The other is what the
handlers wrote down themselves. Everything here is arithmetic on what was read before.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from awa.dev.ledger import Account

Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Books:
    """Everything that the demo knows at its end."""

    enqueued: int
    forged: int
    held_when_killed: int
    totals: Row
    """Read from the jobs: see sql/dev/demo_totals.sql."""
    endings: Mapping[str, int]
    """Ended attempts by outcome, read from the closures."""
    move: Row
    priority: Row
    ledger: Account
    seconds: float = field(default=0.0)

    @property
    def rescued(self) -> int:
        return int(self.totals["rescued"])

    @property
    def retried(self) -> int:
        """Attempts that ended with another try, those that the rescue ended left aside."""
        return self.endings.get("retried", 0) - self.rescued


def figures(books: Books) -> list[tuple[str, int, str]]:
    """The table that the demo ends with."""
    totals, move = books.totals, books.move
    skipped = [
        ("skipped by the move", count, f"reason: {reason}")
        for reason, count in sorted(_reasons(move, "skipped").items())
    ]
    return [
        ("enqueued", books.enqueued, "real webhook deliveries"),
        ("completed", totals["completed"], "verified and folded into their repository"),
        ("retried", books.retried, "attempts that stumbled on purpose and were tried again"),
        ("failed", totals["failed"], "forged signatures, failed for good"),
        ("moved", move["processed"], "to a queue of their own, while workers ran"),
        *(skipped or [("skipped by the move", 0, "nothing was claimed in between")]),
        ("errored in the move", move["errored"], ""),
        ("reprioritised", books.priority["processed"], "from priority 2 to 1"),
        ("skipped by that", books.priority["skipped"], _named(_reasons(books.priority, "skipped"))),
        ("rescued", books.rescued, "attempts of the worker that was killed"),
        ("worked on twice", books.ledger.handled_again, "killed between the work and its report"),
    ]


def checks(books: Books) -> list[tuple[str, bool]]:
    """What must be true of any run, however the processes raced."""
    totals, endings, ledger = books.totals, books.endings, books.ledger
    done, failed = totals["completed"], totals["failed"]
    ended = endings.get("completed", 0) + endings.get("recorded", 0)
    jobs_words = (
        f"every job is accounted for: {done:,} completed + {failed:,} failed "
        f"= {books.enqueued:,} enqueued"
    )
    attempts_words = (
        f"every attempt ended once: {ended:,} completed + {failed:,} failed + {books.retried:,} "
        f"retried + {books.rescued:,} rescued = {totals['attempts']:,} begun"
    )
    stamps = (totals["stamped_queue"], totals["stamped_priority"])
    held = books.held_when_killed
    return [
        (jobs_words, done + failed == books.enqueued == totals["jobs"] and not totals["elsewhere"]),
        (
            attempts_words,
            ended + failed + books.retried + books.rescued == totals["attempts"] and ended == done,
        ),
        _adds_up("move", books.move),
        _adds_up("priority change", books.priority),
        (
            f"moved jobs carry the stamp of their first queue: {stamps[0]:,}",
            stamps[0] == books.move["processed"],
        ),
        (
            f"reprioritised jobs carry the stamp of their first priority: {stamps[1]:,}",
            stamps[1] == books.priority["processed"],
        ),
        # More, if the machine was so slow that a living worker was taken for dead.
        (f"all {held:,} jobs that the killed worker held were rescued", books.rescued >= held),
        (
            f"the handlers' own records agree: {ledger.handled:,} handled, {ledger.refused:,} refused",
            ledger.handled == done and ledger.refused == failed == books.forged,
        ),
    ]


def _adds_up(name: str, row: Row) -> tuple[str, bool]:
    parts = (row["processed"], row["skipped"], row["errored"])
    by_reason = sum(_reasons(row, "skipped").values())
    words = (
        f"the {name} is accounted for: {parts[0]:,} done + {parts[1]:,} skipped + "
        f"{parts[2]:,} errored = {row['total_matched']:,} matched"
    )
    return words, sum(parts) == row["total_matched"] and by_reason == row["skipped"]


def _reasons(row: Row, outcome: str) -> dict[str, int]:
    return dict((row["totals"] or {}).get(outcome) or {})


def _named(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in sorted(reasons.items()))
