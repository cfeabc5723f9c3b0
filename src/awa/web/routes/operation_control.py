"""What can be done to an operation on its page, and to all of them on the list: a form each, by whoever may change something."""

from typing import Any, Final

from fastapi import APIRouter, Request, Response

from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, served
from awa.http.forms import Form, read_form
from awa.model.steering import operation_changes
from awa.operations import control, switch
from awa.web.deeds import pace_words
from awa.web.pace import read_pace
from awa.web.pages import PageRoute, go

router = APIRouter(route_class=PageRoute, include_in_schema=False)

_PAUSED: Final = "Paused: nothing of it is being changed."
_GOES_ON: Final = {
    "pending": "Resumed: it begins when its turn comes.",
    "scanning": "Resumed: it goes on collecting its jobs.",
    "running": "Resumed: it goes on where it was.",
}


@router.post("/operations/hold")
@needs(Right.CHANGE)
async def hold(request: Request) -> Response:
    """Hold all operations."""
    form = await read_form(request)
    async with changing(request) as conn:
        await switch.hold(conn, **_who(request, form))
    return go(request, "/operations", notice="All operations are held: nothing is being changed.")


@router.post("/operations/release")
@needs(Right.CHANGE)
async def release(request: Request) -> Response:
    """Let all operations go on."""
    form = await read_form(request)
    async with changing(request) as conn:
        await switch.release(conn, **_who(request, form))
    return go(request, "/operations", notice="Operations go on.")


@router.post("/operations/{operation_id}/pause")
@needs(Right.CHANGE)
async def pause(request: Request, operation_id: str) -> Response:
    """Pause it after its present chunk."""
    form = await read_form(request)
    async with changing(request) as conn:
        await control.pause(conn, operation_id, **_who(request, form))
    return go(request, "/operations/{}", operation_id, notice=_PAUSED)


@router.post("/operations/{operation_id}/resume")
@needs(Right.CHANGE)
async def resume(request: Request, operation_id: str) -> Response:
    """Let it go on where it was."""
    form = await read_form(request)
    async with changing(request) as conn:
        after = await control.resume(conn, operation_id, **_who(request, form))
    return go(request, "/operations/{}", operation_id, notice=_GOES_ON[after["state"]])


@router.post("/operations/{operation_id}/pace")
@needs(Right.CHANGE)
async def pace(request: Request, operation_id: str) -> Response:
    """Give it another rate (an empty field: no limit) and priority."""
    form = await read_form(request)
    wanted = read_pace(form)
    changes = operation_changes(wanted.max_rows_per_second, wanted.priority)
    async with changing(request) as conn:
        after = await control.change(conn, operation_id, changes, **_who(request, form))
    notice = f"It goes {pace_words(after)}."
    return go(request, "/operations/{}", operation_id, notice=notice)


@router.post("/operations/{operation_id}/cancel")
@needs(Right.CHANGE)
async def cancel(request: Request, operation_id: str) -> Response:
    """Ask for its end; an operation that is paused or has not begun ends at once."""
    form = await read_form(request)
    days = served(request).settings.batch_op_retention_days
    async with changing(request) as conn:
        after = await control.cancel(conn, operation_id, **_who(request, form), retention_days=days)
    at_once = after["state"] == "cancelled"
    said = "Cancelled at once." if at_once else "Cancelling: it ends after its present chunk."
    return go(request, "/operations/{}", operation_id, notice=said)


def _who(request: Request, form: Form) -> dict[str, Any]:
    return {"actor": actor_of(request).name, "reason": form.get("reason") or None}
