"""Schedules: list, show, pause, resume, trigger."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from awa.api.guarded import GuardedRoute
from awa.api.job_bodies import JOB, page_of
from awa.api.openapi import example, problems
from awa.api.parameters import Limit, NameCursor
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading, served
from awa.http.etag import with_etag
from awa.model.job import Job
from awa.model.limits import PAGE_DEFAULT_ROWS
from awa.model.masking import Mask
from awa.operations import cron

router = APIRouter(prefix="/api/cron", route_class=GuardedRoute, tags=["schedules"])

ScheduleName = Annotated[str, Path(examples=["daily-report"])]
_SCHEDULE: dict[str, Any] = {
    "name": "daily-report",
    "app": "default",
    "cron_expr": "0 9 * * 1-5",
    "description": "At 09:00 on Monday through Friday",
    "timezone": "Europe/Berlin",
    "missed": "coalesce",
    "kind": "report",
    "queue": "reports",
    "priority": 2,
    "max_attempts": 25,
    "args": {"to": "ada@example.com"},
    "tags": None,
    "metadata": None,
    "ordering_key": None,
    "concurrency_key": None,
    "concurrency_limit": None,
    "unique_opts": None,
    "state": "active",
    "next_fire_at": "2026-06-01T07:00:00Z",
    "next_fires": ["2026-06-01T07:00:00Z", "2026-06-02T07:00:00Z"],
    "last_tick_at": "2026-05-29T07:00:00Z",
    "fired_at": "2026-05-29T07:00:00.2Z",
    "fired_count": 12,
    "skipped_count": 0,
    "last_job_id": 41007,
    "last_job_state": "completed",
    "last_error": None,
    "paused_at": None,
    "paused_by": None,
    "retired_at": None,
    "declared_at": "2026-05-01T12:00:00Z",
    "created_at": "2026-05-01T12:00:00Z",
    "now": "2026-05-31T12:00:00Z",
}
_ONE = example(_SCHEDULE)


@router.get(
    "",
    summary="List",
    response_model=page_of("SchedulePage", _SCHEDULE, "Schedules, by name."),
    responses=problems(401, 403, 422, 503),
)
@needs(Right.READ)
async def list_schedules(
    request: Request,
    limit: Limit = PAGE_DEFAULT_ROWS,
    cursor: NameCursor = None,
    retired: Annotated[
        bool, Query(description="also those that no program declares any more")
    ] = False,
) -> Response:
    """List schedules by name, with their next fires and what became of their last job."""
    async with reading(request) as conn:
        items, next_cursor = await cron.page(conn, retired=retired, limit=limit, cursor=cursor)
    shown = [_masked(request, row) for row in items]
    return with_etag(request, {"items": shown, "next_cursor": next_cursor})


@router.get(
    "/{name:name}",
    summary="Get",
    response_model=dict[str, Any],
    responses=problems(401, 403, 404, 422, 503) | _ONE,
)
@needs(Right.READ)
async def get_schedule(request: Request, name: ScheduleName) -> Response:
    """Give one schedule."""
    async with reading(request) as conn:
        return with_etag(request, _masked(request, await cron.get(conn, name)))


@router.post(
    "/{name:name}/pause",
    summary="Pause",
    response_model=dict[str, Any],
    responses=problems(401, 403, 404, 422, 503) | _ONE,
)
@needs(Right.CHANGE)
async def pause_schedule(request: Request, name: ScheduleName) -> dict[str, Any]:
    """Stop its fires. Pausing twice keeps who did it first."""
    async with changing(request) as conn:
        return _masked(request, await cron.pause(conn, name, actor_of(request).name))


@router.post(
    "/{name:name}/resume",
    summary="Resume",
    response_model=dict[str, Any],
    responses=problems(401, 403, 404, 422, 503) | _ONE,
)
@needs(Right.CHANGE)
async def resume_schedule(request: Request, name: ScheduleName) -> dict[str, Any]:
    """Let it fire again, from its next time on; what passed during the pause is not made up for."""
    async with changing(request) as conn:
        return _masked(request, await cron.resume(conn, name))


@router.post(
    "/{name:name}/trigger",
    summary="Trigger",
    response_model=dict[str, Any],
    responses=problems(401, 403, 404, 409, 422, 503)
    | example(
        {"name": "daily-report", "job_id": JOB["id"], "queue": "reports", "insertion": "inserted"}
    ),
)
@needs(Right.CHANGE)
async def trigger_schedule(request: Request, name: ScheduleName) -> dict[str, Any]:
    """Enqueue its job now. Its times stay as they are, and a paused schedule stays paused."""
    async with changing(request) as conn:
        job: Job[Any] = await cron.trigger(conn, name)
    return {"name": name, "job_id": job.id, "queue": job.queue, "insertion": job.insertion}


def _masked(request: Request, row: dict[str, Any]) -> dict[str, Any]:
    """A schedule's arguments hold secrets as often as a job's do."""
    return Mask.of(served(request).settings.masked_keys).row(row)[0]
