"""One operation: what it does to which jobs, how far it is, what became of each job, and who did what when."""

from typing import Any, Final

from fastapi import APIRouter, Request, Response

from awa.db.run import Connection
from awa.http.access import Right, needs
from awa.http.context import reading
from awa.model import search
from awa.model.errors import ValidationError
from awa.model.filter import JobFilter
from awa.operations import read, switch
from awa.operations.reading import runtimes
from awa.operations.undoable import why_not_undoable
from awa.web import deeds
from awa.web.commands import Command, submit_commands, undo_commands
from awa.web.pages import PageRoute
from awa.web.render import render
from awa.web.routes.operations import ACTIVE_MAX_ROWS, standing_of

ITEMS_PAGE_ROWS: Final = 25

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/operations/{operation_id}")
@needs(Right.READ)
async def operation(
    request: Request,
    operation_id: str,
    outcome: str | None = None,
    reason: str | None = None,
    cursor: str | None = None,
) -> Response:
    """The page, or with `part` in the query only what changes on it."""
    async with reading(request) as conn:
        shown = await _live(request, conn, operation_id)
        items, next_cursor = await read.items_page(
            conn,
            operation_id,
            outcome=outcome or None,
            reason=reason or None,
            limit=ITEMS_PAGE_ROWS,
            cursor=cursor,
        )
    shown |= {
        "items": items,
        "next_cursor": next_cursor,
        "cursor": cursor,
        "outcome": outcome or None,
        "item_reason": reason or None,
        **deeds.TELLING,
    }
    if "part" in request.query_params:
        return render(request, "operation/parts.html", **shown)
    return render(
        request,
        "operation.html",
        **shown,
        **_meaning(shown["operation"]),
        commands=_commands(request, shown["operation"]),
    )


async def _live(request: Request, conn: Connection, operation_id: str) -> dict[str, Any]:
    """What changes while it is looked at."""
    found = await read.get(conn, operation_id)
    active: list[dict[str, Any]] = []
    if found["state"] == "pending":
        for state in ("running", "scanning", "pending"):
            rows, _ = await read.operations_page(conn, state=state, limit=ACTIVE_MAX_ROWS)
            active += rows
    led = await runtimes.leader(conn) is not None
    held = await switch.present(conn)
    return {
        "operation": found,
        "hold": held,
        "standing": standing_of(request, found, led, active, held),
        "events": await read.events(conn, operation_id),
        "title": deeds.told(found),
        "why_not_undoable": why_not_undoable(found, found["undos"]),
    }


def _commands(request: Request, operation: dict[str, Any]) -> list[Command]:
    """How the same is done elsewhere; an undo is asked of the operation that it takes back."""
    if operation["undo_of"] is None:
        return submit_commands(request, operation)
    return undo_commands(request, {"id": operation["undo_of"]})


def _meaning(operation: dict[str, Any]) -> dict[str, Any]:
    """Filter and spec in words; a filter that SQL stored and nobody can read is shown as it is."""
    try:
        given = JobFilter.parse(operation["filter"])
    except ValidationError:
        return {"filter_words": None, "filter_text": None, "done_words": ""}
    return {
        "filter_words": search.sentence(given),
        "filter_text": search.write(given),
        "done_words": deeds.done_words(operation["op_kind"], operation["spec"]),
    }
