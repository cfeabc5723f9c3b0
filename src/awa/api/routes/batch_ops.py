"""Batch operations: preview, submit, list, get, change, purge. The page's story is ADR-030's.

Nothing is decided here: the operations room checks filter and spec, knows the states, and writes the audit
trail. A route turns a request into its arguments and says who asks.
"""

import logging
import time
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import AwareDatetime

from awa.api.bodies import (
    Operation,
    OperationChange,
    OperationPage,
    Preview,
    PreviewRequest,
    Purged,
    SubmitRequest,
)
from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.api.parameters import Cursor, Limit, OperationId
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading, served
from awa.http.etag import with_etag
from awa.model.errors import invalid_field
from awa.model.limits import PAGE_DEFAULT_ROWS
from awa.model.states import OperationState
from awa.model.steering import operation_changes
from awa.operations import control, read, retention
from awa.operations.preview import preview
from awa.operations.submit import submit

router = APIRouter(prefix="/api/batch-ops", route_class=GuardedRoute, tags=["batch operations"])

log = logging.getLogger("awa.api")

PURGE_MAX_S = 5.0


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
        return await preview(
            conn,
            body.op_kind,
            body.filter,
            body.spec,
            plan_limits=served(request).settings.plan_limits,
        )


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

    Who submitted it is the caller, as its token says. An empty filter needs `"all": true`. With the `plan_token` of a
    preview it is 409 with the difference if the jobs are no longer those that were counted then.
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
            priority=body.priority,
            max_rows_per_second=body.max_rows_per_second,
            not_before=body.not_before,
            max_jobs=body.max_jobs,
            plan_token=body.plan_token,
            plan_limits=served(request).settings.plan_limits,
        )


@router.get(
    "", summary="List", response_model=OperationPage, responses=problems(401, 403, 422, 503)
)
@needs(Right.READ)
async def list_operations(
    request: Request,
    state: Annotated[OperationState | None, Query(description="only those in this state")] = None,
    limit: Limit = PAGE_DEFAULT_ROWS,
    cursor: Cursor = None,
) -> Response:
    """List operations, newest first, one page at a time."""
    async with reading(request) as conn:
        items, next_cursor = await read.operations_page(
            conn, state=state, limit=limit, cursor=cursor
        )
    return with_etag(request, {"items": items, "next_cursor": next_cursor})


@router.get(
    "/{id}", summary="Get", response_model=Operation, responses=problems(401, 403, 404, 422, 503)
)
@needs(Right.READ)
async def get_operation(request: Request, id: OperationId) -> Response:
    """Give one operation: state, counts, totals by reason. Has an entity tag, so asking again is cheap."""
    async with reading(request) as conn:
        operation = await read.get(conn, id)
    return with_etag(request, operation)


@router.patch(
    "/{id}",
    summary="Pause, resume, change the pace, cancel",
    response_model=Operation,
    responses=problems(401, 403, 404, 409, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def change_operation(
    request: Request, id: OperationId, body: OperationChange
) -> dict[str, Any]:
    """Pause, resume or cancel the operation, change its rate or priority, or both in one. 409 with the present state.

    A pause and a cancellation come after the present chunk; jobs that were changed stay changed. One that is paused or
    has not begun is cancelled at once. A resumed one has the state again in which it was paused.
    """
    changes = _pace(body)
    who: dict[str, Any] = {"actor": actor_of(request).name, "reason": body.reason}
    async with changing(request) as conn:
        if changes:
            await control.change(conn, id, changes, **who)
        match body.state:
            case "paused":
                return await control.pause(conn, id, **who)
            case "running":
                return await control.resume(conn, id, **who)
            case "cancelling":
                days = served(request).settings.batch_op_retention_days
                return await control.cancel(conn, id, **who, retention_days=days)
            case None:
                return await read.get(conn, id)


def _pace(body: OperationChange) -> dict[str, Any]:
    """What is to change besides the state. Raises `ValidationError` if there is neither, or no sense in both."""
    given = body.model_fields_set & {"max_rows_per_second"}
    given |= {"priority"} if body.priority is not None else set()
    if not given and body.state is None:
        raise invalid_field(
            "state", "is required where neither max_rows_per_second nor priority is"
        )
    if given and body.state == "cancelling":
        raise invalid_field(min(given), "does not go with a cancellation")
    return operation_changes(**{name: getattr(body, name) for name in given}) if given else {}


@router.delete(
    "",
    summary="Purge",
    response_model=Purged,
    responses=problems(401, 403, 422, 503),
)
@needs(Right.ADMIN)
async def purge_operations(
    request: Request,
    before: Annotated[
        AwareDatetime,
        Query(
            description="with a UTC offset, not in the future",
            examples=["2026-01-01T00:00:00Z"],
        ),
    ],
) -> dict[str, Any]:
    """Delete operations that ended before a time, items and all, whatever their retention; never active ones.

    Works for some seconds, a chunk a transaction; if `more` is true, ask again.
    """
    until = time.monotonic() + PURGE_MAX_S
    operations = items = 0
    while True:
        async with changing(request) as conn:
            done = await retention.purge_chunk(conn, before)
        operations, items = operations + done.operations, items + done.items
        if not done.more or time.monotonic() >= until:
            break
    log.info(
        "%s purged %s operations that ended before %s", actor_of(request).name, operations, before
    )
    return {"operations": operations, "items": items, "more": done.more}
