"""The state of the whole, as it changes: one look every two seconds, however many pages show it."""

from collections.abc import Iterable
from typing import Any

from fastapi import APIRouter, Request, Response

from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.http.access import Right, needs
from awa.http.context import served
from awa.http.live import Topic
from awa.http.overview import overview
from awa.http.sse import MEDIA_TYPE, Event, stream

router = APIRouter(prefix="/api/stats", route_class=GuardedRoute, tags=["stats"])

LOOK_INTERVAL_S = 2.0
_EXAMPLE = """retry: 2000

event: overview
data: {"at":"2026-06-01T09:30:00Z","throughput":{"started_per_s":812.0},"verdict":{"level":"ok","findings":[]}}
"""


@router.get(
    "/events",
    summary="Live overview",
    response_class=Response,
    responses=problems(401, 403, 422, 429, 503)
    | {
        200: {
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": _EXAMPLE}},
            "description": "server-sent events, without end",
        }
    },
)
@needs(Right.READ)
async def watch_stats(request: Request) -> Response:
    """Tell the overview (what GET /api/stats answers) in `overview` events, every two seconds."""
    context = served(request)

    async def look(_before: dict[str, Any] | None) -> dict[str, Any]:
        return await overview(context)

    return stream(request, Topic("stats", look, LOOK_INTERVAL_S), _told)


def _told(overview: dict[str, Any]) -> Iterable[Event]:
    yield Event("overview", overview)
