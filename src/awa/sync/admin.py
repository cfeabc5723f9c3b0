"""The blocking client: Admin. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from awa.model.job import Job
from awa.model.limits import PAGE_DEFAULT_ROWS
from awa.model.queue_limits import UNCHANGED, Limit
from awa.model.states import JobState
from awa.model.unique import UniqueOpts
from awa.sync.base import Base


class Admin(Base):
    """As that of the async client."""

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
