"""The blocking client: Batch. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from awa.client.batch import Filter, Row
from awa.model.limits import PAGE_DEFAULT_ROWS, PRIORITY_DEFAULT
from awa.model.queue_limits import UNCHANGED
from awa.model.steering import Rate
from awa.sync.base import Base


class Batch(Base):
    """As that of the async client."""

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

    def preview_undo_batch_operation(self, operation_id: UUID | str) -> Row:
        """How many of an operation's jobs are as it left them, and why the others aren't; as `preview_batch_operation`.

        Changes nothing and locks nothing. Raises NotFound, Conflict as `undo_batch_operation` does, and TooSlow.
        """
        return self._portal.run(self.aio.preview_undo_batch_operation(operation_id))

    def undo_batch_operation(
        self,
        operation_id: UUID | str,
        *,
        plan_token: str | None = None,
        reason: str | None = None,
        idempotency_key: str | None = None,
        priority: int = PRIORITY_DEFAULT,
        max_rows_per_second: int | None = None,
        not_before: datetime | None = None,
        max_jobs: int | None = None,
    ) -> Row:
        """Submit the undo of an operation that has ended: its jobs get back what it changed, if they are as it left them.

        Answers the new operation's row; the terms are those of `submit_batch_operation`. Undoing it in turn does the changes
        again. Raises NotFound, and Conflict with the present state if the operation is active, changed nothing, has been
        undone or is being undone, or if what an undo needs is gone.
        """
        return self._portal.run(
            self.aio.undo_batch_operation(
                operation_id,
                plan_token=plan_token,
                reason=reason,
                idempotency_key=idempotency_key,
                priority=priority,
                max_rows_per_second=max_rows_per_second,
                not_before=not_before,
                max_jobs=max_jobs,
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
