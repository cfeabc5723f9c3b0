"""Running one handler by itself: no worker, no database, nothing stored."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any, TypeVar, Unpack
from uuid import uuid4

import orjson

from awa.client import AsyncClient
from awa.model.callback import CallbackToken, check_timeout
from awa.model.draft import JobOptions, Prepared, check_options, prepare, queue_for
from awa.model.errors import Conflict
from awa.model.job import Job
from awa.storage.claim import ClaimedJob
from awa.testing.ran import Ran, attempted, told
from awa.worker.attempt import Attempt, Why
from awa.worker.job import RunningJob
from awa.worker.ledger import Ledger
from awa.worker.threads import Threads, from_thread

T = TypeVar("T")


async def run_job(
    client: AsyncClient,
    given: Any,
    *,
    attempt: int | None = None,
    cancelled: bool = False,
    reraise: bool = True,
    **options: Unpack[JobOptions],
) -> Ran:
    """Call the handler of a job's kind with it; answers how that went.

    `given` is the arguments of a job, with options as for an insert, or an `awa.Job`, which is taken as it is.
    Arguments are checked, written as JSON and read again, so the handler gets what a worker would give it.
    `attempt` says which attempt this is (1, or the job's next); with `cancelled` the job says so from the
    start. What the handler raises is raised, unless `reraise=False`. The `job` of the answer has the progress and the
    metadata that the handler left. Raises ValidationError, UnknownJobKind.
    """
    row = _row_of_job(given) if isinstance(given, Job) else _row(client, given, options)
    client.tasks.need(row.kind)
    if attempt is not None:
        row = row._replace(attempt=attempt)
    attempt_ = Attempt(row, Ledger(uuid4(), datetime.now(UTC), _keep, _Desk()), monotonic())
    attempt_.why = Why.CANCELLED if cancelled else None
    threads = Threads()
    try:
        verdict, _, kept = await attempted(attempt_, client.tasks, threads)
    finally:
        threads.stop()
    if reraise and kept.exception is not None:
        raise kept.exception
    job = kept.job or RunningJob(attempt_, orjson.loads(row.args))
    return told(attempt_, job, verdict, kept)


async def _keep(attempt: Attempt) -> None:
    """Progress that is flushed stays with the attempt."""
    attempt.unsaved = attempt.unsaved_changes = False


class _Desk:
    """Callbacks that nobody can answer, because nothing is stored."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def from_thread(self, wish: Coroutine[Any, Any, T]) -> T:
        return from_thread(self._loop, wish)

    async def register(self, attempt: Attempt, timeout_seconds: float) -> CallbackToken:
        expires_at = datetime.now(UTC) + timedelta(seconds=check_timeout(timeout_seconds))
        return CallbackToken.make(uuid4(), expires_at)

    async def wait(self, attempt: Attempt, callback: object) -> Any:
        raise Conflict(
            "nobody can answer a callback of a handler that is run by itself",
            hint="use awa.testing.drain with a database, or give the job metadata as if it had been resumed",
        )


def _row(client: AsyncClient, args: Any, options: JobOptions) -> ClaimedJob:
    checked = check_options(options)
    prepared = prepare(args, checked, client.tasks)
    queue = queue_for([prepared.kind], checked, client.tasks)
    return _claimed(prepared, queue, job_id=1, attempt=1, errors=None)


def _row_of_job(job: Job[Any]) -> ClaimedJob:
    options = check_options(
        {
            "kind": job.kind,
            "priority": job.priority,
            "max_attempts": job.max_attempts,
            "tags": job.tags,
            "metadata": job.metadata,
            "run_at": job.run_at,
        }
    )
    return _claimed(
        prepare(job.args, options),
        job.queue,
        job_id=job.id,
        attempt=job.attempt + 1,
        errors=list(job.errors) or None,
    )


def _claimed(
    job: Prepared, queue: str, *, job_id: int, attempt: int, errors: list[dict[str, Any]] | None
) -> ClaimedJob:
    """The row that a claim would give a worker, at a place that isn't in any lane."""
    options = job.options
    now_s = datetime.now(UTC).timestamp()
    run_at_s = options.run_at.timestamp() if options.run_at else now_s
    return ClaimedJob(
        job_id=job_id,
        lane_id=0,
        claim_no=0,
        lane_seq=0,
        queue=queue,
        priority=options.priority,
        kind=job.kind,
        args=job.args_json.decode(),
        attempt=attempt,
        max_attempts=options.max_attempts,
        tags=options.tags,
        metadata=options.metadata,
        errors=errors,
        run_at_s=run_at_s,
        created_at_s=now_s,
        ready_at_s=now_s,
        claimed_at_s=now_s,
        deadline_at_s=None,
    )
