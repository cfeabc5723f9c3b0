"""The list of operations: what is under way first, then what was done, by whom and why."""

from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from awa.db.run import Connection
from awa.http.access import Right, needs
from awa.http.context import reading, served
from awa.model.states import ACTIVE_OPERATION_STATES, OperationState
from awa.operations import read, switch
from awa.operations.reading import runtimes
from awa.operations.standing import Standing, standing
from awa.web import deeds
from awa.web.pages import PageRoute
from awa.web.render import render

PAGE_ROWS: Final = 25
ACTIVE_MAX_ROWS: Final = 20
# What is under way is what an operator came for; what has not begun can wait below it.
_ACTIVE_ORDER: Final = ("running", "scanning", "cancelling", "paused", "pending")
_TAKES_A_PLACE: Final = ACTIVE_OPERATION_STATES - {OperationState.PAUSED}
_ENDED: Final = ("completed", "cancelled", "failed")

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/operations")
@needs(Right.READ)
async def operations(
    request: Request, state: str | None = None, cursor: str | None = None, part: str | None = None
) -> Response:
    """The page, or with `part` only what changes on it."""
    async with reading(request) as conn:
        hold = await switch.present(conn)
        active = await active_operations(request, conn, hold)
        rows: list[dict[str, Any]] = []
        next_cursor = None
        if part is None:
            rows, next_cursor = await read.operations_page(
                conn, state=state or None, limit=PAGE_ROWS, cursor=cursor
            )
    shown = {row["id"] for row, _ in active}
    return render(
        request,
        "operations.html" if part is None else "operation/active.html",
        **deeds.TELLING,
        active=active,
        hold=hold,
        history=[row for row in rows if row["id"] not in shown],
        next_cursor=next_cursor,
        cursor=cursor,
        state=state or None,
        states=_ENDED,
    )


async def active_operations(
    request: Request, conn: Connection, hold: dict[str, Any]
) -> list[tuple[dict[str, Any], Standing]]:
    """Operations that are not final, whole and with their standing, those under way first."""
    found: list[dict[str, Any]] = []
    for state in _ACTIVE_ORDER:
        rows, _ = await read.operations_page(conn, state=state, limit=ACTIVE_MAX_ROWS)
        found += rows
    whole = [await read.get(conn, row["id"]) for row in found[:ACTIVE_MAX_ROWS]]
    led = await runtimes.leader(conn) is not None
    return [(row, standing_of(request, row, led, found, hold)) for row in whole]


def standing_of(
    request: Request,
    operation: dict[str, Any],
    led: bool,
    active: list[dict[str, Any]],
    hold: dict[str, Any],
) -> Standing:
    """How an operation stands among those that are not final."""
    return standing(
        operation,
        now=datetime.now(UTC),
        led=led,
        ahead=sum(1 for other in active if _comes_before(other, operation)),
        side_by_side=served(request).settings.batch_concurrency,
        hold=hold,
    )


def _comes_before(other: dict[str, Any], operation: dict[str, Any]) -> bool:
    if other["id"] == operation["id"] or other["state"] not in _TAKES_A_PLACE:
        return False
    if other["priority"] != operation["priority"]:
        return bool(other["priority"] < operation["priority"])
    if other["state"] != "pending":
        return True
    return bool(other["submitted_at"] < operation["submitted_at"])
