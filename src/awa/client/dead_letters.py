"""Dead letters: failed jobs that wait for somebody to look at them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from awa.client.base import Base
from awa.model.errors import NotConfirmed
from awa.model.job import Job
from awa.operations import dead_letters
from awa.storage import dead_letters as storage


class DeadLetters(Base):
    """The client's chapter on dead letters."""

    async def set_dlq(self, queue: str, enabled: bool) -> dict[str, Any]:
        """Say whether jobs of a queue that fail from now on become dead letters. Off unless said so."""
        async with self.connection() as conn:
            return await dead_letters.enable(conn, queue, enabled)

    async def list_dlq(
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
        rows, _next = await self.dlq_page(
            queue=queue,
            kind=kind,
            fingerprint=fingerprint,
            reason=reason,
            before=before,
            limit=limit,
            cursor=cursor,
        )
        return rows

    async def dlq_page(
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
        chosen = dead_letters.which(
            queue=queue, kind=kind, fingerprint=fingerprint, reason=reason, before=before
        )
        async with self.connection() as conn:
            return await dead_letters.page(conn, chosen, limit=limit, cursor=cursor)

    async def dlq_depth(self) -> list[dict[str, Any]]:
        """Each queue with dead letters, or that has them switched on: depth, oldest_at, newest_at, enabled."""
        async with self.connection() as conn:
            return await storage.depth(conn)

    async def retry_from_dlq(
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
        async with self.connection() as conn:
            return await dead_letters.retry_one(
                conn, job_id, queue=queue, priority=priority, run_at=run_at
            )

    async def retry_all_from_dlq(
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
        chosen = dead_letters.which(
            queue=queue, kind=kind, fingerprint=fingerprint, reason=reason, before=before
        )
        _confirmed(chosen, allow_all, "retry")
        async with self.connection() as conn:
            retried, _more = await dead_letters.chunk_by_chunk(
                lambda above: dead_letters.retry_chunk(
                    conn,
                    chosen,
                    above=above,
                    queue=to_queue,
                    priority=to_priority,
                    run_at=run_at,
                    kept=kept,
                )
            )
        return retried

    async def purge_dlq(
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
        chosen = dead_letters.which(
            queue=queue, kind=kind, fingerprint=fingerprint, reason=reason, before=before
        )
        _confirmed(chosen, allow_all, "purge")
        async with self.connection() as conn:
            purged, _more = await dead_letters.chunk_by_chunk(
                lambda above: dead_letters.purge_chunk(conn, chosen, above=above)
            )
        return purged


def _confirmed(chosen: storage.Which, allow_all: bool, deed: str) -> None:
    if chosen == storage.Which() and not allow_all:
        raise NotConfirmed(
            f"this would {deed} every dead letter", hint="give a filter, or say allow_all=True"
        )
