"""Prometheus's page: what this process counted, and how many operations the database holds."""

from contextlib import suppress

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.events import batch as events
from awa.events.instruments import registry
from awa.http.access import Right, needs
from awa.http.context import reading
from awa.model.errors import AwaError
from awa.operations import read

router = APIRouter(route_class=GuardedRoute, tags=["health"])

_EXAMPLE = """\
# HELP awa_batch_operations_active Operations that have not ended, by state
# TYPE awa_batch_operations_active gauge
awa_batch_operations_active{state="running"} 1.0
"""


@router.get(
    "/metrics",
    summary="Prometheus metrics",
    response_class=Response,
    responses=problems(401, 403, 422, 503)
    | {
        200: {
            "content": {"text/plain": {"schema": {"type": "string"}, "example": _EXAMPLE}},
            "description": "Prometheus's text format",
        }
    },
)
@needs(Right.READ)
async def metrics(request: Request) -> Response:
    """Give the metrics of this process in Prometheus's text format."""
    # Without its database the process still has counters to show, such as those of its errors.
    with suppress(AwaError):
        async with reading(request) as conn:
            for state, operations in (await read.active_counts(conn)).items():
                events.active(state, operations)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
