"""What an operation did to each job: in pages, and as a file."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from awa.api.bodies import shown
from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.api.parameters import Cursor, Limit, OperationId
from awa.http.access import Right, needs
from awa.http.context import reading, served
from awa.http.etag import with_etag
from awa.model.limits import PAGE_DEFAULT_ROWS
from awa.model.states import ItemState
from awa.operations import read, report

router = APIRouter(prefix="/api/batch-ops", route_class=GuardedRoute, tags=["batch operations"])

REASON_CODE_MAX_CHARS = 200

Outcome = Annotated[ItemState | None, Query(description="only items with this outcome")]
Reason = Annotated[
    str | None,
    Query(
        max_length=REASON_CODE_MAX_CHARS, description="only items with this reason, such as claimed"
    ),
]
WithJobs = Annotated[
    bool,
    Query(description="also what has become of each job since; takes twenty times as long"),
]
_ITEM: dict[str, Any] = {
    "operation_id": "0d8f2f8e-4a39-4a7c-9a53-0a4e7b1c9f10",
    "job_id": 41007,
    "state": "skipped",
    "reason": "claimed",
    "error": None,
    "processed_at": "2026-06-01T09:30:05Z",
    "before": None,
}


class ItemPage(BaseModel):
    """Items of an operation, by job id."""

    model_config = shown({"items": [_ITEM], "next_cursor": None})

    items: list[dict[str, Any]] = Field(
        description="operation_id, job_id, state (pending, processed, skipped, errored), reason, error, "
        "processed_at, and before: what was changed, as it was"
    )
    next_cursor: str | None


@router.get(
    "/{id}/items",
    summary="Items",
    response_model=ItemPage,
    responses=problems(401, 403, 404, 422, 503),
)
@needs(Right.READ)
async def list_items(
    request: Request,
    id: OperationId,
    *,
    outcome: Outcome = None,
    reason: Reason = None,
    limit: Limit = PAGE_DEFAULT_ROWS,
    cursor: Cursor = None,
) -> Response:
    """List what became of each job of the operation, by job id, one page at a time."""
    async with reading(request) as conn:
        items, next_cursor = await read.items_page(
            conn, id, outcome=outcome, reason=reason, limit=limit, cursor=cursor
        )
    return with_etag(request, {"items": items, "next_cursor": next_cursor})


_CSV = "job_id,state,reason,error,processed_at,before\r\n41007,skipped,claimed,,2026-06-01T09:30:05Z,\r\n"
_NDJSON = '{"job_id":41007,"state":"skipped","reason":"claimed","error":null}\n'


def _file(media_type: str, example: str) -> dict[int | str, dict[str, Any]]:
    content = {media_type: {"schema": {"type": "string"}, "example": example}}
    return {200: {"content": content, "description": "the report, as it is made"}}


@router.get(
    "/{id}/report.csv",
    summary="Report as CSV",
    response_class=Response,
    responses=problems(401, 403, 404, 422, 503) | _file("text/csv", _CSV),
)
@needs(Right.READ)
async def report_csv(
    request: Request,
    id: OperationId,
    *,
    outcome: Outcome = None,
    reason: Reason = None,
    with_jobs: WithJobs = False,
) -> Response:
    """Download all items, by job id. A cell that a spreadsheet would take for a formula begins with an apostrophe."""
    return await _report(
        request, report.CSV, id, outcome=outcome, reason=reason, with_jobs=with_jobs
    )


@router.get(
    "/{id}/report.ndjson",
    summary="Report as NDJSON",
    response_class=Response,
    responses=problems(401, 403, 404, 422, 503) | _file("application/x-ndjson", _NDJSON),
)
@needs(Right.READ)
async def report_ndjson(
    request: Request,
    id: OperationId,
    *,
    outcome: Outcome = None,
    reason: Reason = None,
    with_jobs: WithJobs = False,
) -> Response:
    """Download all items, by job id, one JSON object a line."""
    return await _report(
        request, report.NDJSON, id, outcome=outcome, reason=reason, with_jobs=with_jobs
    )


async def _report(
    request: Request,
    form: report.Format,
    operation_id: str,
    *,
    outcome: str | None,
    reason: str | None,
    with_jobs: bool,
) -> Response:
    async def page(after: int) -> list[read.Row]:
        async with served(request).reading() as conn:
            return await report.page(
                conn,
                operation_id,
                outcome=outcome,
                reason=reason,
                with_jobs=with_jobs,
                after=after,
            )

    # Before the answer begins, so that an unknown operation is told as everywhere else.
    first = await page(0)
    name = f"awa-operation-{operation_id}.{form.suffix}"
    return StreamingResponse(
        _body(form, report.columns(with_jobs=with_jobs), first, page),
        media_type=form.media_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


async def _body(
    form: report.Format,
    names: Sequence[str],
    rows: list[read.Row],
    page: Callable[[int], Awaitable[list[read.Row]]],
) -> AsyncIterator[bytes]:
    """The report a page at a time. No connection is held while the reader takes its time."""
    yield form.head(names)
    while rows:
        yield form.rows(rows, names)
        full = len(rows) == report.PAGE_ROWS
        rows = await page(rows[-1]["job_id"]) if full else []
