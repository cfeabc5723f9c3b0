"""Batch operations: preview, submit, watch, steer. Rows come back as dicts with the columns of ADR-030."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from time import monotonic
from typing import Any, Final, TypeAlias
from uuid import UUID

from awa.client.base import Base
from awa.model.filter import JobFilter
from awa.model.limits import PAGE_DEFAULT_ROWS, PRIORITY_DEFAULT
from awa.model.queue_limits import UNCHANGED
from awa.model.states import OperationState
from awa.model.steering import Rate, operation_changes
from awa.operations import control, read, retention, switch
from awa.operations.preview import preview
from awa.operations.submit import submit
from awa.operations.undo import preview_undo, undo

Row: TypeAlias = dict[str, Any]
Filter: TypeAlias = JobFilter | Mapping[str, Any] | None

# While waiting for an operation, looks are this far apart: the first, the longest.
WAIT_FIRST_S: Final = 0.05
WAIT_LONGEST_S: Final = 1.0
FINAL: Final = frozenset(
    {OperationState.COMPLETED, OperationState.CANCELLED, OperationState.FAILED}
)


class Batch(Base):
    """The client's chapter on batch operations."""

    async def preview_batch_operation(
        self,
        op_kind: str,
        spec: Mapping[str, Any],
        filter: Filter = None,
    ) -> Row:
        """What an operation would change now: `total_matched`, a `sample`, where they are, how long it takes.

        Its `plan_token` holds a submission to these counts. Changes nothing and locks nothing. Raises ValidationError as
        `submit_batch_operation` does, and TooSlow.
        """
        async with self.connection() as conn:
            return await preview(conn, op_kind, filter, spec, plan_limits=self.settings.plan_limits)

    async def submit_batch_operation(
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
        async with self.connection() as conn:
            return await submit(
                conn,
                op_kind,
                filter,
                spec,
                allow_all=allow_all,
                reason=reason,
                idempotency_key=idempotency_key,
                priority=priority,
                max_rows_per_second=max_rows_per_second,
                not_before=not_before,
                max_jobs=max_jobs,
                plan_token=plan_token,
                plan_limits=self.settings.plan_limits,
            )

    async def preview_set_priority(self, priority: int, filter: Filter = None) -> Row:
        """Preview of `set_priority`."""
        return await self.preview_batch_operation("set_priority", {"priority": priority}, filter)

    async def set_priority(
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
        return await self.submit_batch_operation(
            "set_priority",
            {"priority": priority},
            filter,
            allow_all=allow_all,
            plan_token=plan_token,
            reason=reason,
            idempotency_key=idempotency_key,
        )

    async def preview_move_queue(
        self,
        queue: str,
        priority: int | None = None,
        filter: Filter = None,
    ) -> Row:
        """Preview of `move_queue`."""
        return await self.preview_batch_operation("move_queue", _move(queue, priority), filter)

    async def move_queue(
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
        return await self.submit_batch_operation(
            "move_queue",
            _move(queue, priority),
            filter,
            allow_all=allow_all,
            plan_token=plan_token,
            reason=reason,
            idempotency_key=idempotency_key,
        )

    async def list_batch_operations(
        self, *, state: str | None = None, limit: int = PAGE_DEFAULT_ROWS
    ) -> list[Row]:
        """Operations, newest first. More than `limit` of them come page by page: `batch_operations_page`."""
        async with self.connection() as conn:
            found, _ = await read.operations_page(conn, state=state, limit=limit)
        return found

    async def batch_operations_page(
        self,
        *,
        state: str | None = None,
        limit: int = PAGE_DEFAULT_ROWS,
        cursor: str | None = None,
    ) -> tuple[list[Row], str | None]:
        """Operations, newest first, and the cursor of the next page; None is the end."""
        async with self.connection() as conn:
            return await read.operations_page(conn, state=state, limit=limit, cursor=cursor)

    async def get_batch_operation(self, operation_id: UUID | str) -> Row:
        """One operation, with what is `pending` and its `totals` by outcome and reason. Raises NotFound."""
        async with self.connection() as conn:
            return await read.get(conn, operation_id)

    async def wait_batch_operation(
        self,
        operation_id: UUID | str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109
    ) -> Row:
        """Wait until an operation has ended; answers its row, whatever the end was.

        Raises NotFound, and TimeoutError with its present state after `timeout` seconds.
        """
        until_s = None if timeout is None else monotonic() + timeout
        pause_s = WAIT_FIRST_S
        while True:
            row = await self.get_batch_operation(operation_id)
            if row["state"] in FINAL:
                return row
            left_s = pause_s if until_s is None else until_s - monotonic()
            if left_s <= 0:
                raise TimeoutError(
                    f"operation {operation_id} is still {row['state']} after {timeout:g} s"
                )
            await asyncio.sleep(min(pause_s, left_s))
            pause_s = min(pause_s * 1.5, WAIT_LONGEST_S)

    async def cancel_batch_operation(
        self, operation_id: UUID | str, *, reason: str | None = None
    ) -> Row:
        """Cancel an operation; what it has changed stays changed. Raises NotFound, Conflict."""
        async with self.connection() as conn:
            return await control.cancel(conn, operation_id, reason=reason)

    async def pause_batch_operation(
        self, operation_id: UUID | str, *, reason: str | None = None
    ) -> Row:
        """Pause an operation after its present chunk; it keeps its place. Raises NotFound, Conflict."""
        async with self.connection() as conn:
            return await control.pause(conn, operation_id, reason=reason)

    async def resume_batch_operation(
        self, operation_id: UUID | str, *, reason: str | None = None
    ) -> Row:
        """Let a paused operation go on where it was. Raises NotFound, Conflict."""
        async with self.connection() as conn:
            return await control.resume(conn, operation_id, reason=reason)

    async def change_batch_operation(
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
        changes = operation_changes(max_rows_per_second, priority)
        async with self.connection() as conn:
            return await control.change(conn, operation_id, changes, reason=reason)

    async def preview_undo_batch_operation(self, operation_id: UUID | str) -> Row:
        """How many of an operation's jobs are as it left them, and why the others aren't; as `preview_batch_operation`.

        Changes nothing and locks nothing. Raises NotFound, Conflict as `undo_batch_operation` does, and TooSlow.
        """
        async with self.connection() as conn:
            return await preview_undo(conn, operation_id, plan_limits=self.settings.plan_limits)

    async def undo_batch_operation(
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
        async with self.connection() as conn:
            return await undo(
                conn,
                operation_id,
                reason=reason,
                idempotency_key=idempotency_key,
                priority=priority,
                max_rows_per_second=max_rows_per_second,
                not_before=not_before,
                max_jobs=max_jobs,
                plan_token=plan_token,
                plan_limits=self.settings.plan_limits,
            )

    async def hold_batch_operations(self, *, reason: str | None = None) -> Row:
        """Hold all operations after their present chunks, until they are released. Raises Conflict."""
        async with self.connection() as conn:
            return await switch.hold(conn, reason=reason)

    async def release_batch_operations(self, *, reason: str | None = None) -> Row:
        """Let operations go on that were held. Raises Conflict if nobody holds them."""
        async with self.connection() as conn:
            return await switch.release(conn, reason=reason)

    async def batch_operations_held(self) -> Row:
        """Whether all operations are `held`, and then `held_at`, `held_by` and `reason`."""
        async with self.connection() as conn:
            return await switch.present(conn)

    async def list_batch_operation_items(
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
        async with self.connection() as conn:
            found, _ = await read.items_page(
                conn, operation_id, outcome=outcome, reason=reason, limit=limit
            )
        return found

    async def batch_operation_items_page(
        self,
        operation_id: UUID | str,
        *,
        outcome: str | None = None,
        reason: str | None = None,
        limit: int = PAGE_DEFAULT_ROWS,
        cursor: str | None = None,
    ) -> tuple[list[Row], str | None]:
        """Items of an operation, by job id, and the cursor of the next page; None is the end. Raises NotFound."""
        async with self.connection() as conn:
            return await read.items_page(
                conn, operation_id, outcome=outcome, reason=reason, limit=limit, cursor=cursor
            )

    async def purge_batch_operations(self, before: datetime) -> int:
        """Delete the operations that ended before a time; answers how many."""
        async with self.connection() as conn:
            return await retention.purge(conn, before)


def _move(queue: str, priority: int | None) -> dict[str, Any]:
    return {"queue": queue} if priority is None else {"queue": queue, "priority": priority}
