"""How a handler says that an attempt ended otherwise than well: values for plans, one exception for good.

A handler returns `None` when it is done. It returns one of these to steer what comes next, raises
`TerminalError` to fail for good, and anything else it raises is retried with backoff.
"""

from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from uuid import UUID

from awa.model.errors import invalid_field
from awa.model.text import bounded

DELAY_MAX_S: Final = 10 * 365 * 24 * 3600.0
PROGRESS_MESSAGE_MAX_CHARS: Final = 2_000


@dataclass(frozen=True, slots=True)
class RetryAfter:
    """Try again after so many seconds; the attempt counts."""

    seconds: float

    def __post_init__(self) -> None:
        _check_delay(self.seconds)


@dataclass(frozen=True, slots=True)
class Snooze:
    """Try again after so many seconds; the attempt does not count."""

    seconds: float

    def __post_init__(self) -> None:
        _check_delay(self.seconds)


@dataclass(frozen=True, slots=True)
class Cancel:
    """The job is no longer wanted."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class WaitForCallback:
    """The attempt is over, and its job waits for the callback with this token, which the attempt has registered."""

    token: str | UUID


class TerminalError(Exception):
    """Raised by a handler: this job cannot succeed, do not try again."""


Outcome: TypeAlias = RetryAfter | Snooze | Cancel | WaitForCallback


def checked_progress(percent: object, message: object) -> dict[str, Any]:
    """How far an attempt is, as it is kept. It goes with the heartbeat of all attempts, so nothing may be in it that can't be stored."""
    if isinstance(percent, bool) or not isinstance(percent, int | float) or not 0 <= percent <= 100:
        raise invalid_field("percent", f"must be between 0 and 100, got {percent!r}")
    if message is not None and not isinstance(message, str):
        raise invalid_field("message", f"expected a text, got {type(message).__name__}")
    told = None if message is None else bounded(message, PROGRESS_MESSAGE_MAX_CHARS)
    return {"percent": percent, "message": told}


def _check_delay(seconds: float) -> None:
    # Not-a-number fails both comparisons, so it is refused as well.
    if not 0.0 <= seconds <= DELAY_MAX_S:
        raise invalid_field("seconds", f"must be between 0 and {DELAY_MAX_S:.0f}, got {seconds}")
