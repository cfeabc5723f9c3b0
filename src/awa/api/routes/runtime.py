"""Runtimes: who is there, who leads."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field

from awa.api.bodies import shown
from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.api.parameters import Cursor, Limit
from awa.http.access import Right, needs
from awa.http.context import reading, served
from awa.http.etag import with_etag
from awa.model.limits import PAGE_DEFAULT_ROWS
from awa.operations.reading import runtimes

router = APIRouter(prefix="/api/runtime", route_class=GuardedRoute, tags=["runtimes"])

_ID = "6a1c7f5e-7a0e-4a35-8ad0-1c0b7a1f3f2b"
_RUNTIME: dict[str, Any] = {
    "id": _ID,
    "state": "alive",
    "host": "worker-3",
    "pid": 812,
    "version": "0.1.0",
    "roles": ["maintenance", "worker"],
    "queues": {"email": 50},
    "started_at": "2026-06-01T08:00:00Z",
    "heartbeat_at": "2026-06-01T09:30:00Z",
    "heartbeat_age_s": 1.2,
    "ended_at": None,
    "is_leader": True,
    "stale": False,
    "holds": 50,
    "holds_exact": True,
}
_LEADER: dict[str, Any] = {
    "id": _ID,
    "host": "worker-3",
    "pid": 812,
    "acquired_at": "2026-06-01T08:00:00Z",
    "fence": 7,
    "lease_left_s": 11.3,
}


class RuntimePage(BaseModel):
    """Runtimes, newest first, and who keeps house."""

    model_config = shown({"items": [_RUNTIME], "next_cursor": None, "leader": _LEADER})

    items: list[dict[str, Any]]
    next_cursor: str | None
    leader: dict[str, Any] | None = Field(description="null: nobody keeps house")


@router.get(
    "",
    summary="List",
    response_model=RuntimePage,
    responses=problems(401, 403, 422, 503),
)
@needs(Right.READ)
async def list_runtimes(
    request: Request,
    *,
    include_ended: Annotated[bool, Query(description="also those that stopped or died")] = False,
    limit: Limit = PAGE_DEFAULT_ROWS,
    cursor: Cursor = None,
) -> Response:
    """List the programs that run jobs or keep house, newest first, one page at a time."""
    stale_after_s = served(request).settings.runtime_stale_s / 2
    async with reading(request) as conn:
        items, next_cursor = await runtimes.page(
            conn,
            limit=limit,
            cursor=cursor,
            include_ended=include_ended,
            stale_after_s=stale_after_s,
        )
        leader = await runtimes.leader(conn)
    return with_etag(request, {"items": items, "next_cursor": next_cursor, "leader": leader})
