"""Undo of an operation: look, and submit."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Request

from awa.api.bodies import Operation, Preview, UndoRequest
from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.api.parameters import OperationId
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading, served
from awa.operations.undo import preview_undo, undo

router = APIRouter(prefix="/api/batch-ops", route_class=GuardedRoute, tags=["batch operations"])

_AS_IT_IS = UndoRequest()


@router.post(
    "/{id}/undo/preview",
    summary="Which jobs would an undo put back?",
    response_model=Preview,
    responses=problems(401, 403, 404, 409, 413, 422, 503),
)
@needs(Right.PREVIEW)
async def preview_of_undo(request: Request, id: OperationId) -> dict[str, Any]:
    """Count and sample the jobs that are as the operation left them; `ineligible` says why the others aren't.

    Changes nothing. 409 with the present state if the operation can't be undone.
    """
    async with reading(request) as conn:
        return await preview_undo(conn, id, plan_limits=served(request).settings.plan_limits)


@router.post(
    "/{id}/undo",
    summary="Undo",
    status_code=201,
    response_model=Operation,
    responses=problems(401, 403, 404, 409, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def undo_operation(
    request: Request, id: OperationId, body: Annotated[UndoRequest, Body()] = _AS_IT_IS
) -> dict[str, Any]:
    """Submit the undo of an operation that has ended. Answers with the whole new operation; its `undo_of` is this one.

    Jobs get back what the operation changed, if they are as it left them. 409 with the present state if it is active, changed
    nothing, is being undone or has been undone, or if what an undo needs is gone; with a `plan_token` also if the jobs drifted.
    """
    async with changing(request) as conn:
        return await undo(
            conn,
            id,
            actor=actor_of(request).name,
            plan_limits=served(request).settings.plan_limits,
            **body.model_dump(),
        )
