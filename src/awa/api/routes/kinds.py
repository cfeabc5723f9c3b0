"""Kinds of jobs."""

from typing import Any

from fastapi import APIRouter, Request, Response

from awa.api.guarded import GuardedRoute
from awa.api.job_bodies import COUNT, page_of
from awa.api.openapi import problems
from awa.api.parameters import Limit, NameCursor, Search
from awa.http.access import Right, needs
from awa.http.context import reading
from awa.http.etag import with_etag
from awa.model.limits import PAGE_DEFAULT_ROWS
from awa.operations.reading import kinds

router = APIRouter(prefix="/api/kinds", route_class=GuardedRoute, tags=["kinds"])

_KIND: dict[str, Any] = {
    "kind": "send_email",
    "counts": {"available": COUNT},
    "queues": ["email"],
    "ended_last_hour": 120000,
    "failed_last_hour": 240,
    "failure_share": 0.002,
    "pickup_p50_ms": 4.2,
    "pickup_p95_ms": 11.0,
    "run_p50_ms": 35.0,
    "run_p95_ms": 210.0,
}


@router.get(
    "",
    summary="List",
    response_model=page_of("KindPage", _KIND, "Kinds, by name."),
    responses=problems(401, 403, 422, 503),
)
@needs(Right.READ)
async def list_kinds(
    request: Request,
    limit: Limit = PAGE_DEFAULT_ROWS,
    cursor: NameCursor = None,
    search: Search = None,
) -> Response:
    """List kinds by name, with their jobs by state, how often they fail and how long they take, one page at a time."""
    async with reading(request) as conn:
        items, next_cursor = await kinds.page(conn, limit=limit, cursor=cursor, search=search)
    return with_etag(request, {"items": items, "next_cursor": next_cursor})
