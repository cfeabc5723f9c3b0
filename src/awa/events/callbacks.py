"""What happens to callbacks."""

from __future__ import annotations

import logging
from collections.abc import Iterable

from awa.events.instruments import Counter

log = logging.getLogger("awa")

_registered = Counter("awa_callbacks_registered_total", "Callbacks that handlers registered here")
_answers = Counter(
    "awa_callback_answers_total",
    "Answers that came in here, by action and by what came of them",
    ["action", "outcome"],
)
_timed_out = Counter("awa_callbacks_timed_out_total", "Callbacks whose time was over")


def registered() -> None:
    """A handler registered a callback."""
    _registered.add(1)


def answered(action: str, outcome: str) -> None:
    """Somebody answered: applied, recorded, extended, resolved, over or not_found."""
    _answers.add(1, action, outcome)


def timed_out(callbacks: int) -> None:
    """The leader ended the wait of so many callbacks."""
    _timed_out.add(callbacks)
    if callbacks:
        log.info("%d callbacks timed out", callbacks)


def names() -> Iterable[str]:
    """The names of these metrics, for the documentation's check."""
    return (metric.name for metric in (_registered, _answers, _timed_out))
