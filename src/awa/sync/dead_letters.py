"""The blocking client: DeadLetters. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from awa.model.job import Job
from awa.sync.base import Base


class DeadLetters(Base):
    """As that of the async client."""

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
