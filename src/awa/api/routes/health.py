"""Is the process alive, and can it serve? Both are asked by machines and need no token.

Ready means that this server can answer. Without a leader it can: it says so, and operations wait until there is one.
"""

from typing import Any

from fastapi import APIRouter, Request

from awa.api.guarded import GuardedRoute
from awa.api.openapi import example, problems
from awa.db.migrate import check_schema
from awa.http.access import Right, needs
from awa.http.context import reading
from awa.operations.reading import runtimes
from awa.sql import catalog

router = APIRouter(route_class=GuardedRoute, tags=["health"])
alive = APIRouter(route_class=GuardedRoute, tags=["health"])

_READY = {
    "status": "ready",
    "checks": {"database": "ok", "schema": "ok", "leader": "ok"},
    "schema_version": "0002_batch_operations",
}


@alive.get("/healthz", summary="Alive", responses=problems(422) | example({"status": "ok"}))
@alive.head("/healthz", include_in_schema=False)
@needs(Right.OPEN)
async def healthz() -> dict[str, str]:
    """Say that the process answers, whatever the database does."""
    return {"status": "ok"}


@router.get("/readyz", summary="Ready", responses=problems(422, 503) | example(_READY))
@router.head("/readyz", include_in_schema=False)
@needs(Right.OPEN)
async def readyz(request: Request) -> dict[str, Any]:
    """Say that the database answers and has the schema that this program wants (503 if not), and if somebody leads."""
    async with reading(request) as conn:
        await check_schema(conn)
        leader = await runtimes.leader(conn)
    checks = {"database": "ok", "schema": "ok", "leader": "ok" if leader else "none"}
    return {"status": "ready", "checks": checks, "schema_version": catalog.migrations()[-1][0]}
