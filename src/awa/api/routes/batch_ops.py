"""Batch operations: preview, submit, list, get, cancel. The page's story is ADR-030's.

Nothing is decided here: the operations room checks filter and spec, knows the states, and writes the audit
trail. A route turns a request into its arguments and says who asks.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from awa.api.bodies import (
    Operation,
    OperationPage,
    Preview,
    PreviewRequest,
    SubmitRequest,
    Transition,
)
from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading, served
from awa.model.limits import PAGE_DEFAULT_ROWS, PAGE_MAX_ROWS
from awa.model.states import OperationState
from awa.operations import control, read
from awa.operations.preview import preview
from awa.operations.submit import submit

router = APIRouter(prefix="/api/batch-ops", route_class=GuardedRoute, tags=["batch operations"])

CURSOR_MAX_CHARS = 200

# Text that is no UUID names no operation, so it is not found like any other id that nobody has.
OperationId = Annotated[
    str,
    Path(examples=["0d8f2f8e-4a39-4a7c-9a53-0a4e7b1c9f10"], json_schema_extra={"format": "uuid"}),
]


@router.post(
    "/preview",
    summary="Which jobs would change?",
    response_model=Preview,
    responses=problems(401, 403, 413, 415, 422, 503),
)
@needs(Right.PREVIEW)
async def preview_operation(request: Request, body: PreviewRequest) -> dict[str, Any]:
    """Count and sample the jobs that the operation would change now. Changes nothing."""
    async with reading(request) as conn:
        return await preview(conn, body.op_kind, body.filter, body.spec)


@router.post(
    "",
    summary="Submit",
    status_code=201,
    response_model=Operation,
    responses=problems(401, 403, 409, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def submit_operation(request: Request, body: SubmitRequest) -> dict[str, Any]:
    """Write the operation down; the maintenance leader carries it out. Answers with the whole operation.

    Who submitted it is the caller, as its token says. An empty filter needs `"all": true`.
    """
    async with changing(request) as conn:
        return await submit(
            conn,
            body.op_kind,
            body.filter,
            body.spec,
            actor=actor_of(request).name,
            allow_all=body.allow_all,
            reason=body.reason,
            idempotency_key=body.idempotency_key,
        )


@router.get(
    "", summary="List", response_model=OperationPage, responses=problems(401, 403, 422, 503)
)
@needs(Right.READ)
async def list_operations(
    request: Request,
    state: Annotated[OperationState | None, Query(description="only those in this state")] = None,
    limit: Annotated[int, Query(ge=1, le=PAGE_MAX_ROWS)] = PAGE_DEFAULT_ROWS,
    cursor: Annotated[
        str | None,
        Query(max_length=CURSOR_MAX_CHARS, description="`next_cursor` of the page before"),
    ] = None,
) -> dict[str, Any]:
    """List operations, newest first, one page at a time."""
    async with reading(request) as conn:
        items, next_cursor = await read.operations_page(
            conn, state=state, limit=limit, cursor=cursor
        )
    return {"items": items, "next_cursor": next_cursor}


@router.get(
    "/{id}", summary="Get", response_model=Operation, responses=problems(401, 403, 404, 422, 503)
)
@needs(Right.READ)
async def get_operation(request: Request, id: OperationId) -> dict[str, Any]:
    """Give one operation: state, counts, totals by reason, what happened to it."""
    async with reading(request) as conn:
        return await read.get(conn, id)


@router.patch(
    "/{id}",
    summary="Cancel",
    response_model=Operation,
    responses=problems(401, 403, 404, 409, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def change_operation(request: Request, id: OperationId, body: Transition) -> dict[str, Any]:
    """Ask for the operation's cancellation; jobs that it has changed stay changed.

    One that has not begun is cancelled at once. 409 with the present state if it has ended.
    """
    async with changing(request) as conn:
        return await control.cancel(
            conn,
            id,
            actor=actor_of(request).name,
            reason=body.reason,
            retention_days=served(request).settings.batch_op_retention_days,
        )
