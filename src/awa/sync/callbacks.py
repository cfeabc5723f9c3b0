"""The blocking client: Callbacks. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from awa.sync.base import Base


class Callbacks(Base):
    """As that of the async client."""

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
