"""The blocking client. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from uuid import UUID

from awa.client import AsyncClient
from awa.client.batch import Filter, Row
from awa.client.scheduling import _LEFT_OUT
from awa.client.transaction import Transaction as AsyncTransaction
from awa.config import Settings
from awa.db.pool import Pool
from awa.model.concurrency import KeyOf
from awa.model.cron import APP_DEFAULT, Missed
from awa.model.draft import JobOptions
from awa.model.hook import Event, H
from awa.model.job import Job
from awa.model.limits import PAGE_DEFAULT_ROWS, PRIORITY_DEFAULT
from awa.model.queue_limits import UNCHANGED, Limit
from awa.model.states import JobState
from awa.model.steering import Rate
from awa.model.task import FollowUps, Handler
from awa.model.unique import UniqueOpts
from awa.sql.catalog import Storage
from awa.sync.portal import Portal

A = TypeVar("A")


class Transaction:
    """What the blocking `client.transaction()` hands out."""

    def __init__(self, portal: Portal, transaction: AsyncTransaction) -> None:
        self._portal = portal
        self._async = transaction

    def execute(self, query: str, *params: Any) -> int:
        """Run a statement; answers how many rows it touched.

        Placeholders are psycopg's (`%s`, or `%(name)s` with one mapping) or `$1`, `$2`, ….
        """
        return self._portal.run(self._async.execute(query, *params))

    def fetch_one(self, query: str, *params: Any) -> dict[str, Any] | None:
        """The first row as a dict, or None."""
        return self._portal.run(self._async.fetch_one(query, *params))

    def fetch_all(self, query: str, *params: Any) -> list[dict[str, Any]]:
        """All rows as dicts."""
        return self._portal.run(self._async.fetch_all(query, *params))

    def insert(self, args: A, **options: Unpack[JobOptions]) -> Job[A]:
        """Insert one job; workers see it when this transaction commits. As `AsyncClient.insert`."""
        return self._portal.run(self._async.insert(args, **options))

    def insert_many(self, jobs: Sequence[Any], **options: Unpack[JobOptions]) -> list[Job[Any]]:
        """Insert several jobs by one statement. As `AsyncClient.insert_many`."""
        return self._portal.run(self._async.insert_many(jobs, **options))


class Client:
    """A program's blocking door to Awa. Nothing is connected before the first call; `with` closes it."""

    def __init__(
        self,
        database: str | Pool | None = None,
        *,
        settings: Settings | None = None,
        pool_max_size: int | None = None,
        listen_url: str | None = None,
        listen: bool = True,
        prepare: bool = False,
        app: str = APP_DEFAULT,
    ) -> None:
        """`database` is a URL, or a pool of autocommit connections that the caller opens and closes.

        Without it the URL comes from AWA_DATABASE_URL or DATABASE_URL. Nothing is connected before the
        first call. `listen_url` is for the wake-up connection when the other URL leads through a pooler;
        with `listen=False` the worker polls only. `prepare` lets the driver prepare statements: faster,
        but not for a pooler in transaction mode. `app` names the program whose schedules these are, see
        `periodic`. Raises ValidationError on a bad URL or setting.
        """
        self.aio = AsyncClient(
            database,
            settings=settings,
            pool_max_size=pool_max_size,
            listen_url=listen_url,
            listen=listen,
            prepare=prepare,
            app=app,
        )
        self._portal = Portal()

    def close(self) -> None:
        """Shut down what runs, then close the pool and the thread."""
        try:
            self._portal.run(self.aio.close())
        finally:
            self._portal.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> None:
        """Connect now and not at the first call. Raises DatabaseError with the server's own reason."""
        return self._portal.run(self.aio.open())

    def migrate(self, *, storage: Storage | None = None) -> list[str]:
        """Bring the schema to this version; answers the names of what was applied, [] when nothing was.

        `storage` chooses what a new schema keeps its jobs in: "lanes" (as None) or "canonical". Raises ValidationError if the
        schema is there with the other.
        """
        return self._portal.run(self.aio.migrate(storage=storage))

    def task(
        self,
        args: type[A],
        *,
        kind: str | None = None,
        queue: str | None = None,
        on_completed: FollowUps[A] | None = None,
        on_failed: FollowUps[A] | None = None,
        unique_opts: UniqueOpts | None = None,
        concurrency_key: KeyOf | None = None,
        concurrency_limit: int | None = None,
    ) -> Callable[[Handler[A]], Handler[A]]:
        """A decorator that registers the handler of a kind of job.

        `args` is a dataclass, a pydantic model, a TypedDict or dict. The kind comes from its name
        (`SendEmail` gives `send_email`) or from `kind`. Jobs go to `queue` unless an insert says else.
        An `async def` handler runs on the event loop, a plain one in a thread. `on_completed` and `on_failed`
        are given the job when it has ended so, for good, and answer what is to follow: the arguments of a job, an
        `awa.FollowUp` with options, a list of them, or None. Those jobs are inserted in the transaction that ends it.
        Jobs are unique as `unique_opts` says, unless an insert says else.
        Of the jobs with one `concurrency_key` at most `concurrency_limit` (1) run at once; it is a template for the
        arguments, such as "tenant-{tenant}", or a function of them.
        """
        return self.aio.task(
            args,
            kind=kind,
            queue=queue,
            on_completed=on_completed,
            on_failed=on_failed,
            unique_opts=unique_opts,
            concurrency_key=concurrency_key,
            concurrency_limit=concurrency_limit,
        )

    def insert(self, args: A, **options: Unpack[JobOptions]) -> Job[A]:
        """Insert one job; answers it with its id.

        Options: `queue` (else the task's, else "default"), `kind`, `priority` 1 (first) to 4,
        `max_attempts`, `tags`, `metadata`, `run_at` (aware; later means scheduled), `ordering_key` (jobs
        with one key are dispatched in order), `concurrency_key` (of the jobs with one key at most
        `concurrency_limit`, 1 unless said otherwise, run at once), `unique_opts` (see `awa.UniqueOpts`). Raises
        ValidationError with a field for each problem, and UniqueConflict with the `job_id` of the job that holds
        the unique key. The job's `insertion` says what happened: inserted, ignored or replaced.
        """
        return self._portal.run(self.aio.insert(args, **options))

    def insert_many(self, jobs: Sequence[Any], **options: Unpack[JobOptions]) -> list[Job[Any]]:
        """Insert several jobs into one queue, all or none, by one statement; answers them in order.

        Each is the arguments of a job, or an `awa.Draft` that says what differs for this one. Sets of
        more than 10,000 jobs or 16 MiB take several statements in one transaction. Raises as `insert`,
        naming the job's place in the list.
        """
        return self._portal.run(self.aio.insert_many(jobs, **options))

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction for rows and jobs: committed at the end of the block, rolled back on an error."""
        with self._portal.entered(self.aio.transaction()) as entered:
            yield Transaction(self._portal, entered)

    def on(self, event: Event | str) -> Callable[[H], H]:
        """A decorator, `@client.on("failed")`: the function is called when an attempt of this program has started, or ended so.

        Events are started, completed, retried, failed, cancelled, snoozed, waiting and returned. A hook gets an `awa.JobEvent` once
        the end is committed; it may be async, and a plain one runs in a thread. What it raises is logged. Raises ValidationError,
        and Conflict if the client has been started.
        """
        return self.aio.on(event)

    def start(
        self,
        queues: Iterable[Any] = (),
        *,
        max_workers: int | None = None,
        roles: Iterable[str] | None = None,
    ) -> None:
        """Begin to work: `[("email", 50)]`, or mappings with queue, max_workers, deadline_seconds, rate_limit.

        With `max_workers` the queues share so many slots by their `weight` (1), none below its `min_workers` (0).
        Roles are "worker" and "maintenance" (promotion, rescue, retention, batch operations); both
        unless told otherwise. Returns when the runtime is registered; the work goes on in the
        background until `shutdown`. Raises ValidationError, SchemaNotMigrated, DatabaseError, and
        Conflict if it has been started already.
        """
        return self._portal.run(self.aio.start(queues, max_workers=max_workers, roles=roles))

    def shutdown(self, timeout: float | None = None) -> int:
        """Stop working: claim no more, give handlers `timeout` seconds (default 30), hand back the rest.

        Answers how many attempts were handed back; they don't count. Does nothing when not started.
        """
        return self._portal.run(self.aio.shutdown(timeout))

    def get_job(self, job_id: int) -> Job[Any]:
        """The job with this id. Raises NotFound."""
        return self._portal.run(self.aio.get_job(job_id))

    def list_jobs(
        self,
        *,
        state: JobState | str | None = None,
        kind: str | None = None,
        queue: str | None = None,
        tag: str | None = None,
        limit: int = PAGE_DEFAULT_ROWS,
        before_id: int | None = None,
    ) -> list[Job[Any]]:
        """Jobs, newest first. For the next page give the last id as `before_id`."""
        return self._portal.run(
            self.aio.list_jobs(
                state=state, kind=kind, queue=queue, tag=tag, limit=limit, before_id=before_id
            )
        )

    def cancel(self, job_id: int, *, reason: str | None = None) -> Job[Any]:
        """Cancel a waiting or running job. Raises NotFound, and Conflict if it has ended.

        A running attempt ends at once; its handler sees `job.is_cancelled()`, and what it still
        returns changes nothing.
        """
        return self._portal.run(self.aio.cancel(job_id, reason=reason))

    def cancel_by_unique_key(
        self,
        args: object = None,
        *,
        key: str | None = None,
        kind: str | None = None,
        queue: str | None = None,
        unique_opts: UniqueOpts | None = None,
        run_at: datetime | None = None,
        reason: str | None = None,
    ) -> Job[Any]:
        """Cancel the job that holds a unique key: `args` and options as for the insert, or an own `key` alone.

        Raises NotFound if nobody holds it. A job that has ended and still holds its key is refused with Conflict.
        """
        return self._portal.run(
            self.aio.cancel_by_unique_key(
                args,
                key=key,
                kind=kind,
                queue=queue,
                unique_opts=unique_opts,
                run_at=run_at,
                reason=reason,
            )
        )

    def retry(self, job_id: int) -> Job[Any]:
        """Run a failed, cancelled, retryable or scheduled job now.

        Raises NotFound, Conflict, and UniqueConflict if another job has its unique key by now: it stays as it is.
        """
        return self._portal.run(self.aio.retry(job_id))

    def set_job_priority(self, job_id: int, priority: int) -> Job[Any]:
        """Give a waiting job another priority, 1 (first) to 4. Raises NotFound, Conflict."""
        return self._portal.run(self.aio.set_job_priority(job_id, priority))

    def move_job(self, job_id: int, queue: str, priority: int | None = None) -> Job[Any]:
        """Put a waiting job into another queue. Raises NotFound, Conflict, and UniqueConflict if its key is taken there."""
        return self._portal.run(self.aio.move_job(job_id, queue, priority))

    def pause_queue(self, queue: str, paused_by: str | None = None) -> dict[str, Any]:
        """Let nobody claim from a queue; what runs goes on. Pausing twice keeps who did it first."""
        return self._portal.run(self.aio.pause_queue(queue, paused_by))

    def resume_queue(self, queue: str) -> dict[str, Any]:
        """Let workers claim again. Raises NotFound for a queue that nobody has paused or configured."""
        return self._portal.run(self.aio.resume_queue(queue))

    def drain_queue(self, queue: str, *, reason: str | None = None) -> int:
        """Cancel everything that waits in a queue; answers how many jobs. What runs goes on."""
        return self._portal.run(self.aio.drain_queue(queue, reason=reason))

    def set_enqueue_shards(self, queue: str, shards: int) -> dict[str, Any]:
        """Spread each priority of a queue over `shards` lanes (1 to 64) from now on; what waits keeps its lane.

        More lanes let more workers claim at once; jobs with an ordering key keep their order within one.
        """
        return self._portal.run(self.aio.set_enqueue_shards(queue, shards))

    def set_queue_limits(
        self,
        queue: str,
        *,
        max_running: Limit = UNCHANGED,
        rate_limit: Limit = UNCHANGED,
        rate_period_seconds: float | None = None,
    ) -> dict[str, Any]:
        """Limit a queue for all workers together: jobs that run at once, and jobs begun within a period (1 second).

        What isn't given stays as it is, None takes a limit away. Counts from the next claim on; what runs goes on.
        Raises ValidationError.
        """
        return self._portal.run(
            self.aio.set_queue_limits(
                queue,
                max_running=max_running,
                rate_limit=rate_limit,
                rate_period_seconds=rate_period_seconds,
            )
        )

    def queue_stats(self, queue: str | None = None) -> list[dict[str, Any]]:
        """Each queue with its jobs by state, its pause, and the age of what waits longest, in seconds."""
        return self._portal.run(self.aio.queue_stats(queue))

    def health_check(self) -> dict[str, Any]:
        """Whether jobs can be run: `healthy`, the `problems`, and what was seen. Never raises AwaError."""
        return self._portal.run(self.aio.health_check())

    def preview_batch_operation(
        self, op_kind: str, spec: Mapping[str, Any], filter: Filter = None
    ) -> Row:
        """What an operation would change now: `total_matched`, a `sample`, where they are, how long it takes.

        Its `plan_token` holds a submission to these counts. Changes nothing and locks nothing. Raises ValidationError as
        `submit_batch_operation` does, and TooSlow.
        """
        return self._portal.run(self.aio.preview_batch_operation(op_kind, spec, filter))

    def submit_batch_operation(
        self,
        op_kind: str,
        spec: Mapping[str, Any],
        filter: Filter = None,
        *,
        allow_all: bool = False,
        plan_token: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        priority: int = PRIORITY_DEFAULT,
        max_rows_per_second: int | None = None,
        not_before: datetime | None = None,
        max_jobs: int | None = None,
    ) -> Row:
        """Submit an operation; the maintenance leader runs it. Answers its row.

        An empty filter needs `allow_all=True`. It begins at `not_before` at the earliest, and takes at most `max_jobs` jobs.
        With an `idempotency_key` a second submission answers the first one's row. With the `plan_token` of a preview it
        raises PlanDrifted, with the difference, if the jobs are no longer those that were counted, and PlanExpired.
        Raises ValidationError with the fields that are wrong, and Conflict if the key stands for another request.
        """
        return self._portal.run(
            self.aio.submit_batch_operation(
                op_kind,
                spec,
                filter,
                allow_all=allow_all,
                plan_token=plan_token,
                reason=reason,
                idempotency_key=idempotency_key,
                priority=priority,
                max_rows_per_second=max_rows_per_second,
                not_before=not_before,
                max_jobs=max_jobs,
            )
        )

    def preview_set_priority(self, priority: int, filter: Filter = None) -> Row:
        """Preview of `set_priority`."""
        return self._portal.run(self.aio.preview_set_priority(priority, filter))

    def set_priority(
        self,
        priority: int,
        filter: Filter = None,
        *,
        allow_all: bool = False,
        plan_token: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Row:
        """Submit an operation that gives waiting jobs another priority. Answers its row."""
        return self._portal.run(
            self.aio.set_priority(
                priority,
                filter,
                allow_all=allow_all,
                plan_token=plan_token,
                reason=reason,
                idempotency_key=idempotency_key,
            )
        )

    def preview_move_queue(
        self, queue: str, priority: int | None = None, filter: Filter = None
    ) -> Row:
        """Preview of `move_queue`."""
        return self._portal.run(self.aio.preview_move_queue(queue, priority, filter))

    def move_queue(
        self,
        queue: str,
        priority: int | None = None,
        filter: Filter = None,
        *,
        allow_all: bool = False,
        plan_token: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
    ) -> Row:
        """Submit an operation that puts waiting jobs into another queue. Answers its row."""
        return self._portal.run(
            self.aio.move_queue(
                queue,
                priority,
                filter,
                allow_all=allow_all,
                plan_token=plan_token,
                reason=reason,
                idempotency_key=idempotency_key,
            )
        )

    def list_batch_operations(
        self, *, state: str | None = None, limit: int = PAGE_DEFAULT_ROWS
    ) -> list[Row]:
        """Operations, newest first. More than `limit` of them come page by page: `batch_operations_page`."""
        return self._portal.run(self.aio.list_batch_operations(state=state, limit=limit))

    def batch_operations_page(
        self, *, state: str | None = None, limit: int = PAGE_DEFAULT_ROWS, cursor: str | None = None
    ) -> tuple[list[Row], str | None]:
        """Operations, newest first, and the cursor of the next page; None is the end."""
        return self._portal.run(
            self.aio.batch_operations_page(state=state, limit=limit, cursor=cursor)
        )

    def get_batch_operation(self, operation_id: UUID | str) -> Row:
        """One operation, with what is `pending` and its `totals` by outcome and reason. Raises NotFound."""
        return self._portal.run(self.aio.get_batch_operation(operation_id))

    def wait_batch_operation(
        self, operation_id: UUID | str, *, timeout: float | None = None
    ) -> Row:
        """Wait until an operation has ended; answers its row, whatever the end was.

        Raises NotFound, and TimeoutError with its present state after `timeout` seconds.
        """
        return self._portal.run(self.aio.wait_batch_operation(operation_id, timeout=timeout))

    def cancel_batch_operation(self, operation_id: UUID | str, *, reason: str | None = None) -> Row:
        """Cancel an operation; what it has changed stays changed. Raises NotFound, Conflict."""
        return self._portal.run(self.aio.cancel_batch_operation(operation_id, reason=reason))

    def pause_batch_operation(self, operation_id: UUID | str, *, reason: str | None = None) -> Row:
        """Pause an operation after its present chunk; it keeps its place. Raises NotFound, Conflict."""
        return self._portal.run(self.aio.pause_batch_operation(operation_id, reason=reason))

    def resume_batch_operation(self, operation_id: UUID | str, *, reason: str | None = None) -> Row:
        """Let a paused operation go on where it was. Raises NotFound, Conflict."""
        return self._portal.run(self.aio.resume_batch_operation(operation_id, reason=reason))

    def change_batch_operation(
        self,
        operation_id: UUID | str,
        *,
        max_rows_per_second: Rate = UNCHANGED,
        priority: int | None = None,
        reason: str | None = None,
    ) -> Row:
        """Give an operation another rate (None: no limit) or priority while it goes on.

        Faster counts at once, slower after the present chunk. Raises NotFound, Conflict, ValidationError.
        """
        return self._portal.run(
            self.aio.change_batch_operation(
                operation_id,
                max_rows_per_second=max_rows_per_second,
                priority=priority,
                reason=reason,
            )
        )

    def hold_batch_operations(self, *, reason: str | None = None) -> Row:
        """Hold all operations after their present chunks, until they are released. Raises Conflict."""
        return self._portal.run(self.aio.hold_batch_operations(reason=reason))

    def release_batch_operations(self, *, reason: str | None = None) -> Row:
        """Let operations go on that were held. Raises Conflict if nobody holds them."""
        return self._portal.run(self.aio.release_batch_operations(reason=reason))

    def batch_operations_held(self) -> Row:
        """Whether all operations are `held`, and then `held_at`, `held_by` and `reason`."""
        return self._portal.run(self.aio.batch_operations_held())

    def list_batch_operation_items(
        self,
        operation_id: UUID | str,
        *,
        outcome: str | None = None,
        reason: str | None = None,
        limit: int = PAGE_DEFAULT_ROWS,
    ) -> list[Row]:
        """Items of an operation, by job id: pending, processed, skipped or errored, and the reason.

        More than `limit` of them come page by page: `batch_operation_items_page`.
        """
        return self._portal.run(
            self.aio.list_batch_operation_items(
                operation_id, outcome=outcome, reason=reason, limit=limit
            )
        )

    def batch_operation_items_page(
        self,
        operation_id: UUID | str,
        *,
        outcome: str | None = None,
        reason: str | None = None,
        limit: int = PAGE_DEFAULT_ROWS,
        cursor: str | None = None,
    ) -> tuple[list[Row], str | None]:
        """Items of an operation, by job id, and the cursor of the next page; None is the end. Raises NotFound."""
        return self._portal.run(
            self.aio.batch_operation_items_page(
                operation_id, outcome=outcome, reason=reason, limit=limit, cursor=cursor
            )
        )

    def purge_batch_operations(self, before: datetime) -> int:
        """Delete the operations that ended before a time; answers how many."""
        return self._portal.run(self.aio.purge_batch_operations(before))

    def periodic(
        self,
        name: str,
        cron_expr: str,
        args_type: Any,
        args: Any = _LEFT_OUT,
        *,
        timezone: str = "UTC",
        missed: Missed | str = Missed.COALESCE,
        **options: Unpack[JobOptions],
    ) -> None:
        """Declare a schedule: `periodic("report", "0 9 * * 1-5", Report(…), timezone="Europe/Berlin")`.

        Five fields (minute, hour, day, month, weekday) or six with seconds first, read in `timezone`. The type of the
        arguments may stand before them. Fires that no leader was there for become one job (`missed="coalesce"`) or
        one each ("catch_up"). Options as for `insert`, without `run_at`. Written down when a worker of this client
        starts; a schedule that no living worker of this `app` declares any more is retired. Programs that share a
        database need an `app` of their own. Raises ValidationError, and Conflict for a name that was given before.
        """
        return self.aio.periodic(
            name, cron_expr, args_type, args, timezone=timezone, missed=missed, **options
        )

    def list_cron_jobs(
        self, *, retired: bool = False, limit: int = 50, cursor: str | None = None
    ) -> list[dict[str, Any]]:
        """Schedules by name: their times, next fires, last job, pause. `retired`: also those no program declares."""
        return self._portal.run(
            self.aio.list_cron_jobs(retired=retired, limit=limit, cursor=cursor)
        )

    def cron_jobs_page(
        self, *, retired: bool = False, limit: int = 50, cursor: str | None = None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """As `list_cron_jobs`, and the cursor of the next page (None: the end)."""
        return self._portal.run(
            self.aio.cron_jobs_page(retired=retired, limit=limit, cursor=cursor)
        )

    def get_cron_job(self, name: str) -> dict[str, Any]:
        """One schedule. Raises NotFound."""
        return self._portal.run(self.aio.get_cron_job(name))

    def pause_cron_job(self, name: str, paused_by: str | None = None) -> dict[str, Any]:
        """Stop a schedule's fires. Raises NotFound."""
        return self._portal.run(self.aio.pause_cron_job(name, paused_by))

    def resume_cron_job(self, name: str) -> dict[str, Any]:
        """Let it fire again, from its next tick on. Raises NotFound."""
        return self._portal.run(self.aio.resume_cron_job(name))

    def trigger_cron_job(self, name: str) -> Job[Any]:
        """Enqueue a schedule's job now, beside its ticks; a paused one's, too. Raises NotFound, UniqueConflict."""
        return self._portal.run(self.aio.trigger_cron_job(name))

    def set_dlq(self, queue: str, enabled: bool) -> dict[str, Any]:
        """Say whether jobs of a queue that fail from now on become dead letters. Off unless said so."""
        return self._portal.run(self.aio.set_dlq(queue, enabled))

    def list_dlq(
        self,
        *,
        queue: str | None = None,
        kind: str | None = None,
        fingerprint: str | None = None,
        reason: str | None = None,
        before: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> list[dict[str, Any]]:
        """Dead letters, newest first: the job's columns, `dlq_at`, `reason` and the last `error`.

        Reasons are `attempts_exhausted`, `terminal_error` and `callback_failed`. Errors of one cause share a `fingerprint`.
        """
        return self._portal.run(
            self.aio.list_dlq(
                queue=queue,
                kind=kind,
                fingerprint=fingerprint,
                reason=reason,
                before=before,
                limit=limit,
                cursor=cursor,
            )
        )

    def dlq_page(
        self,
        *,
        queue: str | None = None,
        kind: str | None = None,
        fingerprint: str | None = None,
        reason: str | None = None,
        before: datetime | None = None,
        limit: int = 50,
        cursor: str | None = None,
    ) -> tuple[list[dict[str, Any]], str | None]:
        """As `list_dlq`, and the cursor of the next page (None: the end)."""
        return self._portal.run(
            self.aio.dlq_page(
                queue=queue,
                kind=kind,
                fingerprint=fingerprint,
                reason=reason,
                before=before,
                limit=limit,
                cursor=cursor,
            )
        )

    def dlq_depth(self) -> list[dict[str, Any]]:
        """Each queue with dead letters, or that has them switched on: depth, oldest_at, newest_at, enabled."""
        return self._portal.run(self.aio.dlq_depth())

    def retry_from_dlq(
        self,
        job_id: int,
        *,
        queue: str | None = None,
        priority: int | None = None,
        run_at: datetime | None = None,
    ) -> Job[Any]:
        """Give a dead letter all its attempts again, elsewhere or later if you like.

        Raises NotFound, Conflict, and UniqueConflict if another job has its unique key: then it stays where it is.
        """
        return self._portal.run(
            self.aio.retry_from_dlq(job_id, queue=queue, priority=priority, run_at=run_at)
        )

    def retry_all_from_dlq(
        self,
        *,
        queue: str | None = None,
        kind: str | None = None,
        fingerprint: str | None = None,
        reason: str | None = None,
        before: datetime | None = None,
        to_queue: str | None = None,
        to_priority: int | None = None,
        run_at: datetime | None = None,
        allow_all: bool = False,
        kept: list[int] | None = None,
    ) -> int:
        """Retry all that match, a thousand a transaction; answers how many. Without a filter it wants `allow_all`.

        Those that stay dead letters because another job has their unique key are added to the list `kept`.
        """
        return self._portal.run(
            self.aio.retry_all_from_dlq(
                queue=queue,
                kind=kind,
                fingerprint=fingerprint,
                reason=reason,
                before=before,
                to_queue=to_queue,
                to_priority=to_priority,
                run_at=run_at,
                allow_all=allow_all,
                kept=kept,
            )
        )

    def purge_dlq(
        self,
        *,
        queue: str | None = None,
        kind: str | None = None,
        fingerprint: str | None = None,
        reason: str | None = None,
        before: datetime | None = None,
        allow_all: bool = False,
    ) -> int:
        """Delete all that match for good, a thousand a transaction; answers how many. Without a filter it wants `allow_all`."""
        return self._portal.run(
            self.aio.purge_dlq(
                queue=queue,
                kind=kind,
                fingerprint=fingerprint,
                reason=reason,
                before=before,
                allow_all=allow_all,
            )
        )

    def complete_external(
        self, callback_id: UUID | str, payload: Any = None, *, by: str | None = None
    ) -> dict[str, Any]:
        """The job that waits is completed; the payload (any JSON) stays in its metadata."""
        return self._portal.run(self.aio.complete_external(callback_id, payload, by=by))

    def fail_external(
        self, callback_id: UUID | str, error: str | Mapping[str, Any], *, by: str | None = None
    ) -> dict[str, Any]:
        """The job that waits has failed for good; `error` is a sentence, or a mapping with `error` and more."""
        return self._portal.run(self.aio.fail_external(callback_id, error, by=by))

    def retry_external(
        self,
        callback_id: UUID | str,
        error: str | Mapping[str, Any] | None = None,
        *,
        by: str | None = None,
    ) -> dict[str, Any]:
        """The job that waits gets its next attempt after a backoff; without attempts left it fails."""
        return self._portal.run(self.aio.retry_external(callback_id, error, by=by))

    def resume_external(
        self, callback_id: UUID | str, payload: Any = None, *, by: str | None = None
    ) -> dict[str, Any]:
        """The handler of the job that waits runs again at once, with the payload in `job.callback_result`; not counted."""
        return self._portal.run(self.aio.resume_external(callback_id, payload, by=by))

    def heartbeat_callback(
        self,
        callback_id: UUID | str,
        timeout_seconds: float | None = None,
        *,
        by: str | None = None,
    ) -> dict[str, Any]:
        """Whoever has to answer is still at it: the time-out counts from now, for as long as before unless told."""
        return self._portal.run(self.aio.heartbeat_callback(callback_id, timeout_seconds, by=by))

    def get_callback(self, callback_id: UUID | str) -> dict[str, Any]:
        """A callback and how it stands: job_id, job_state, waits, expires_at, resolution, payload, … Raises NotFound."""
        return self._portal.run(self.aio.get_callback(callback_id))
