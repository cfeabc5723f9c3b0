"""What happens to lifecycle hooks."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from awa.events.instruments import Counter

log = logging.getLogger("awa.worker")

_failures = Counter("awa_hook_failures_total", "Hooks that raised", ["event"])
_dropped = Counter("awa_hook_events_dropped_total", "Events that no hook was told of", ["event"])


def failed(event: str) -> None:
    """A hook raised."""
    _failures.add(1, event)


def dropped(event: str) -> None:
    """Hooks are too slow: an event was not told."""
    _dropped.add(1, event)
    log.warning("hooks are too slow: an event %s was not told", event)


def names() -> Iterable[str]:
    """The names of these metrics, for the documentation's check."""
    return (metric.name for metric in (_failures, _dropped))
