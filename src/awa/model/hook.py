"""Lifecycle hooks: what a program is told of its attempts after the database knows it.

`started` is told when a handler is about to run; every other event when the end of the attempt is committed. An end that
the database refused, because the attempt was taken back or cancelled meanwhile, is told to nobody.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar
from uuid import UUID

from awa.model.errors import invalid_field
from awa.model.job import Job


class Event(StrEnum):
    """What a hook can be registered for."""

    STARTED = "started"
    COMPLETED = "completed"
    RETRIED = "retried"  # failed, and another attempt follows
    FAILED = "failed"  # for good
    CANCELLED = "cancelled"  # by its handler
    SNOOZED = "snoozed"
    WAITING = "waiting"  # for a callback
    RETURNED = "returned"  # handed back unfinished at shutdown


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One event of one attempt.

    `job` is the job as its handler had it. `state` is where it is now, `error` what is kept of it, `duration_s` how long the
    handler ran (0 for started).
    """

    event: Event
    job: Job[Any]
    state: str
    error: dict[str, Any] | None
    duration_s: float
    runtime_id: UUID


Hook: TypeAlias = Callable[[JobEvent], Awaitable[None] | None]
H = TypeVar("H", bound=Hook)


def check_event(event: object) -> Event:
    """The name of an event."""
    try:
        return Event(event)  # type: ignore[arg-type]
    except ValueError:
        raise invalid_field("event", f"expected one of {', '.join(Event)}, got {event!r}") from None
