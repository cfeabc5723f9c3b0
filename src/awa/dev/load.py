"""A small load that never ends, so that there is always something to see: now more, now less, as real work comes."""

import math
import time
from collections.abc import Iterator
from itertools import count, islice
from typing import Final

from awa.db.run import Connection
from awa.dev.deliveries import jobs
from awa.dev.seed import WORKED_QUEUE
from awa.storage.enqueue import NewJob, enqueue_many

MEAN_JOBS: Final = 8
SWING_JOBS: Final = 6
SWING_S: Final = 240.0
# A batch of deliveries is signed at once; the numbers go on after it.
ROUND_JOBS: Final = 1_000


class Load:
    """Deliveries without end, a few each time it is asked."""

    def __init__(self, secret: str) -> None:
        self._deliveries = _endless(secret.encode())

    async def enqueue_some(self, conn: Connection, now_s: float | None = None) -> int:
        """Put as many jobs into the queue that the worker serves as `due` says; answers how many."""
        some = list(islice(self._deliveries, due(time.time() if now_s is None else now_s)))
        await enqueue_many(conn, WORKED_QUEUE, some)
        return len(some)


def due(now_s: float) -> int:
    """How many jobs come at this moment: a slow wave between 2 and 14."""
    return MEAN_JOBS + round(SWING_JOBS * math.sin(2 * math.pi * now_s / SWING_S))


def _endless(secret: bytes) -> Iterator[NewJob]:
    for first in count(0, ROUND_JOBS):
        yield from jobs(secret, range(first, first + ROUND_JOBS))
