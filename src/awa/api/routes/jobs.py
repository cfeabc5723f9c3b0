"""Jobs: list, count, show, enqueue, cancel, retry, reprioritise, move."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Request, Response

from awa.api.guarded import GuardedRoute
from awa.api.job_bodies import (
    COUNT,
    Counted,
    Enqueue,
    EnqueuedJobs,
    JobChange,
    JobDetail,
    JobPage,
    ShownJob,
    Why,
)
from awa.api.job_filter import Attempt, FilterJson, Priority, SearchLine, Text, from_query
from awa.api.openapi import problems
from awa.api.parameters import Cursor, JobId, Limit, job_number
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading, served, with_actor
from awa.http.etag import with_etag
from awa.http.json import to_json
from awa.http.tokens import Role
from awa.model.errors import Forbidden, invalid_field
from awa.model.job import Job
from awa.model.limits import PAGE_DEFAULT_ROWS
from awa.model.masking import Mask
from awa.operations import enqueueing, single
from awa.operations.reading import jobs
from awa.operations.reading.bounds import clock

router = APIRouter(prefix="/api/jobs", route_class=GuardedRoute, tags=["jobs"])

_NO_REASON = Why()


def _filter_fields(
    *,
    kind: Text = None,
    kind_prefix: Text = None,
    queue: Text = None,
    tag: Text = None,
    state: Text = None,
    priority: Priority = None,
    created_at_gte: Text = None,
    created_at_lt: Text = None,
    run_at_gte: Text = None,
    run_at_lt: Text = None,
    finalized_at_gte: Text = None,
    finalized_at_lt: Text = None,
    attempt_gte: Attempt = None,
    attempt_lt: Attempt = None,
    error_contains: Text = None,
    filter_json: FilterJson = None,
    q: SearchLine = None,
) -> None:
    """The parameters that make a filter; job_filter reads them from the request itself."""


@router.get(
    "",
    summary="List",
    response_model=JobPage,
    responses=problems(401, 403, 422, 503),
    dependencies=[Depends(_filter_fields)],
)
@needs(Right.READ)
async def list_jobs(
    request: Request, limit: Limit = PAGE_DEFAULT_ROWS, cursor: Cursor = None
) -> Response:
    """List jobs, newest first, their secrets hidden, one page at a time.

    A page may be short, or empty, and still have a `next_cursor`: it stops looking after some tenths of a second.
    """
    async with reading(request) as conn:
        wanted = from_query(request, await clock(conn))
        items, next_cursor = await jobs.page(
            conn, wanted, limit=limit, cursor=cursor, mask=_mask(request)
        )
    return with_etag(request, {"items": items, "next_cursor": next_cursor})


@router.get(
    "/counts",
    summary="Count by state",
    response_model=dict[str, Counted],
    responses=problems(401, 403, 422, 503)
    | {200: {"content": {"application/json": {"example": {"available": COUNT}}}}},
    dependencies=[Depends(_filter_fields)],
)
@needs(Right.READ)
async def count_jobs(request: Request) -> Response:
    """Count the jobs that match, by state; a `state` in the filter is not looked at."""
    async with reading(request) as conn:
        wanted = from_query(request, await clock(conn))
        counts = await jobs.counts_by_state(conn, wanted)
    return with_etag(request, counts)


@router.post(
    "",
    summary="Enqueue",
    status_code=201,
    response_model=ShownJob | EnqueuedJobs,
    responses=problems(401, 403, 409, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def enqueue_jobs(request: Request, body: Enqueue) -> Response:
    """Enqueue one job, or several as `jobs`, all of them or none. Answers what was enqueued, in the order given.

    `insertion` says of each whether it was inserted, or ignored or replaced because it is the holder of the unique key. 200 if
    nothing new came in. 409 with the holder as `details.job_id` if the key is taken and `on_conflict` is reject.
    """
    given = [one.model_dump(exclude={"jobs"}, exclude_none=True) for one in body.jobs or [body]]
    async with changing(request) as conn:
        inserted = await enqueueing.enqueue(conn, given, several=body.jobs is not None)
    rows = [{**_shown(request, job), "insertion": job.insertion} for job in inserted]
    status = 201 if any(job.insertion == "inserted" for job in inserted) else 200
    return _answer(rows[0] if body.jobs is None else {"items": rows}, status)


@router.get(
    "/{id}", summary="Get", response_model=JobDetail, responses=problems(401, 403, 404, 422, 503)
)
@needs(Right.READ)
async def get_job(
    request: Request,
    id: JobId,
    reveal: Annotated[
        bool, Query(description="show the hidden values as well; needs the role admin")
    ] = False,
) -> Response:
    """Give one job: where it is, what happened to it, and what can be done with it."""
    if reveal and actor_of(request).role < Role.ADMIN:
        raise Forbidden(
            "hidden values are shown to admins only", hint="ask without reveal, or as an admin"
        )
    async with reading(request) as conn:
        found = await jobs.detail(conn, job_number(id), mask=_mask(request), reveal=reveal)
    return with_etag(request, {**found.pop("job"), **found})


@router.post(
    "/{id}/cancel",
    summary="Cancel",
    response_model=ShownJob,
    responses=problems(401, 403, 404, 409, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def cancel_job(
    request: Request, id: JobId, body: Annotated[Why, Body()] = _NO_REASON
) -> Response:
    """Cancel a job that waits or runs; a running handler is told. 409 with the present state if it has ended."""
    async with changing(request) as conn:
        reason = with_actor(request, body.reason)
        job = await single.cancel_job(conn, job_number(id), reason=reason)
    return _answer(_shown(request, job))


@router.post(
    "/{id}/retry",
    summary="Retry",
    response_model=ShownJob,
    responses=problems(401, 403, 404, 409, 422, 503),
)
@needs(Right.CHANGE)
async def retry_job(request: Request, id: JobId) -> Response:
    """Run a failed, cancelled, retryable or scheduled job now. 409 with the present state in others."""
    async with changing(request) as conn:
        job = await single.retry_job(conn, job_number(id))
    return _answer(_shown(request, job))


@router.patch(
    "/{id}",
    summary="Reprioritise or move",
    response_model=ShownJob,
    responses=problems(401, 403, 404, 409, 413, 415, 422, 503),
)
@needs(Right.CHANGE)
async def change_job(request: Request, id: JobId, body: JobChange) -> Response:
    """Give a waiting job another priority, another queue, or both. 409 with the present state if it doesn't wait."""
    job_id = job_number(id)
    async with changing(request) as conn:
        if body.queue is not None:
            job = await single.move_job(conn, job_id, body.queue, body.priority)
        elif body.priority is not None:
            job = await single.set_job_priority(conn, job_id, body.priority)
        else:
            raise invalid_field("priority", "give a priority, a queue, or both")
    return _answer(_shown(request, job))


def _mask(request: Request) -> Mask:
    return Mask.of(served(request).settings.masked_keys)


def _shown(request: Request, job: Job[Any]) -> dict[str, Any]:
    row = {name: getattr(job, name) for name in ShownJob.model_fields}
    return _mask(request).row(row)[0]


def _answer(payload: Any, status: int = 200) -> Response:
    return Response(to_json(payload), status, media_type="application/json")
