"""One queue: how deep, how fast, who works on it; pausing, resuming, draining it, and changing what waits in it."""

from collections.abc import Sequence
from typing import Final

from fastapi import APIRouter, Request, Response
from markupsafe import Markup

from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading
from awa.http.draining import drain as empty
from awa.http.forms import read_form
from awa.model.errors import NotFound
from awa.model.limits import check_queue
from awa.operations.reading import queues
from awa.operations.reading.counts import Count, total
from awa.storage import queues as storage_queues
from awa.web import charts, deeds, words
from awa.web.confirm import must_be_typed, typed_enough
from awa.web.pages import PageRoute, go_to
from awa.web.render import render
from awa.web.urls import queue_url

WAITING: Final = ("available", "scheduled", "retryable")
# A queue goes on while somebody reads; by more than this share of what was read it is asked again.
DRIFT_SHARE: Final = 0.1
DRIFT_LEAST_JOBS: Final = 100

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/queue/drain")
@needs(Right.CHANGE)
async def drain_page(request: Request, name: str) -> Response:
    """What draining would do, and the button that says so."""
    return await _drain_page(request, name)


@router.get("/queue")
@needs(Right.READ)
async def queue_by_query(request: Request, name: str) -> Response:
    """The page of a queue whose name no path brings through unchanged."""
    return await _page(request, name)


@router.get("/queues/{name}")
@needs(Right.READ)
async def queue_by_path(request: Request, name: str) -> Response:
    """The page."""
    return await _page(request, name)


@router.post("/queue/pause")
@needs(Right.CHANGE)
async def pause(request: Request) -> Response:
    """Stop claims from it."""
    name = check_queue((await read_form(request)).one("queue"))
    async with changing(request) as conn:
        await storage_queues.pause(conn, name, paused_by=actor_of(request).name)
    return _back(
        request, name, f"The queue {name} is paused: what runs goes on, nothing more is begun."
    )


@router.post("/queue/resume")
@needs(Right.CHANGE)
async def resume(request: Request) -> Response:
    """Let workers claim again."""
    name = check_queue((await read_form(request)).one("queue"))
    async with changing(request) as conn:
        found = await storage_queues.resume(conn, name)
    if found is None:
        raise NotFound(f"the queue {name!r} was never paused")
    return _back(request, name, f"The queue {name} is worked on again.")


@router.post("/queue/drain")
@needs(Right.CHANGE)
async def drain(request: Request) -> Response:
    """Cancel what waits in it, if as much waits as was read and, where it is much, typed."""
    form = await read_form(request)
    name = check_queue(form.one("queue"))
    seen = int(form.one("seen")) if form.one("seen").isdecimal() else 0
    now = (await _waiting(request, name)).jobs
    if abs(now - seen) > max(DRIFT_LEAST_JOBS, DRIFT_SHARE * seen):
        changed = f"Meanwhile the queue went from {seen:,} to {words.things(now)}. Nothing was done; look again."
        return await _drain_page(request, name, status=409, refusal=changed)
    if not typed_enough(form, seen):
        return await _drain_page(request, name, status=422, problem=f"Type {seen:,} to go on")
    done = await empty(request, name, form.get("reason").strip() or None)
    notice = f"{words.things(done.drained)} of the queue {name} {_were(done.drained)} cancelled."
    rest = " Time was up before the end: drain again." if done.more else ""
    return _back(request, name, notice + rest)


async def _page(request: Request, name: str) -> Response:
    async with reading(request) as conn:
        queue = await queues.detail(conn, name)
    series = charts.since_known(queue["series"], "completed_per_s")
    return render(
        request,
        "queue.html",
        queue=queue,
        depth=queue["depth"],
        waiting=total(queue["depth"][state] for state in WAITING),
        flow=_flow(series),
        told=deeds.told,
        minutes=len(series),
        has_figures=any(minute["completed_per_s"] is not None for minute in series),
        deepest=max((count.jobs for count in queue["by_priority"].values()), default=0),
    )


async def _drain_page(
    request: Request,
    name: str,
    *,
    status: int = 200,
    problem: str | None = None,
    refusal: str | None = None,
) -> Response:
    async with reading(request) as conn:
        queue = await queues.detail(conn, name)
    waiting = total(queue["depth"][state] for state in WAITING)
    return render(
        request,
        "queue_drain.html",
        status=status,
        queue=queue,
        depth=queue["depth"],
        waiting=waiting,
        typed=must_be_typed(waiting.jobs),
        problem=problem,
        refusal=refusal,
    )


async def _waiting(request: Request, name: str) -> Count:
    async with reading(request) as conn:
        queue = await queues.detail(conn, name)
    return total(queue["depth"][state] for state in WAITING)


def _flow(series: Sequence[charts.Row]) -> Markup:
    lines = (
        charts.Series("In", [minute["in_per_s"] for minute in series], "c2"),
        charts.Series("Completed", [minute["completed_per_s"] for minute in series], "c1"),
        charts.Series("Failed", [minute["failed_per_s"] for minute in series], "cbad"),
    )
    label = f"Jobs in, completed and failed per second over the last {len(series)} minutes"
    return charts.area([minute["at"] for minute in series], lines, label=label, say=words.rate)


def _back(request: Request, name: str, notice: str) -> Response:
    return go_to(request, queue_url(request, name), notice=notice)


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
