"""The whole at a glance."""

from typing import Any

from fastapi import APIRouter, Request, Response

from awa.api.guarded import GuardedRoute
from awa.api.job_bodies import COUNT
from awa.api.openapi import example, problems
from awa.http.access import Right, needs
from awa.http.context import served
from awa.http.etag import with_etag
from awa.http.overview import overview

router = APIRouter(prefix="/api/stats", route_class=GuardedRoute, tags=["statistics"])

_EXAMPLE: dict[str, Any] = {
    "at": "2026-06-01T09:30:00Z",
    "throughput": {
        "enqueued_per_s": 120.0,
        "started_per_s": 312.0,
        "completed_per_s": 310.0,
        "failed_per_s": 0.5,
        "retried_per_s": 1.5,
    },
    "statistics_age_s": 4.1,
    "series": [],
    "backlog": [{"queue": "email", "available": COUNT, "oldest_age_s": 12.5, "paused": False}],
    "totals": {"available": COUNT},
    "oldest_waiting": {"queue": "email", "age_s": 12.5, "at": "2026-06-01T09:29:47Z"},
    "pickup": {"p50_ms": 4.2, "p95_ms": 11.0, "p99_ms": 19.0, "jobs": 270000},
    "operations": [],
    "operations_held": None,
    "runtimes": {"alive": 3, "stale": 0, "workers": 3, "maintenance": 2},
    "leader": None,
    "ring": {},
    "verdict": {"level": "ok", "findings": []},
}


@router.get(
    "",
    summary="Overview",
    response_model=dict[str, Any],
    responses=problems(401, 403, 422, 503) | example(_EXAMPLE),
)
@needs(Right.READ)
async def show_overview(request: Request) -> Response:
    """Give throughput, backlog, waits, operations, runtimes, storage, and a verdict with what to do."""
    return with_etag(request, await overview(served(request)))
