"""Stopping attempts: first the handler is told, then, after a grace, its task is cancelled.

`job.is_cancelled()` turns true at once. An async handler that goes on is cancelled when the grace is over;
a plain one runs in a thread, which nobody can stop, so it is only told. What either of them still returns
is ignored if the attempt has ended meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import orjson

from awa.worker.attempt import Attempt, Why
from awa.worker.ledger import Ledger


def stop(attempt: Attempt, why: Why, grace_s: float) -> None:
    """Ask a running attempt to stop; the first reason stays."""
    if attempt.why is None:
        attempt.why = why
    runner = attempt.runner
    if runner is None:
        return
    if grace_s <= 0:
        runner.cancel()
    else:
        asyncio.get_running_loop().call_later(grace_s, _cancel, attempt, runner)


def drop(attempts: Iterable[Attempt], why: Why, grace_s: float) -> int:
    """Attempts that the database has given to others, or ended: forget them, stop their handlers."""
    dropped = 0
    for attempt in attempts:
        attempt.ledger.close(attempt)
        if not attempt.ended:
            attempt.ended = True
            stop(attempt, why, grace_s)
            dropped += 1
    return dropped


def cancelled_in(message: str, ledger: Ledger) -> list[Attempt]:
    """The attempts of ours that a control message names."""
    positions = read_control(message).get("cancelled", ())
    return [attempt for seq in positions if (attempt := ledger.open.get(seq)) is not None]


def read_control(message: str) -> dict[str, Any]:
    """A control message; one that can't be read says nothing."""
    try:
        read = orjson.loads(message)
    except orjson.JSONDecodeError:
        return {}
    return read if isinstance(read, dict) else {}


def _cancel(attempt: Attempt, runner: asyncio.Task[None]) -> None:
    """The grace is over; the runner may have gone on to another job meanwhile."""
    if attempt.runner is runner:
        runner.cancel()
