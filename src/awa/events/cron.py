"""What happens to schedules."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from awa.events.instruments import Counter

log = logging.getLogger("awa")

_fired = Counter("awa_cron_fires_total", "Jobs that schedules enqueued", ["name"])
_failures = Counter("awa_cron_failures_total", "Schedules that could not be fired", ["name"])


def fired(name: str, jobs: int) -> None:
    """A schedule enqueued jobs."""
    _fired.add(jobs, name)


def held_up(name: str, problem: Exception) -> None:
    """A schedule could not be fired now, and will be tried again in a moment."""
    log.info("the schedule %s is fired later: %s", name, problem)


def failed(name: str, problem: Exception) -> None:
    """A schedule could not be fired and stands still until it is declared anew."""
    _failures.add(1, name)
    log.error("the schedule %s can't be fired and stands still: %s", name, problem)


def retired(name: str, *, back: bool) -> None:
    """No program declares a schedule any more, or one does again."""
    if back:
        log.info("the schedule %s is declared again", name)
    else:
        log.warning("the schedule %s is retired: no running program declares it", name)


def names() -> Iterable[str]:
    """The names of these metrics, for the documentation's check."""
    return (metric.name for metric in (_fired, _failures))
