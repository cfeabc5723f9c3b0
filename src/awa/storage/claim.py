"""Claiming jobs of a queue for a runtime."""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from awa.db import run
from awa.db.run import Connection


class ClaimedJob(NamedTuple):
    """A job in a worker's hands; (lane_id, claim_no, lane_seq) names the attempt. `args` is JSON text."""

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
    run_at: datetime
    created_at: datetime
    ready_at: datetime
    claimed_at: datetime
    deadline_at: datetime | None


class Claimed(NamedTuple):
    """`more`: nothing was served, but asking again at once is worth it."""

    jobs: list[ClaimedJob]
    more: bool


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
    if len(rows) == 1 and rows[0][0] is None:
        return Claimed([], more=True)
    return Claimed([ClaimedJob._make(row) for row in rows], more=False)
