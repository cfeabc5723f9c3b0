"""Callbacks: jobs that wait for an answer, answered by this program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from awa.client.base import Base
from awa.model.callback import Action
from awa.operations import callbacks


class Callbacks(Base):
    """The client's chapter on callbacks.

    Each of these answers a mapping: callback_id, action, outcome (applied, recorded while the attempt still runs, extended),
    job_id, the job's state now, expires_at. Each raises NotFound, and Conflict if the callback was answered before, timed out, or
    is not waited for any more; nothing is changed then, and `details` say what was first.
    """

    async def complete_external(
        self, callback_id: UUID | str, payload: Any = None, *, by: str | None = None
    ) -> dict[str, Any]:
        """The job that waits is completed; the payload (any JSON) stays in its metadata."""
        return await self._answer(callback_id, Action.COMPLETE, payload=payload, by=by)

    async def fail_external(
        self, callback_id: UUID | str, error: str | Mapping[str, Any], *, by: str | None = None
    ) -> dict[str, Any]:
        """The job that waits has failed for good; `error` is a sentence, or a mapping with `error` and more."""
        return await self._answer(callback_id, Action.FAIL, error=error, by=by)

    async def retry_external(
        self,
        callback_id: UUID | str,
        error: str | Mapping[str, Any] | None = None,
        *,
        by: str | None = None,
    ) -> dict[str, Any]:
        """The job that waits gets its next attempt after a backoff; without attempts left it fails."""
        return await self._answer(callback_id, Action.RETRY, error=error, by=by)

    async def resume_external(
        self, callback_id: UUID | str, payload: Any = None, *, by: str | None = None
    ) -> dict[str, Any]:
        """The handler of the job that waits runs again at once, with the payload in `job.callback_result`; not counted."""
        return await self._answer(callback_id, Action.RESUME, payload=payload, by=by)

    async def heartbeat_callback(
        self,
        callback_id: UUID | str,
        timeout_seconds: float | None = None,
        *,
        by: str | None = None,
    ) -> dict[str, Any]:
        """Whoever has to answer is still at it: the time-out counts from now, for as long as before unless told."""
        return await self._answer(
            callback_id, Action.HEARTBEAT, timeout_seconds=timeout_seconds, by=by
        )

    async def get_callback(self, callback_id: UUID | str) -> dict[str, Any]:
        """A callback and how it stands: job_id, job_state, waits, expires_at, resolution, payload, … Raises NotFound."""
        async with self.connection() as conn:
            return await callbacks.get(conn, callback_id)

    async def _answer(self, callback_id: UUID | str, action: Action, **said: Any) -> dict[str, Any]:
        async with self.connection() as conn:
            return await callbacks.answer(conn, callback_id, action, **said)
