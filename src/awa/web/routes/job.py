"""One job: its life, its arguments, its errors, and what can be done with it."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from awa.db.run import Connection
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading, with_actor
from awa.http.forms import Form, read_form
from awa.model import exact
from awa.model.errors import AwaError, Conflict, NotFound, ValidationError, invalid_field
from awa.model.limits import JOB_ID_MAX, PRIORITY_FIRST, PRIORITY_LAST
from awa.operations import callbacks, single
from awa.operations.reading import jobs
from awa.web import deeds, words
from awa.web.looks import mask_of
from awa.web.pages import PageRoute, go_to
from awa.web.render import render
from awa.web.urls import job_url

PRIORITIES: Final = tuple(range(PRIORITY_FIRST, PRIORITY_LAST + 1))
# What a timeline's entry looks like; the rest is a plain mark.
MARKS: Final = {
    "enqueued": "plus",
    "ready": "available",
    "scheduled": "scheduled",
    "due": "scheduled",
    "deadline": "scheduled",
    "claimed": "running",
    "completed": "completed",
    "failed": "failed",
    "attempt_failed": "failed",
    "cancelled": "cancelled",
    "snoozed": "scheduled",
    "returned": "undo",
    "moved": "move",
    "operation": "move",
    "waiting": "waiting_external",
    "answered": "waiting_external",
}

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/jobs/{job_id}")
@needs(Right.READ)
async def job_page(request: Request, job_id: str) -> Response:
    """The page."""
    return await _page(request, _job_id(job_id))


@router.post("/jobs/{job_id}/cancel")
@needs(Right.CHANGE)
async def cancel(request: Request, job_id: str) -> Response:
    """Cancel it; a running handler is told."""
    form = await read_form(request)
    reason = with_actor(request, form.get("reason").strip() or None)

    async def deed(conn: Connection, identity: int) -> str:
        job = await single.cancel_job(conn, identity, reason=reason)
        if job.state == "cancelled":
            return f"Job {identity} is cancelled. Retry puts it back into its queue."
        return f"Job {identity} runs; its handler has been told to stop."

    return await _do(request, job_id, deed)


@router.post("/jobs/{job_id}/retry")
@needs(Right.CHANGE)
async def retry(request: Request, job_id: str) -> Response:
    """Put it back into its queue now."""

    async def deed(conn: Connection, identity: int) -> str:
        job = await single.retry_job(conn, identity)
        return f"Job {identity} waits in the queue {job.queue} again."

    return await _do(request, job_id, deed)


@router.post("/jobs/{job_id}/callbacks/{callback_id}")
@needs(Right.CHANGE)
async def answer(request: Request, job_id: str, callback_id: str) -> Response:
    """Answer the callback that it waits for."""
    form = await read_form(request)
    action, said = form.one("answer"), form.get("said").strip()

    async def deed(conn: Connection, identity: int) -> str:
        who = actor_of(request).name
        came = await callbacks.answer(conn, callback_id, action, by=who, **_said(action, said))
        return f"The callback is answered; job {identity} is {came['state']} now."

    return await _do(request, job_id, deed)


@router.post("/jobs/{job_id}/priority")
@needs(Right.CHANGE)
async def set_priority(request: Request, job_id: str) -> Response:
    """Give it another priority."""
    priority = _priority(await read_form(request), "priority")

    async def deed(conn: Connection, identity: int) -> str:
        await single.set_job_priority(conn, identity, priority)
        return f"Job {identity} has the priority {priority}."

    return await _do(request, job_id, deed)


@router.post("/jobs/{job_id}/move")
@needs(Right.CHANGE)
async def move(request: Request, job_id: str) -> Response:
    """Put it into another queue."""
    queue = (await read_form(request)).get("queue")

    async def deed(conn: Connection, identity: int) -> str:
        await single.move_job(conn, identity, queue)
        return f"Job {identity} waits in the queue {queue}."

    return await _do(request, job_id, deed)


async def _do(
    request: Request, job_id: str, deed: Callable[[Connection, int], Awaitable[str]]
) -> Response:
    """Do it and say so; what the job's state or the input does not allow is said on the job's own page."""
    identity = _job_id(job_id)
    try:
        async with changing(request) as conn:
            notice = await deed(conn, identity)
    except (Conflict, ValidationError) as refusal:
        status = 409 if isinstance(refusal, Conflict) else 422
        return await _page(request, identity, status=status, refusal=refusal)
    return go_to(request, job_url(request, identity), notice=notice)


async def _page(
    request: Request, job_id: int, *, status: int = 200, refusal: AwaError | None = None
) -> Response:
    async with reading(request) as conn:
        detail = await jobs.detail(conn, job_id, mask=mask_of(request))
    job: dict[str, Any] = detail["job"]
    return render(
        request,
        "job.html",
        status=status,
        **detail,
        marks=MARKS,
        done_words=deeds.done_words,
        priorities=PRIORITIES,
        last_error=_last_error(job),
        waits_for=next((one for one in detail["callbacks"] if one["waits"]), None),
        refusal=words.sentence(refusal.message) if refusal else None,
        refusal_hint=words.sentence(refusal.hint) if refusal and refusal.hint else "",
    )


def _said(action: str, said: str) -> dict[str, Any]:
    """What comes with an answer: JSON, or what went wrong."""
    if not said:
        return {}
    if action in {"fail", "retry"}:
        return {"error": said}
    try:
        return {"payload": exact.loads(said)}
    except ValueError as problem:
        raise invalid_field("said", f"is not JSON: {problem}") from None


def _last_error(job: dict[str, Any]) -> dict[str, Any] | None:
    """The newest error, where it is what the state is about."""
    errors = [error for error in job["errors"] if isinstance(error, dict)]
    return errors[-1] if errors and job["state"] in {"failed", "retryable"} else None


def _job_id(text: str) -> int:
    if text.isascii() and text.isdecimal() and 0 < int(text[:20]) <= JOB_ID_MAX:
        return int(text)
    raise NotFound(f"there is no job {text[:50]!r}", hint="a job's id is a whole number above 0")


def _priority(form: Form, name: str) -> int:
    text = form.one(name).strip()
    if text not in {str(priority) for priority in PRIORITIES}:
        raise invalid_field(
            name, f"expected {PRIORITY_FIRST} to {PRIORITY_LAST}, got {text[:20]!r}"
        )
    return int(text)
