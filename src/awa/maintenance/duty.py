"""What a duty is: something to do once, how often, and how much of it at most."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from awa.db.run import Connection
from awa.operations.fence import STATEMENT_MAX_MS

RunOnce = Callable[[Connection, datetime | None], Awaitable[int]]
"""Does the duty once, in the caller's transaction, at `now` (None: the database's clock); answers how much."""


@dataclass(frozen=True, slots=True)
class Duty:
    """A row of the table in duties.py. `bound`: at so much there is more to do, and it runs again at once."""

    name: str
    interval_s: float
    bound: int
    run_once: RunOnce
    statement_max_ms: int = STATEMENT_MAX_MS
