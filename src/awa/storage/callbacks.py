"""Callbacks: registered by attempts, answered from outside once, timed out by the leader.

What came of an answer is said in one word, `Resolved.outcome`:

    applied    the job waited for it and has gone on
    recorded   the attempt still runs; it finds the answer when it comes to wait
    extended   a heartbeat: the time-out is later now
    resolved   somebody answered before, or its time was over
    over       the job does not wait for it any more: it was cancelled, or the attempt ended in another way
    late       its time is over, even if the leader has not seen to it yet
    early      a time-out before its time
    not_found  there is no such callback
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple, TypeAlias
from uuid import UUID

import orjson

from awa.db import run
from awa.db.run import Connection, Row
from awa.storage.documents import documents
from awa.storage.new_job import NewJob, text

MAX_CALLBACKS = 1_000
LIST_MAX_ROWS = 50

Resolution: TypeAlias = Literal["complete", "fail", "retry", "resume", "heartbeat", "time_out"]


FollowUp: TypeAlias = tuple[str, NewJob]  # a queue and a job for it


class Registered(NamedTuple):
    """A callback that waits for its answer."""

    callback_id: UUID
    registered_at: datetime
    expires_at: datetime


class Resolved(NamedTuple):
    """What came of an answer; the other fields say how the callback and its job stand now."""

    outcome: str
    job_id: int | None
    job_state: str | None
    resolution: str | None
    resolved_at: datetime | None
    resolved_by: str | None
    expires_at: datetime | None


async def register(
    conn: Connection,
    runtime_id: UUID,
    attempt: tuple[int, int, int],
    timeout_s: float,
) -> Registered | None:
    """Registers a callback for the attempt (lane_id, claim_no, lane_seq); None if it isn't this runtime's any more."""
    lane_id, claim_no, lane_seq = attempt
    found = await run.row(
        conn,
        "storage/register_callback",
        {
            "runtime_id": runtime_id,
            "lane_id": lane_id,
            "claim_no": claim_no,
            "lane_seq": lane_seq,
            "timeout_s": timeout_s,
        },
    )
    return None if found is None else Registered(**found)


async def resolve(
    conn: Connection,
    callback_id: UUID,
    resolution: Resolution,
    *,
    payload: Any = None,
    error: Mapping[str, Any] | None = None,
    by: str | None = None,
    timeout_s: float | None = None,
) -> Resolved:
    """Answers a callback."""
    found = await run.row(
        conn,
        "storage/resolve_callback",
        {
            "callback_id": callback_id,
            "resolution": resolution,
            "payload": None if payload is None else orjson.dumps(payload).decode(),
            "error": None if error is None else orjson.dumps(dict(error)).decode(),
            "by": by,
            "timeout_s": timeout_s,
        },
    )
    assert found is not None
    return Resolved(**found)


async def time_out(
    conn: Connection, *, max_callbacks: int = MAX_CALLBACKS, now: datetime | None = None
) -> int:
    """Ends the wait of callbacks whose time is over; answers how many."""
    params = {"max_callbacks": max_callbacks, "now": now}
    return int(await run.value(conn, "storage/time_out_callbacks", params))


async def answer(conn: Connection, callback_id: UUID) -> Row | None:
    """resolution (None: no answer yet), payload, error, left_s until the time-out; None for an unknown callback."""
    return await run.row(conn, "storage/callback_answer", {"callback_id": callback_id})


async def keep_follow_ups(
    conn: Connection, kept: Mapping[UUID, tuple[Sequence[FollowUp], Sequence[FollowUp]]]
) -> None:
    """Keeps with each callback what follows if its job is completed, and what if it fails for good."""
    await run.count(
        conn,
        "storage/keep_follow_ups",
        {
            "callback_ids": list(kept),
            "if_completed": documents([_as_document(completed) for completed, _ in kept.values()]),
            "if_failed": documents([_as_document(failed) for _, failed in kept.values()]),
        },
    )


async def use(conn: Connection, callback_id: UUID) -> None:
    """Notes that a handler has taken the answer."""
    await run.count(conn, "storage/use_callback", {"callback_id": callback_id})


async def get(conn: Connection, callback_id: UUID) -> Row | None:
    """A callback and the state of its job, or None."""
    return await run.row(conn, "storage/get_callback", {"callback_id": callback_id})


async def of_job(conn: Connection, job_id: int) -> list[Row]:
    """The callbacks of a job, newest first, at most 50."""
    params = {"job_id": job_id, "max_rows": LIST_MAX_ROWS}
    return await run.rows(conn, "storage/callbacks_of_job", params)


async def retain(
    conn: Connection, *, keep_s: float, max_rows: int = MAX_CALLBACKS, now: datetime | None = None
) -> int:
    """Deletes up to `max_rows` callbacks that were answered long enough ago; answers how many."""
    params = {"keep_s": keep_s, "max_rows": max_rows, "now": now}
    return await run.count(conn, "storage/retain_callbacks", params)


def _as_document(follow_ups: Sequence[FollowUp]) -> list[dict[str, Any]]:
    """As awa.insert_kept_follow_ups reads them. The arguments stay a text, so that they come out as they went in."""
    return [
        {
            "queue": queue,
            "kind": job.kind,
            "args": text(job.args_json),
            "priority": job.priority,
            "run_at": None if job.run_at is None else job.run_at.isoformat(),
            "max_attempts": job.max_attempts,
            "tags": list(job.tags) if job.tags else None,
            "metadata": job.metadata or None,
            "ordering_key": job.ordering_key,
            "concurrency_key": job.concurrency_key,
            "concurrency_limit": job.concurrency_limit,
        }
        for queue, job in follow_ups
    ]
