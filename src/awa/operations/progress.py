"""How far an operation has come, look by look: what it is like now, how fast it goes, how long it will take.

Looks are compared with each other, so whoever watches is told only of what is new. The rate is that of the last
ten seconds: it follows a change of pace, and falls to nothing when the operation stands.
"""

import time
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from awa.db.run import Connection
from awa.model.errors import NotFound
from awa.model.states import FINAL_OPERATION_STATES, OperationState
from awa.operations import read, switch

RATE_WINDOW_S: Final = 10.0
_FINAL: Final = frozenset(state.value for state in FINAL_OPERATION_STATES)


@dataclass(frozen=True, slots=True)
class Progress:
    """An operation at one look; `operation` is None once it was purged. `samples`: when, and rows done by then."""

    operation: dict[str, Any] | None
    events: list[dict[str, Any]]
    rate_per_s: float | None = None
    samples: tuple[tuple[float, int], ...] = field(default=(), compare=False)

    @property
    def is_over(self) -> bool:
        """Whether nothing will change any more."""
        return self.operation is None or self.operation["state"] in _FINAL

    def seconds_left(self) -> float | None:
        """How long it will take at the present rate; None if that can't be said."""
        if self.operation is None or self.operation["state"] != OperationState.RUNNING:
            return None
        pending = self.operation["pending"]
        if pending is None or not self.rate_per_s:
            return None
        return round(float(pending) / self.rate_per_s, 1)

    def told(self) -> dict[str, Any] | None:
        """The operation with its rate (items a second) and the seconds that are left."""
        if self.operation is None:
            return None
        left = {"rate_per_s": self.rate_per_s, "seconds_left": self.seconds_left()}
        return {**self.operation, **left}


async def look(
    conn: Connection,
    operation_id: UUID | str,
    before: Progress | None,
    *,
    now_s: float | None = None,
) -> Progress:
    """Look at an operation, knowing what it was like at the look before. Raises `NotFound` at the first look."""
    try:
        operation = {
            **await read.get(conn, operation_id),
            "held": (await switch.present(conn))["held"],
        }
        events = await read.events(conn, operation_id)
    except NotFound:
        if before is None:
            raise
        return Progress(None, before.events)
    now_s = time.monotonic() if now_s is None else now_s
    done = operation["processed"] + operation["skipped"] + operation["errored"]
    samples = _recent(before.samples if before else (), now_s, done)
    return Progress(operation, events, _rate(samples, operation["state"]), samples)


def _recent(
    samples: tuple[tuple[float, int], ...], now_s: float, done: int
) -> tuple[tuple[float, int], ...]:
    kept = [sample for sample in samples if sample[0] >= now_s - RATE_WINDOW_S]
    return (*kept, (now_s, done))


def _rate(samples: tuple[tuple[float, int], ...], state: str) -> float | None:
    """Items a second over the window; None at the first look, and unless jobs are being changed."""
    (first_at, first), (last_at, last) = samples[0], samples[-1]
    if state != OperationState.RUNNING or last_at <= first_at:
        return None
    return round((last - first) / (last_at - first_at), 1)
