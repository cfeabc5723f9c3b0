"""What happens to a running program: its beats, its connection, the duties of the leader."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from uuid import UUID

from awa.events.instruments import Counter, Duration, Gauge

log = logging.getLogger("awa")

_beats = Counter("awa_heartbeats_total", "Heartbeats, by result", ["result"])
_trouble = Counter("awa_database_errors_total", "Calls that failed and are tried again", ["call"])
_listening = Gauge("awa_listener_connected", "1 while the wake-up connection stands")
_leading = Gauge("awa_maintenance_leader", "1 while this process leads maintenance")
_duty_s = Duration("awa_duty_duration_seconds", "Duration of one run of a duty", ["duty"])
_duty_failed = Counter("awa_duty_failures_total", "Runs of a duty that failed", ["duty"])


def started(runtime_id: UUID, roles: Iterable[str], queues: Iterable[str]) -> None:
    """A runtime registered."""
    named = ", ".join(queues) or "none"
    log.info("runtime %s started: roles %s, queues %s", runtime_id, ", ".join(roles), named)


def stopped(runtime_id: UUID, returned: int) -> None:
    """A runtime shut down and handed `returned` attempts back."""
    log.info("runtime %s stopped, %d attempts handed back", runtime_id, returned)


def beat(result: str) -> None:
    """A heartbeat was sent: ok, failed or dead."""
    _beats.add(1, result)


def declared_dead(old: UUID, new: UUID, dropped: int) -> None:
    """The database takes this runtime for dead; its attempts are dropped, it goes on under a new id."""
    log.warning(
        "runtime %s was declared dead while it was slow; %d attempts dropped, going on as %s",
        old,
        dropped,
        new,
    )


def trouble(call: str, problem: BaseException, retry_in_s: float) -> None:
    """A database call failed and will be tried again."""
    _trouble.add(1, call)
    log.warning("%s failed, next try in %.2f s: %s", call, retry_in_s, problem)


def listening(connected: bool) -> None:
    """The wake-up connection stands, or does not."""
    _listening.set(1 if connected else 0)


def leading(leader: bool) -> None:
    """This process leads maintenance, or does not."""
    _leading.set(1 if leader else 0)


def duty_took(duty: str, seconds: float) -> None:
    """One run of a duty came to its end."""
    _duty_s.observe(seconds, duty)


def duty_failed(duty: str, problem: BaseException) -> None:
    """One run of a duty failed; the next one comes at its usual time."""
    _duty_failed.add(1, duty)
    log.warning("duty %s failed: %s", duty, problem)


def names() -> Iterable[str]:
    """The names of these metrics, for the documentation's check."""
    own = (_beats, _trouble, _listening, _leading, _duty_s, _duty_failed)
    return (metric.name for metric in own)
