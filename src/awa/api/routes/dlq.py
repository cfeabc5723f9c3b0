"""Dead letters: list, depth, retry, purge."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Body, Query, Request, Response
from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr

from awa.api.bodies import shown
from awa.api.guarded import GuardedRoute
from awa.api.job_bodies import JOB, page_of
from awa.api.openapi import example, problems
from awa.api.parameters import Cursor, JobId, Limit, QueueName, job_number
from awa.http.access import Right, needs
from awa.http.context import changing, reading, served
from awa.http.etag import with_etag
from awa.model.errors import NotConfirmed
from awa.model.filter import Moment
from awa.model.limits import PAGE_DEFAULT_ROWS
from awa.model.masking import Mask
from awa.operations import dead_letters
from awa.storage import dead_letters as storage
from awa.storage.dead_letters import Which

router = APIRouter(prefix="/api/dlq", route_class=GuardedRoute, tags=["dead letters"])

WORK_MAX_S = 10.0
_LETTER: dict[str, Any] = {
    **JOB,
    "state": "failed",
    "dlq_at": "2026-06-01T09:30:00Z",
    "reason": "terminal_error",
    "fingerprint": "173cd4f4f7a2",
    "error": "mailbox is full",
}
Text = Annotated[str | None, Query(max_length=200)]
Before = Annotated[Moment | None, Query(description="dead since before; with a UTC offset")]


class Destination(BaseModel):
    """Where a dead letter goes; what is left out stays as it was."""

    model_config = shown({"queue": "quarantine", "priority": 4})

    queue: StrictStr | None = None
    priority: StrictInt | None = Field(default=None, description="1 (first) to 4")
    run_at: Moment | None = Field(default=None, description="not before; with a UTC offset")


class Choice(BaseModel):
    """Which dead letters; all that is given must hold. None of it needs `all`."""

    model_config = shown({"kind": "send_email", "fingerprint": "173cd4f4f7a2"})

    queue: StrictStr | None = None
    kind: StrictStr | None = None
    fingerprint: StrictStr | None = None
    reason: StrictStr | None = None
    before: Moment | None = None
    all: StrictBool = Field(default=False, description="yes, every dead letter")


class RetryChoice(Choice):
    """Which dead letters, and where they go."""

    model_config = shown({"fingerprint": "173cd4f4f7a2", "to_queue": "quarantine"})

    to_queue: StrictStr | None = None
    to_priority: StrictInt | None = None
    run_at: Moment | None = None


_ANYWHERE = Destination()
_DONE = example({"jobs": 47, "more": False})
_RETRIED = example({"jobs": 46, "more": False, "kept": 1})


@router.get(
    "",
    summary="List",
    response_model=page_of("DeadLetterPage", _LETTER, "Dead letters, newest first."),
    responses=problems(401, 403, 422, 503),
)
@needs(Right.READ)
async def list_letters(  # noqa: PLR0917 -- each is a query parameter
    request: Request,
    queue: Text = None,
    kind: Text = None,
    fingerprint: Text = None,
    reason: Text = None,
    before: Before = None,
    limit: Limit = PAGE_DEFAULT_ROWS,
    cursor: Cursor = None,
) -> Response:
    """List dead letters with their jobs, newest first, one page at a time."""
    chosen = dead_letters.which(
        queue=queue, kind=kind, fingerprint=fingerprint, reason=reason, before=before
    )
    async with reading(request) as conn:
        rows, next_cursor = await dead_letters.page(conn, chosen, limit=limit, cursor=cursor)
    mask = Mask.of(served(request).settings.masked_keys)
    return with_etag(
        request, {"items": [mask.row(row)[0] for row in rows], "next_cursor": next_cursor}
    )


@router.get(
    "/depth",
    summary="Depth",
    response_model=dict[str, Any],
    responses=problems(401, 403, 422, 503)
    | example(
        {
            "queues": [{"queue": "email", "depth": 47, "enabled": True}],
            "causes": [{"kind": "send_email", "fingerprint": "173cd4f4f7a2", "depth": 47}],
        }
    ),
)
@needs(Right.READ)
async def depth(request: Request, queue: Text = None) -> Response:
    """Say how many there are, by queue and by kind and cause (the 200 most frequent)."""
    async with reading(request) as conn:
        queues = [row for row in await storage.depth(conn) if queue in (None, row["queue"])]
        causes = await storage.groups(conn, queue=queue)
    return with_etag(request, {"queues": queues, "causes": causes})


@router.put(
    "/queues/{queue:name}",
    summary="Switch on",
    response_model=dict[str, Any],
    responses=problems(401, 403, 422, 503) | example({"queue": "email", "dlq_enabled": True}),
)
@needs(Right.CHANGE)
async def keep(request: Request, queue: QueueName) -> dict[str, Any]:
    """Keep jobs of the queue that fail from now on as dead letters."""
    async with changing(request) as conn:
        return await dead_letters.enable(conn, queue, True)


@router.delete(
    "/queues/{queue:name}",
    summary="Switch off",
    response_model=dict[str, Any],
    responses=problems(401, 403, 422, 503) | example({"queue": "email", "dlq_enabled": False}),
)
@needs(Right.CHANGE)
async def keep_no_more(request: Request, queue: QueueName) -> dict[str, Any]:
    """Let jobs of the queue that fail from now on be plain failed jobs; those that are dead letters stay."""
    async with changing(request) as conn:
        return await dead_letters.enable(conn, queue, False)


@router.post(
    "/retry",
    summary="Retry all that match",
    response_model=dict[str, Any],
    responses=problems(401, 403, 413, 415, 422, 503) | _RETRIED,
)
@needs(Right.CHANGE)
async def retry_all(request: Request, body: RetryChoice) -> dict[str, Any]:
    """Give all that match their attempts again, a thousand a transaction. If `more` is true, ask again.

    `kept` counts those that stay dead letters because another job has their unique key.
    """
    chosen = _chosen(body, "retry")
    kept: list[int] = []

    async def chunk(above: int) -> tuple[int, int | None]:
        async with changing(request) as conn:
            return await dead_letters.retry_chunk(
                conn,
                chosen,
                above=above,
                queue=body.to_queue,
                priority=body.to_priority,
                run_at=body.run_at,
                kept=kept,
            )

    return {**await _work(chunk), "kept": len(kept)}


@router.post(
    "/purge",
    summary="Purge all that match",
    response_model=dict[str, Any],
    responses=problems(401, 403, 413, 415, 422, 503) | _DONE,
)
@needs(Right.ADMIN)
async def purge_all(request: Request, body: Choice) -> dict[str, Any]:
    """Delete all that match for good, a thousand a transaction. If `more` is true, ask again."""
    chosen = _chosen(body, "purge")

    async def chunk(above: int) -> tuple[int, int | None]:
        async with changing(request) as conn:
            return await dead_letters.purge_chunk(conn, chosen, above=above)

    return await _work(chunk)


@router.post(
    "/{id}/retry",
    summary="Retry",
    response_model=dict[str, Any],
    responses=problems(401, 403, 404, 409, 413, 415, 422, 503)
    | example({"id": 41007, "state": "available", "queue": "email"}),
)
@needs(Right.CHANGE)
async def retry(
    request: Request, id: JobId, body: Annotated[Destination, Body()] = _ANYWHERE
) -> dict[str, Any]:
    """Give one dead letter all its attempts again. 409 if the job is none, or another one has its unique key."""
    async with changing(request) as conn:
        job = await dead_letters.retry_one(
            conn, job_number(id), queue=body.queue, priority=body.priority, run_at=body.run_at
        )
    return {"id": job.id, "state": job.state, "queue": job.queue}


def _chosen(body: Choice, deed: str) -> Which:
    chosen = dead_letters.which(
        queue=body.queue,
        kind=body.kind,
        fingerprint=body.fingerprint,
        reason=body.reason,
        before=body.before,
    )
    if chosen == Which() and not body.all:
        raise NotConfirmed(f"this would {deed} every dead letter", hint='send "all": true')
    return chosen


async def _work(chunk: dead_letters.Chunk) -> dict[str, Any]:
    """Chunk by chunk for some seconds; answers how many, and whether there is more."""
    until_s = time.monotonic() + WORK_MAX_S
    jobs, more = await dead_letters.chunk_by_chunk(
        chunk, goes_on=lambda _done: time.monotonic() <= until_s
    )
    return {"jobs": jobs, "more": more}
