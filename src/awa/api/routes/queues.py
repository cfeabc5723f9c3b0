"""Queues: list, show, pause, resume, drain."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response

from awa.api.guarded import GuardedRoute
from awa.api.job_bodies import COUNT, Drained, QueueChange, QueueState, Why, page_of
from awa.api.openapi import example, problems
from awa.api.parameters import Limit, NameCursor, QueueName, Search
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading
from awa.http.draining import drain
from awa.http.etag import with_etag
from awa.model.errors import NotFound
from awa.model.limits import PAGE_DEFAULT_ROWS, check_queue
from awa.model.queue_limits import UNCHANGED, queue_limits
from awa.operations.reading import queues
from awa.storage import queues as storage

router = APIRouter(prefix="/api/queues", route_class=GuardedRoute, tags=["queues"])

_NO_REASON = Why()
_QUEUE: dict[str, Any] = {
    "queue": "email",
    "paused": False,
    "paused_by": None,
    "paused_at": None,
    "description": None,
    "enqueue_shards": 1,
    "max_running": None,
    "rate_limit": 100,
    "rate_period_s": 1.0,
    "depth": {"available": COUNT},
    "by_priority": {"1": COUNT},
    "oldest_available_at": "2026-06-01T09:30:00Z",
    "oldest_available_age_s": 12.5,
    "rate_in_per_s": 120.0,
    "rate_out_per_s": 310.5,
    "started_per_s": 312.0,
    "failed_per_s": 0.5,
    "time_to_drain_s": 244.8,
    "drain_words": "shrinking",
    "workers": 3,
    "slots": 150,
}


@router.get(
    "",
    summary="List",
    response_model=page_of("QueuePage", _QUEUE, "Queues, by name."),
    responses=problems(401, 403, 422, 503),
)
@needs(Right.READ)
async def list_queues(
    request: Request,
    limit: Limit = PAGE_DEFAULT_ROWS,
    cursor: NameCursor = None,
    search: Search = None,
) -> Response:
    """List queues by name, with their depth, their rates and who works on them, one page at a time."""
    async with reading(request) as conn:
        items, next_cursor = await queues.page(conn, limit=limit, cursor=cursor, search=search)
    return with_etag(request, {"items": items, "next_cursor": next_cursor})


@router.get(
    "/{queue:name}",
    summary="Get",
    response_model=dict[str, Any],
    responses=problems(401, 403, 404, 422, 503)
    | example({**_QUEUE, "held_by": "rate", "runtimes": [], "operations": [], "series": []}),
)
@needs(Right.READ)
async def get_queue(request: Request, queue: QueueName) -> Response:
    """Give one queue, with its runtimes, its recent operations and its last hour."""
    async with reading(request) as conn:
        return with_etag(request, await queues.detail(conn, queue))


@router.patch(
    "/{queue:name}",
    summary="Limit",
    response_model=QueueState,
    responses=problems(401, 403, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def change_queue(request: Request, queue: QueueName, body: QueueChange) -> dict[str, Any]:
    """Limit the queue for all workers together; null takes a limit away. What runs goes on."""
    check_queue(queue)
    given = {name: getattr(body, name) for name in body.model_fields_set}
    changes = queue_limits(
        given.get("max_running", UNCHANGED),
        given.get("rate_limit", UNCHANGED),
        given.get("rate_period_s"),
        period_field="rate_period_s",
    )
    async with changing(request) as conn:
        return await storage.set_limits(conn, queue, changes)


@router.post(
    "/{queue:name}/pause",
    summary="Pause",
    response_model=QueueState,
    responses=problems(401, 403, 422, 503),
)
@needs(Right.CHANGE)
async def pause_queue(request: Request, queue: QueueName) -> dict[str, Any]:
    """Let nobody claim from the queue; what runs goes on. Pausing twice keeps who did it first."""
    check_queue(queue)
    async with changing(request) as conn:
        return await storage.pause(conn, queue, actor_of(request).name)


@router.post(
    "/{queue:name}/resume",
    summary="Resume",
    response_model=QueueState,
    responses=problems(401, 403, 404, 422, 503),
)
@needs(Right.CHANGE)
async def resume_queue(request: Request, queue: QueueName) -> dict[str, Any]:
    """Let workers claim from the queue again. 404 for a queue that nobody has paused or configured."""
    check_queue(queue)
    async with changing(request) as conn:
        resumed = await storage.resume(conn, queue)
    if resumed is None:
        raise _unknown(queue)
    return resumed


@router.post(
    "/{queue:name}/drain",
    summary="Drain",
    response_model=Drained,
    responses=problems(401, 403, 404, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def drain_queue(
    request: Request, queue: QueueName, body: Annotated[Why, Body()] = _NO_REASON
) -> dict[str, Any]:
    """Cancel everything that waits in the queue; what runs goes on. Jobs that come meanwhile may be cancelled, too.

    Works for some seconds, a thousand jobs a transaction; if `more` is true, ask again.
    """
    check_queue(queue)
    async with reading(request) as conn:
        if not await storage.exists(conn, queue):
            raise _unknown(queue)
    done = await drain(request, queue, body.reason)
    return {"queue": queue, "drained": done.drained, "more": done.more}


def _unknown(queue: str) -> NotFound:
    return NotFound(f"nothing is known of queue {queue!r}", hint="see: GET /api/queues")
