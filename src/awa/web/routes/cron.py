"""Schedules: when each fires next and what became of its last job; firing one by hand, holding one."""

from fastapi import APIRouter, Request, Response

from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading, served
from awa.http.forms import read_form
from awa.model.masking import Mask
from awa.operations import cron
from awa.web.pages import PageRoute, go
from awa.web.render import render

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/cron")
@needs(Right.READ)
async def schedules(request: Request, cursor: str | None = None, retired: str = "") -> Response:
    """The list; with `retired` also those that no program declares any more."""
    async with reading(request) as conn:
        rows, next_cursor = await cron.page(conn, cursor=cursor, retired=bool(retired))
    return render(
        request,
        "cron.html",
        rows=rows,
        cursor=cursor,
        next_cursor=next_cursor,
        retired="1" if retired else "",
    )


@router.get("/cron/schedule")
@needs(Right.READ)
async def schedule(request: Request, name: str) -> Response:
    """One of them, with its next fires and its job."""
    async with reading(request) as conn:
        row = await cron.get(conn, name)
    shown = Mask.of(served(request).settings.masked_keys).row(row)[0]
    return render(request, "schedule.html", row=shown)


@router.post("/cron/trigger")
@needs(Right.CHANGE)
async def trigger(request: Request) -> Response:
    """Its job, now."""
    name = (await read_form(request)).one("name")
    async with changing(request) as conn:
        job = await cron.trigger(conn, name)
    told = {
        "ignored": f"This job holds the unique key, so the schedule {name} brought no other one.",
        "replaced": f"This job holds the unique key, and has what the schedule {name} says now.",
    }
    notice = told.get(str(job.insertion), f"The schedule {name} was fired by hand.")
    return go(request, "/jobs/{}", job.id, notice=notice)


@router.post("/cron/pause")
@needs(Right.CHANGE)
async def pause(request: Request) -> Response:
    """No more fires."""
    name = (await read_form(request)).one("name")
    async with changing(request) as conn:
        await cron.pause(conn, name, actor_of(request).name)
    return go(request, "/cron", notice=f"The schedule {name} is paused: it fires nothing more.")


@router.post("/cron/resume")
@needs(Right.CHANGE)
async def resume(request: Request) -> Response:
    """Fires again."""
    name = (await read_form(request)).one("name")
    async with changing(request) as conn:
        await cron.resume(conn, name)
    return go(request, "/cron", notice=f"The schedule {name} fires again, from its next time on.")
