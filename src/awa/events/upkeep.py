"""What the maintenance leader does for the store: rescues, the ring, a restore that was noticed."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from awa.events.instruments import Counter, Gauge

log = logging.getLogger("awa")

_dead = Counter("awa_runtimes_declared_dead_total", "Runtimes that fell silent")
_rescued = Counter(
    "awa_attempts_rescued_total", "Attempts taken back, by cause (runtime, deadline)", ["cause"]
)
_ring = Counter("awa_ring_looks_total", "Looks at the ring, by what came of them", ["result"])
_blocked = Gauge("awa_ring_blocked", "1 while the ring stands still because no slot is empty")
_pruned = Counter("awa_ring_slots_pruned_total", "Slots whose space was given back")
_pinned = Gauge(
    "awa_ring_pinned", "1 while a slot that is over waits for a reader with an older snapshot"
)
_owed = Gauge(
    "awa_follow_ups_owed",
    "Follow-ups of failed jobs that wait for a worker that knows their kind, 10,000 at most",
)
_given_up = Counter(
    "awa_follow_ups_given_up_total", "Owed follow-ups that nobody came for in their time"
)
_restores = Counter("awa_restores_recovered_total", "Times the store was found in another cluster")


def rescued(runtimes: int, attempts: int, deadlines: int) -> None:
    """A rescue declared runtimes dead, took back their attempts and those past their deadline."""
    _dead.add(runtimes)
    _rescued.add(attempts, "runtime")
    _rescued.add(deadlines, "deadline")
    if runtimes or attempts or deadlines:
        log.warning(
            "%d runtimes declared dead, %d attempts of lost runtimes and %d past their deadline taken back",
            runtimes,
            attempts,
            deadlines,
        )


def ring(result: str) -> None:
    """The ring was looked at: rotated, young, empty or blocked."""
    _ring.add(1, result)
    _blocked.set(1 if result == "blocked" else 0)
    if result == "rotated":
        log.info("the ring moved on to its next slot")


def pruned(result: str, *, pinned: bool) -> None:
    """The closed slots were looked at; pinned: one waits for a session whose snapshot is older than its end."""
    _pinned.set(int(pinned))
    if result == "pruned":
        _pruned.add(1)


def owing_follow_ups(owed: int) -> None:
    """So many follow-ups are owed."""
    _owed.set(owed)


def gave_up_follow_ups(given_up: int) -> None:
    """So many owed follow-ups were forgotten."""
    _given_up.add(given_up)
    if given_up:
        log.error(
            "%d follow-ups of failed jobs were given up: no worker whose task has an on_failed for their kind came in time",
            given_up,
        )


def restored() -> None:
    """The store was brought into another cluster and has been made fit for it."""
    _restores.add(1)
    log.warning("the database was restored into another cluster; what the lanes owe was rebuilt")


def names() -> Iterable[str]:
    """The names of these metrics, for the documentation's check."""
    own = (_dead, _rescued, _ring, _blocked, _pruned, _pinned, _owed, _given_up, _restores)
    return (metric.name for metric in own)
