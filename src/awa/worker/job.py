"""The job as its handler sees it: an `awa.Job` that reads the claimed row and can report back.

Making one costs two stores, because a worker makes tens of thousands a second; the fields are read
from the row when a handler asks for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, Unpack
from uuid import UUID

from awa.model.callback import TIMEOUT_DEFAULT_S, CallbackToken
from awa.model.draft import JobOptions
from awa.model.job import Job
from awa.model.outcome import checked_progress
from awa.model.states import JobState

if TYPE_CHECKING:
    from awa.worker.attempt import Attempt

A = TypeVar("A")
_set = object.__setattr__


def _from_row(column: str) -> Any:
    def read(job: RunningJob[Any]) -> Any:
        return getattr(job._attempt.row, column)

    return property(read)


class RunningJob(Job[A]):
    """One attempt of a job. Equal only to itself."""

    __slots__ = ("_args", "_attempt")

    _attempt: Attempt
    _args: A

    def __init__(self, attempt: Attempt, args: A) -> None:
        _set(self, "_attempt", attempt)
        _set(self, "_args", args)

    id = _from_row("job_id")
    kind = _from_row("kind")
    queue = _from_row("queue")
    priority = _from_row("priority")
    attempt = _from_row("attempt")
    max_attempts = _from_row("max_attempts")
    run_at = _from_row("run_at")
    created_at = _from_row("created_at")
    ready_at = _from_row("ready_at")
    attempted_at = _from_row("claimed_at")
    deadline_at = _from_row("deadline_at")
    state = property(lambda job: JobState.RUNNING)
    args = property(lambda job: job._args)
    tags = property(lambda job: tuple(job._attempt.row.tags or ()))
    errors = property(lambda job: tuple(job._attempt.row.errors or ()))
    metadata = property(lambda job: job._attempt.metadata())
    runtime_id = property(lambda job: job._attempt.ledger.runtime_id)
    progress = property(lambda job: job._attempt.known_progress())
    finalized_at = property(lambda job: None)
    enqueue_shard = property(lambda job: None)

    def is_cancelled(self) -> bool:
        return self._attempt.why is not None

    def set_progress(self, percent: int, message: str | None = None) -> None:
        self._attempt.report(checked_progress(percent, message))

    def update_metadata(self, changes: Mapping[str, Any]) -> None:
        self._attempt.change_metadata(changes)

    def follow_up(self, args: object, **options: Unpack[JobOptions]) -> None:
        self._attempt.follow_up(args, options)

    async def flush_progress(self) -> None:
        await self._attempt.flush()

    async def register_callback(
        self, *, timeout_seconds: float = TIMEOUT_DEFAULT_S
    ) -> CallbackToken:
        return await self._attempt.ledger.desk.register(self._attempt, timeout_seconds)

    async def wait_for_callback(self, token: str | UUID) -> Any:
        return await self._attempt.ledger.desk.wait(self._attempt, token)

    def flush_progress_sync(self) -> None:
        self._attempt.ledger.desk.from_thread(self.flush_progress())

    def register_callback_sync(
        self, *, timeout_seconds: float = TIMEOUT_DEFAULT_S
    ) -> CallbackToken:
        return self._attempt.ledger.desk.from_thread(
            self.register_callback(timeout_seconds=timeout_seconds)
        )

    def wait_for_callback_sync(self, token: str | UUID) -> Any:
        return self._attempt.ledger.desk.from_thread(self.wait_for_callback(token))

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other
