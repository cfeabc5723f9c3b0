"""Is the process alive, and can it serve? Both are asked by machines and need no token."""

from typing import Any

from fastapi import APIRouter, Request

from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.db.migrate import check_schema
from awa.http.access import Right, needs
from awa.http.context import reading

router = APIRouter(route_class=GuardedRoute, tags=["health"])


@router.get("/healthz", summary="Alive")
@needs(Right.OPEN)
async def healthz() -> dict[str, str]:
    """Say that the process answers, whatever the database does."""
    return {"status": "ok"}


@router.get("/readyz", summary="Ready", responses=problems(503))
@needs(Right.OPEN)
async def readyz(request: Request) -> dict[str, Any]:
    """Say that the database answers and has the schema that this program wants; 503 if not."""
    async with reading(request) as conn:
        await check_schema(conn)
    return {"status": "ready", "checks": {"database": "ok", "schema": "ok"}}
