"""Claiming jobs of a queue for a runtime."""

from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from awa.db import run
from awa.db.run import Connection


class ClaimedJob(NamedTuple):
    """A job in a worker's hands; (lane_id, claim_no, lane_seq) names the attempt.

    `args` is JSON text. Times are seconds since 1970; the properties make a datetime only when asked, since a
    worker takes tens of thousands of these a second.
    """

    job_id: int
    lane_id: int
    claim_no: int
    lane_seq: int
    queue: str
    priority: int
    kind: str
    args: str
    attempt: int
    max_attempts: int
    tags: list[str] | None
    metadata: dict[str, Any] | None
    errors: list[dict[str, Any]] | None
    run_at_s: float
    created_at_s: float
    ready_at_s: float
    claimed_at_s: float
    deadline_at_s: float | None

    @property
    def run_at(self) -> datetime:
        """When the job was to run."""
        return datetime.fromtimestamp(self.run_at_s, UTC)

    @property
    def created_at(self) -> datetime:
        """When the job was enqueued."""
        return datetime.fromtimestamp(self.created_at_s, UTC)

    @property
    def ready_at(self) -> datetime:
        """When the job entered its present lane."""
        return datetime.fromtimestamp(self.ready_at_s, UTC)

    @property
    def claimed_at(self) -> datetime:
        """When this attempt began."""
        return datetime.fromtimestamp(self.claimed_at_s, UTC)

    @property
    def deadline_at(self) -> datetime | None:
        """When this attempt has to have ended, if it must."""
        return (
            None if self.deadline_at_s is None else datetime.fromtimestamp(self.deadline_at_s, UTC)
        )


class Held(NamedTuple):
    """A limit of the queue cut the claim: `why` is busy, max_running or rate.

    `again_s` is how long to wait before asking again; None: until an attempt has ended somewhere.
    """

    why: str
    again_s: float | None


class Claimed(NamedTuple):
    """`more`: nothing was served, but asking again at once is worth it."""

    jobs: list[ClaimedJob]
    more: bool
    held: Held | None = None


async def claim(
    conn: Connection, queue: str, limit: int, runtime_id: UUID, deadline_s: float | None = None
) -> Claimed:
    """Claims up to `limit` jobs. Raises `RuntimeGone` if the runtime is not alive."""
    rows = await run.tuples(
        conn,
        "storage/claim",
        {"queue": queue, "max_jobs": limit, "runtime_id": runtime_id, "deadline_s": deadline_s},
        binary=True,
    )
    if not rows or rows[-1][0] is not None:
        return Claimed(list(map(ClaimedJob._make, rows)), more=False)
    told = dict(zip(ClaimedJob._fields, rows[-1], strict=True))
    if told["kind"] is None:
        return Claimed([], more=True)
    until_s = told["run_at_s"]
    held = Held(told["kind"], None if until_s is None else until_s - told["claimed_at_s"])
    return Claimed(list(map(ClaimedJob._make, rows[:-1])), more=False, held=held)
