"""A job as it is stored: the columns of the view `awa.jobs`, nothing computed.

`Job` is what the client returns from insert, get and list. It is generic in its arguments, so that
a handler can say `Job[SendEmail]`; read from the database (`JobRow`), `args` is what the JSON held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Generic, TypeAlias, TypeVar, Unpack
from uuid import UUID

from awa.model.callback import RESULT_KEY, TIMEOUT_DEFAULT_S, CallbackToken
from awa.model.errors import Conflict
from awa.model.states import JobState

if TYPE_CHECKING:
    from awa.model.draft import JobOptions

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class Job(Generic[A]):
    """One job; `attempt` counts the attempts begun, the running one included."""

    id: int
    kind: str
    queue: str
    state: JobState
    priority: int
    attempt: int
    max_attempts: int
    args: A
    tags: tuple[str, ...]
    metadata: dict[str, Any]
    errors: tuple[dict[str, Any], ...]
    run_at: datetime
    created_at: datetime
    ready_at: datetime | None = None
    attempted_at: datetime | None = None
    finalized_at: datetime | None = None
    deadline_at: datetime | None = None
    runtime_id: UUID | None = None
    enqueue_shard: int | None = None
    progress: dict[str, Any] | None = None
    insertion: str | None = field(default=None, compare=False)
    """What an insert did: inserted, or, where the unique key was held by this job, ignored or replaced. Else None."""

    def is_cancelled(self) -> bool:
        """True once a running attempt should stop: cancelled, past its deadline, or no longer ours."""
        return self.state is JobState.CANCELLED

    def set_progress(self, percent: int, message: str | None = None) -> None:
        """Say how far the attempt is, 0 to 100; written as `update_metadata` is, the next attempt finds it in `job.progress`."""
        raise self._not_running()

    def update_metadata(self, changes: Mapping[str, Any]) -> None:
        """Merge `changes` into the job's metadata; written with the next heartbeat, and when the attempt ends.

        What was written stays with the job when its worker dies, and the next attempt finds it in `job.metadata`. What would make it
        larger than 1 MiB of JSON raises ValidationError and changes nothing.
        """
        raise self._not_running()

    def follow_up(self, args: object, **options: Unpack[JobOptions]) -> None:
        """Insert a job if, and in the moment that, this attempt completes the job; options as for `insert`."""
        raise self._not_running()

    async def flush_progress(self) -> None:
        """Write the progress and the changed metadata now: a checkpoint that survives whatever comes."""
        raise self._not_running()

    def flush_progress_sync(self) -> None:
        """The same for a plain handler."""
        raise self._not_running()

    async def register_callback(
        self, *, timeout_seconds: float = TIMEOUT_DEFAULT_S
    ) -> CallbackToken:
        """A token by which somebody outside can answer this attempt, once, until it times out.

        Give it away, then return `awa.WaitForCallback(token)`, or await `wait_for_callback(token)`. Raises Conflict if the attempt is
        not ours any more.
        """
        raise self._not_running()

    def register_callback_sync(
        self, *, timeout_seconds: float = TIMEOUT_DEFAULT_S
    ) -> CallbackToken:
        """The same for a plain handler."""
        raise self._not_running()

    async def wait_for_callback(self, token: str | UUID) -> Any:
        """Wait inside of the handler; answers the payload. The attempt goes on running, and keeps its slot.

        Raises awa.CallbackTimedOut, awa.CallbackFailed (which fails the job for good unless it is caught) and awa.CallbackRetried.
        """
        raise self._not_running()

    def wait_for_callback_sync(self, token: str | UUID) -> Any:
        """The same for a plain handler."""
        raise self._not_running()

    @property
    def callback_result(self) -> Any:
        """The payload that came with the last answer to a callback of this job, or None."""
        answer = self.metadata.get(RESULT_KEY)
        return answer.get("payload") if isinstance(answer, Mapping) else None

    def _not_running(self) -> Conflict:
        return Conflict(
            f"job {self.id} is not an attempt that runs here (it was read as {self.state})",
            hint="only a handler can report on its own job",
        )


JobRow: TypeAlias = Job[Any]

JOB_COLUMNS: Final[tuple[str, ...]] = tuple(one.name for one in fields(Job) if one.compare)


def job_from_row(row: Mapping[str, Any]) -> JobRow:
    """A `Job` from a row of `awa.jobs`; columns that the view has beyond ours are left out."""
    known = {name: row[name] for name in JOB_COLUMNS if name in row}
    known["state"] = JobState(known["state"])
    known["tags"] = tuple(known["tags"])
    known["errors"] = tuple(known["errors"])
    return Job(**known)
