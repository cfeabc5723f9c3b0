"""Running everything that is due, in this process and one job after the other, until nothing is left.

It's the worker's own way, less its loops: promote, claim one, run, end. So retries, deadlines of the schedule,
metadata and errors are what they are in production; only the order is certain.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from time import monotonic
from typing import Final
from uuid import uuid4

from awa.client import AsyncClient
from awa.model.draft import check_run_at
from awa.model.limits import QUEUE_DEFAULT, check_queue
from awa.storage import runtimes
from awa.storage.claim import claim
from awa.storage.promote import promote
from awa.testing.ran import Ran, attempted, told
from awa.worker.attempt import RETURNED, Attempt
from awa.worker.callbacks import Desk
from awa.worker.finisher import Finisher
from awa.worker.ledger import Ledger
from awa.worker.threads import Threads

JOBS_MAX: Final = 1_000


class DrainedTooMany(AssertionError):
    """Jobs keep coming; `ran` is what was run so far."""

    def __init__(self, ran: list[Ran]) -> None:
        super().__init__(
            f"{len(ran)} jobs were run and more are due: does a handler insert or snooze for ever?"
            " Raise max_jobs if there are meant to be so many."
        )
        self.ran = ran


async def drain(
    client: AsyncClient,
    queue: str | None = None,
    *,
    now: datetime | None = None,
    max_jobs: int = JOBS_MAX,
    reraise: bool = False,
) -> list[Ran]:
    """Run what is due in a queue, and what that inserts there, until nothing is left; answers each in order.

    Without `queue`: those of the client's tasks, and "default". Jobs are run by priority, then in order. Scheduled
    jobs and retries are run when they are due; with `now`, an aware datetime, as if it were that time.
    `reraise` raises what a handler raised, once the end of that job is stored. Raises DrainedTooMany after
    `max_jobs`, and what the database raises.
    """
    queues = _queues(client) if queue is None else [check_queue(queue)]
    if now is not None:
        check_run_at(now, field="now")
    ran: list[Ran] = []
    async with _runtime(client, queues) as drainer:
        while (attempt := await drainer.next(queues, now)) is not None:
            if len(ran) >= max_jobs:
                await drainer.hand_back(attempt)
                raise DrainedTooMany(ran)
            ran.append(await drainer.run(attempt))
            if reraise and (problem := ran[-1].exception) is not None:
                raise problem
    return ran


class _Drainer:
    def __init__(self, client: AsyncClient, ledger: Ledger, threads: Threads) -> None:
        self._client = client
        self._ledger = ledger
        self._threads = threads
        self._finisher = Finisher(client.pool, lambda: None)
        self._finisher.stop()  # so that its run() ends when everything is sent

    async def next(self, queues: list[str], now: datetime | None) -> Attempt | None:
        """Claim the next job of the first queue that has one."""
        async with self._client.connection() as conn:
            await promote(conn, now=now)
            for queue in queues:
                more = True
                while more:
                    claimed = await claim(conn, queue, 1, self._ledger.runtime_id)
                    if claimed.jobs:
                        return Attempt(claimed.jobs[0], self._ledger, monotonic())
                    more = claimed.more
        return None

    async def run(self, attempt: Attempt) -> Ran:
        """Run it, store its end, and read what became of the job."""
        verdict, busy_s, kept = await attempted(attempt, self._client.tasks, self._threads)
        self._finisher.end(attempt, verdict, busy_s)
        await self._finisher.run()
        job = await self._client.get_job(attempt.row.job_id)
        return told(attempt, job, verdict, kept)

    async def hand_back(self, attempt: Attempt) -> None:
        """Not run after all; it doesn't count."""
        self._finisher.end(attempt, RETURNED, 0.0)
        await self._finisher.run()


@asynccontextmanager
async def _runtime(client: AsyncClient, queues: list[str]) -> AsyncIterator[_Drainer]:
    """A runtime that exists as long as the block."""
    runtime_id, threads = uuid4(), Threads()

    async def flush(attempt: Attempt) -> None:
        row = attempt.row
        place = (row.lane_id, row.claim_no, row.lane_seq)
        async with client.connection() as conn:
            await runtimes.heartbeat(
                conn,
                runtime_id,
                None,
                [place],
                progress=[attempt.progress],
                metadata=[attempt.changes],
            )

    async with client.connection() as conn:
        db_now = await runtimes.register(conn, runtime_id, ("worker",), dict.fromkeys(queues, 1))
    try:
        desk = Desk(client.pool, client.settings)
        yield _Drainer(client, Ledger(runtime_id, db_now, flush, desk), threads)
    finally:
        threads.stop()
        async with client.connection() as conn:
            await runtimes.stop(conn, runtime_id)


def _queues(client: AsyncClient) -> list[str]:
    named = {task.queue or QUEUE_DEFAULT for task in client.tasks}
    return sorted(named | {QUEUE_DEFAULT})
