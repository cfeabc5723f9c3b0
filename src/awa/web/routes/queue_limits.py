"""The limits of one queue: how many of its jobs may run at once, and how fast they are begun."""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response

from awa.http.access import Right, needs
from awa.http.context import changing, reading
from awa.http.forms import Form, read_form
from awa.model.errors import ValidationError
from awa.model.limits import check_queue
from awa.model.queue_limits import limit_words, queue_limits, rate_words, read_rate
from awa.operations.reading import queues
from awa.storage import queues as storage_queues
from awa.web.pages import PageRoute, go_to
from awa.web.render import render
from awa.web.urls import queue_url

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/queue/limits")
@needs(Right.CHANGE)
async def limits_page(request: Request, name: str) -> Response:
    """The limits, to be changed."""
    return await _page(request, name)


@router.post("/queue/limits")
@needs(Right.CHANGE)
async def set_limits(request: Request) -> Response:
    """Set both limits; an empty field takes one away."""
    form = await read_form(request)
    name = check_queue(form.one("queue"))
    try:
        changes = _read(form)
    except ValidationError as refused:
        problems = {problem.field: problem.message for problem in refused.fields}
        return await _page(request, name, status=422, form=form, problems=problems)
    async with changing(request) as conn:
        limits = await storage_queues.set_limits(conn, name, changes)
    return go_to(
        request, queue_url(request, name), notice=f"The queue {name} {limit_words(limits)}."
    )


def _read(form: Form) -> dict[str, Any]:
    most = form.get("max_running").strip().replace(",", "")
    max_running = int(most) if most.isdecimal() else most or None
    rate = form.get("rate").strip()
    jobs, period_s = read_rate(rate) if rate else (None, None)
    return queue_limits(max_running, jobs, period_s)  # type: ignore[arg-type]  # a text is refused there


async def _page(
    request: Request,
    name: str,
    *,
    status: int = 200,
    form: Form | None = None,
    problems: Mapping[str, str] | None = None,
) -> Response:
    async with reading(request) as conn:
        queue = await queues.detail(conn, name)
    rate = rate_words(queue["rate_limit"], queue["rate_period_s"]) if queue["rate_limit"] else ""
    problems = dict(problems or {})
    if "rate_limit" in problems:
        problems.setdefault("rate", problems["rate_limit"])
    if "rate_period_seconds" in problems:
        problems.setdefault("rate", problems["rate_period_seconds"])
    return render(
        request,
        "queue_limits.html",
        status=status,
        queue=queue,
        max_running=form.get("max_running") if form else queue["max_running"] or "",
        rate=form.get("rate") if form else rate,
        problems=problems,
    )
