"""The switch that holds all batch operations: look, hold, release."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request, Response

from awa.api.bodies import Hold
from awa.api.guarded import GuardedRoute
from awa.api.job_bodies import Why
from awa.api.openapi import problems
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading
from awa.http.etag import with_etag
from awa.operations import switch

router = APIRouter(prefix="/api/batch-ops", route_class=GuardedRoute, tags=["batch operations"])

_NO_REASON = Why()


@router.get(
    "/hold",
    summary="Are all held?",
    response_model=Hold,
    responses=problems(401, 403, 422, 503),
)
@needs(Right.READ)
async def get_hold(request: Request) -> Response:
    """Say whether all operations are held, and then by whom, since when and why."""
    async with reading(request) as conn:
        return with_etag(request, await switch.present(conn))


@router.post(
    "/hold",
    summary="Hold all",
    response_model=Hold,
    responses=problems(401, 403, 409, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def hold_operations(
    request: Request, body: Annotated[Why, Body()] = _NO_REASON
) -> dict[str, Any]:
    """Hold all operations after their present chunks: none is begun, none goes on. Jobs are run as ever.

    Operations can still be submitted, paused and cancelled. 409 if they are held already, with who did it.
    """
    async with changing(request) as conn:
        return await switch.hold(conn, actor=actor_of(request).name, reason=body.reason)


@router.post(
    "/release",
    summary="Release all",
    response_model=Hold,
    responses=problems(401, 403, 409, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def release_operations(
    request: Request, body: Annotated[Why, Body()] = _NO_REASON
) -> dict[str, Any]:
    """Let held operations go on; paused ones stay paused. 409 if nobody holds them."""
    async with changing(request) as conn:
        return await switch.release(conn, actor=actor_of(request).name, reason=body.reason)
