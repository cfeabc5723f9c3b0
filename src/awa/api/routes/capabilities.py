"""What the caller may do here, so that a console can show only that."""

from typing import Any

from fastapi import APIRouter, Request

from awa.api.guarded import GuardedRoute
from awa.api.openapi import example, problems
from awa.http.access import Right, needs
from awa.http.context import actor_of, served
from awa.http.version import VERSION
from awa.operations import kinds

router = APIRouter(prefix="/api", route_class=GuardedRoute, tags=["server"])

_EXAMPLE = {
    "version": VERSION,
    "actor": "deploy",
    "role": "operator",
    "read_only": False,
    "op_kinds": ["move_queue", "set_priority"],
}


@router.get(
    "/capabilities",
    summary="What the caller may do",
    responses=problems(401, 403, 422, 503) | example(_EXAMPLE),
)
@needs(Right.READ)
async def capabilities(request: Request) -> dict[str, Any]:
    """Say who the caller is, what it may do, and which operation kinds there are."""
    actor = actor_of(request)
    return {
        "version": VERSION,
        "actor": actor.name,
        "role": actor.role.name.lower(),
        "read_only": served(request).access.is_read_only(request),
        "op_kinds": sorted(kinds.names()),
    }
