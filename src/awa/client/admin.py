"""Administration: single jobs and queues, seen and changed."""

from __future__ import annotations

from datetime import datetime
from time import perf_counter
from typing import Any

from awa.client.base import Base
from awa.db import migrate as migrations
from awa.model.draft import JobOptions
from awa.model.errors import AwaError, NotFound
from awa.model.filter import JobFilter
from awa.model.job import Job
from awa.model.limits import PAGE_DEFAULT_ROWS, check_actor, check_queue, check_shards
from awa.model.queue_limits import UNCHANGED, Limit, queue_limits
from awa.model.states import JobState
from awa.model.unique import UniqueOpts
from awa.operations import single, unique
from awa.storage import queues, runtimes


class Admin(Base):
    """The client's chapter on single jobs and queues."""

    async def get_job(self, job_id: int) -> Job[Any]:
        """The job with this id. Raises NotFound."""
        async with self.connection() as conn:
            return await single.get_job(conn, job_id)

    async def list_jobs(
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
        given = {"state": state, "kind": kind, "queue": queue, "tag": tag}
        wanted = JobFilter.parse(
            {name: value for name, value in given.items() if value is not None}
        )
        async with self.connection() as conn:
            return await single.list_jobs(conn, wanted, limit=limit, before_id=before_id)

    async def cancel(self, job_id: int, *, reason: str | None = None) -> Job[Any]:
        """Cancel a waiting or running job. Raises NotFound, and Conflict if it has ended.

        A running attempt ends at once; its handler sees `job.is_cancelled()`, and what it still
        returns changes nothing.
        """
        async with self.connection() as conn:
            return await single.cancel_job(conn, job_id, reason=reason)

    async def cancel_by_unique_key(
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
        said: JobOptions = {
            "kind": kind,
            "queue": queue,
            "unique_opts": unique_opts,
            "run_at": run_at,
        }
        wanted = unique.key_of(args, said, self.tasks, key=key)
        async with self.connection() as conn:
            return await unique.cancel_by_unique_key(conn, wanted, reason=reason)

    async def retry(self, job_id: int) -> Job[Any]:
        """Run a failed, cancelled, retryable or scheduled job now.

        Raises NotFound, Conflict, and UniqueConflict if another job has its unique key by now: it stays as it is.
        """
        async with self.connection() as conn:
            return await single.retry_job(conn, job_id)

    async def set_job_priority(self, job_id: int, priority: int) -> Job[Any]:
        """Give a waiting job another priority, 1 (first) to 4. Raises NotFound, Conflict."""
        async with self.connection() as conn:
            return await single.set_job_priority(conn, job_id, priority)

    async def move_job(self, job_id: int, queue: str, priority: int | None = None) -> Job[Any]:
        """Put a waiting job into another queue. Raises NotFound, Conflict, and UniqueConflict if its key is taken there."""
        async with self.connection() as conn:
            return await single.move_job(conn, job_id, queue, priority)

    async def pause_queue(self, queue: str, paused_by: str | None = None) -> dict[str, Any]:
        """Let nobody claim from a queue; what runs goes on. Pausing twice keeps who did it first."""
        check_queue(queue)
        by = None if paused_by is None else check_actor(paused_by, field="paused_by")
        async with self.connection() as conn:
            return await queues.pause(conn, queue, by)

    async def resume_queue(self, queue: str) -> dict[str, Any]:
        """Let workers claim again. Raises NotFound for a queue that nobody has paused or configured."""
        check_queue(queue)
        async with self.connection() as conn:
            resumed = await queues.resume(conn, queue)
        if resumed is None:
            raise NotFound(f"nothing is known of queue {queue!r}", hint="see: awa queue list")
        return resumed

    async def drain_queue(self, queue: str, *, reason: str | None = None) -> int:
        """Cancel everything that waits in a queue; answers how many jobs. What runs goes on."""
        async with self.connection() as conn:
            return await single.drain_queue(conn, queue, reason=reason)

    async def set_enqueue_shards(self, queue: str, shards: int) -> dict[str, Any]:
        """Spread each priority of a queue over `shards` lanes (1 to 64) from now on; what waits keeps its lane.

        More lanes let more workers claim at once; jobs with an ordering key keep their order within one.
        """
        check_queue(queue)
        check_shards(shards)
        async with self.connection() as conn:
            return await queues.set_enqueue_shards(conn, queue, shards)

    async def set_queue_limits(
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
        check_queue(queue)
        changes = queue_limits(max_running, rate_limit, rate_period_seconds)
        async with self.connection() as conn:
            return await queues.set_limits(conn, queue, changes)

    async def queue_stats(self, queue: str | None = None) -> list[dict[str, Any]]:
        """Each queue with its jobs by state, its pause, and the age of what waits longest, in seconds."""
        async with self.connection() as conn:
            return await queues.stats(conn, queue)

    async def health_check(self) -> dict[str, Any]:
        """Whether jobs can be run: `healthy`, the `problems`, and what was seen. Never raises AwaError."""
        seen: dict[str, Any] = {"healthy": False, "problems": []}
        began_s = perf_counter()
        try:
            async with self.connection() as conn:
                seen["pending_migrations"] = await migrations.pending(conn)
                seen["server_version"] = conn.info.server_version
                if not seen["pending_migrations"]:
                    alive = [r for r in await runtimes.list_runtimes(conn) if r["state"] == "alive"]
                    seen["workers"] = sum("worker" in r["roles"] for r in alive)
                    seen["maintenance"] = sum("maintenance" in r["roles"] for r in alive)
        except AwaError as problem:
            seen["problems"].append(str(problem))
            return seen
        seen["database_ms"] = round((perf_counter() - began_s) * 1e3, 3)
        seen["problems"] = _problems(seen)
        seen["healthy"] = not seen["problems"]
        return seen


def _problems(seen: dict[str, Any]) -> list[str]:
    if seen["pending_migrations"]:
        return [f"the schema lacks {', '.join(seen['pending_migrations'])}; run: awa migrate"]
    problems = []
    if not seen["workers"]:
        problems.append("no worker is alive, nothing is run")
    if not seen["maintenance"]:
        problems.append(
            "no maintenance is alive: nothing is promoted, rescued or pruned, and batch operations wait"
        )
    return problems
