"""A small load for a server that was just started: something of everything, so that there is something to see."""

from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final

from awa.db import run
from awa.db.run import Connection
from awa.dev.deliveries import jobs
from awa.dev.demo_plan import QUEUE
from awa.storage import dead_letters
from awa.storage.enqueue import NewJob, enqueue_many

WORKED_QUEUE: Final = QUEUE
WAITING_QUEUE: Final = "backlog"
WORKED_JOBS: Final = 1_000
WAITING_JOBS: Final = 2_000
SCHEDULED_JOBS: Final = 50


async def seed(conn: Connection, secret: str) -> int:
    """Fill an empty database; a database with jobs in it is left as it is. Answers how many jobs were added.

    `webhooks` is what the worker works on, `backlog` is what nobody works on: there to be moved,
    reprioritised or cancelled. Some of `backlog` waits for a time. What fails in `webhooks` becomes a dead letter.
    """
    if await run.value(conn, "dev/any_job"):
        return 0
    now = datetime.now(UTC)
    source = jobs(secret.encode(), range(WORKED_JOBS + WAITING_JOBS + SCHEDULED_JOBS))
    worked = list(islice(source, WORKED_JOBS))
    waiting = [
        job._replace(priority=1 + number % 4)
        for number, job in enumerate(islice(source, WAITING_JOBS))
    ]
    scheduled = [_later(job, now, number) for number, job in enumerate(source)]
    async with conn.transaction():
        await dead_letters.enable(conn, WORKED_QUEUE, enabled=True)
        await enqueue_many(conn, WORKED_QUEUE, worked)
        await enqueue_many(conn, WAITING_QUEUE, waiting + scheduled)
    return len(worked) + len(waiting) + len(scheduled)


def _later(job: NewJob, now: datetime, number: int) -> NewJob:
    return job._replace(run_at=now + timedelta(minutes=5 * (number + 1)))
