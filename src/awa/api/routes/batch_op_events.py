"""What happens to an operation, as it happens: server-sent events.

One look a second at each operation that anybody watches, however many watch it. `transition` events have the ids
of the operation's history, so a browser that comes again after a cut is told what it missed, and nothing twice.
"""

from collections.abc import Iterable
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Request, Response

from awa.api.guarded import GuardedRoute
from awa.api.openapi import problems
from awa.api.parameters import OperationId
from awa.http.access import Right, needs
from awa.http.context import served
from awa.http.live import Topic
from awa.http.sse import MEDIA_TYPE, Event, stream
from awa.operations import progress
from awa.operations.progress import Progress
from awa.operations.transition import as_uuid

router = APIRouter(prefix="/api/batch-ops", route_class=GuardedRoute, tags=["batch operations"])

LOOK_INTERVAL_S = 1.0
_DONE = "-done"
_EXAMPLE = """retry: 2000

event: transition
id: 2
data: {"id":2,"actor":null,"from_state":"scanning","to_state":"running","at":"2026-06-01T09:30:02Z"}

event: progress
id: 2
data: {"state":"running","total_matched":47000,"processed":12000,"pending":34969,"rate_per_s":6100.0}
"""


@router.get(
    "/{id}/events",
    summary="Live events",
    response_class=Response,
    responses=problems(401, 403, 404, 422, 429, 503)
    | {
        200: {
            "content": {MEDIA_TYPE: {"schema": {"type": "string"}, "example": _EXAMPLE}},
            "description": "server-sent events, until the operation is over",
        },
        204: {"description": "the operation is over and its end was told; a browser stops asking"},
    },
)
@needs(Right.READ)
async def watch_operation(
    request: Request,
    id: OperationId,
    last_event_id: Annotated[
        str | None, Header(max_length=100, description="what a browser was told last")
    ] = None,
) -> Response:
    """Tell what happens: `transition`, `progress`, and at the end `done` (or `gone`, if it was purged)."""
    operation_id = as_uuid(id)
    if last_event_id and last_event_id.endswith(_DONE):
        return Response(status_code=204)

    async def look(before: Progress | None) -> Progress:
        async with context.reading() as conn:
            return await progress.look(conn, operation_id, before)

    context = served(request)
    topic = Topic(("batch operation", operation_id), look, LOOK_INTERVAL_S)
    return stream(request, topic, Teller(operation_id, last_event_id))


class Teller:
    """What one client was told, and what is news to it."""

    def __init__(self, operation_id: UUID, last_event_id: str | None) -> None:
        self._operation_id = operation_id
        self._told_id = _number(last_event_id)
        self._told: dict[str, Any] | None = None

    def __call__(self, seen: Progress) -> Iterable[Event]:
        """The events between what was told and what is seen now."""
        for event in seen.events:
            if event["id"] > self._told_id:
                self._told_id = event["id"]
                yield Event("transition", event, str(self._told_id))
        operation = seen.told()
        if operation is None:
            gone = {"id": str(self._operation_id)}
            yield Event("gone", gone, f"{self._told_id}{_DONE}", last=True)
            return
        if operation != self._told:
            self._told = operation
            yield Event("progress", operation, str(self._told_id))
        if seen.is_over:
            yield Event("done", operation, f"{self._told_id}{_DONE}", last=True)


def _number(last_event_id: str | None) -> int:
    """The last transition that was told; what isn't ours counts as nothing told."""
    given = last_event_id or ""
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 19 else 0
