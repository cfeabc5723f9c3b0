"""Dead letters: grouped by kind and cause; retrying or purging one, a group, or all of a queue."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from fastapi import APIRouter, Request, Response

from awa.http.access import Right, needs
from awa.http.context import changing, reading
from awa.http.forms import Form, read_form
from awa.model.errors import ValidationError, invalid_field
from awa.model.limits import check_queue
from awa.operations import dead_letters
from awa.storage import dead_letters as storage
from awa.storage.dead_letters import Which
from awa.web import words
from awa.web.confirm import is_typed, must_be_typed
from awa.web.pages import PageRoute, go
from awa.web.render import render

router = APIRouter(route_class=PageRoute, include_in_schema=False)

PATH = "/dead-letters"
NAMES = ("queue", "kind", "fingerprint", "before")


@router.get(PATH)
@needs(Right.READ)
async def groups(request: Request, queue: str = "") -> Response:
    """The groups, the largest first, and which queues keep dead letters."""
    async with reading(request) as conn:
        queues = await storage.depth(conn)
        found = await storage.groups(conn, queue=queue or None)
    total = sum(row["depth"] for row in queues if queue in ("", row["queue"]))
    return render(
        request, "dead_letters.html", queues=queues, groups=found, queue=queue, total=total
    )


@router.get(PATH + "/list")
@needs(Right.READ)
async def letters(
    request: Request,
    queue: str = "",
    kind: str = "",
    fingerprint: str = "",
    cursor: str | None = None,
) -> Response:
    """The letters of a group, newest first."""
    chosen = _chosen({"queue": queue, "kind": kind, "fingerprint": fingerprint})
    async with reading(request) as conn:
        rows, next_cursor = await dead_letters.page(conn, chosen, cursor=cursor)
        total = await storage.count(conn, chosen)
    return render(
        request,
        "dead_letters_list.html",
        rows=rows,
        chosen=chosen,
        total=total,
        cursor=cursor,
        next_cursor=next_cursor,
    )


@router.get(PATH + "/retry/confirm")
@needs(Right.CHANGE)
async def ask_retry(
    request: Request, queue: str = "", kind: str = "", fingerprint: str = ""
) -> Response:
    """What retrying would do, and the button that says so."""
    chosen = _chosen({"queue": queue, "kind": kind, "fingerprint": fingerprint})
    return await _ask(request, "retry", chosen)


@router.get(PATH + "/purge/confirm")
@needs(Right.ADMIN)
async def ask_purge(
    request: Request, queue: str = "", kind: str = "", fingerprint: str = ""
) -> Response:
    """What purging would do, and the button that says so."""
    chosen = _chosen({"queue": queue, "kind": kind, "fingerprint": fingerprint})
    return await _ask(request, "purge", chosen)


@router.post(PATH + "/retry/one")
@needs(Right.CHANGE)
async def retry_one(request: Request) -> Response:
    """All its attempts again."""
    given = (await read_form(request)).one("id")
    job_id = int(given) if given.isascii() and given.isdecimal() else 0
    async with changing(request) as conn:
        job = await dead_letters.retry_one(conn, job_id)
    return go(request, "/jobs/{}", job.id, notice="It has all its attempts again.")


@router.post(PATH + "/keep")
@needs(Right.CHANGE)
async def keep(request: Request) -> Response:
    """Switch a queue on or off."""
    form = await read_form(request)
    queue, on = check_queue(form.one("queue")), form.one("on") == "1"
    async with changing(request) as conn:
        await dead_letters.enable(conn, queue, on)
    become = "become" if on else "no longer become"
    notice = f"Jobs of the queue {queue} that fail from now on {become} dead letters."
    return go(request, PATH, notice=notice)


@router.post(PATH + "/retry")
@needs(Right.CHANGE)
async def retry(request: Request) -> Response:
    """Give a group all its attempts again."""
    return await _do(request, "retry")


@router.post(PATH + "/purge")
@needs(Right.ADMIN)
async def purge(request: Request) -> Response:
    """Delete a group for good."""
    return await _do(request, "purge")


async def _do(request: Request, deed: str) -> Response:
    """Do it to the letters that were read, if all are there still and, where it must be, their number was typed."""
    form = await read_form(request)
    chosen = _chosen({name: form.get(name) for name in NAMES})
    seen = int(form.one("seen")) if form.one("seen").isdecimal() else -1
    async with reading(request) as conn:
        now = await storage.count(conn, chosen)
    if now != seen:
        changed = f"Meanwhile there are {words.things(now, 'dead letter')}, not {seen:,}. Nothing was done; look again."
        return await _ask(request, deed, chosen, status=409, refusal=changed)
    if (deed == "purge" or must_be_typed(seen)) and not is_typed(form, seen):
        return await _ask(request, deed, chosen, status=422, problem=f"Type {seen:,} to go on")
    try:
        done, kept = await _work(request, deed, chosen, form)
    except ValidationError as wrong:
        return await _ask(request, deed, chosen, status=422, field_problem=wrong.message)
    verb = "given new attempts" if deed == "retry" else "deleted for good"
    was = "was" if done == 1 else "were"
    stay = f" {kept:,} stay here: other jobs have their unique keys." if kept else ""
    return go(request, PATH, notice=f"{words.things(done, 'dead letter')} {was} {verb}.{stay}")


async def _work(request: Request, deed: str, chosen: Which, form: Form) -> tuple[int, int]:
    """Chunk by chunk, each in a transaction of its own; answers how many, and how many must stay."""
    to_queue = form.get("to_queue").strip() or None
    kept: list[int] = []

    async def chunk(above: int) -> tuple[int, int | None]:
        async with changing(request) as conn:
            if deed == "purge":
                return await dead_letters.purge_chunk(conn, chosen, above=above)
            return await dead_letters.retry_chunk(
                conn, chosen, above=above, queue=to_queue, kept=kept
            )

    done, _more = await dead_letters.chunk_by_chunk(chunk)
    return done, len(kept)


async def _ask(
    request: Request, deed: str, chosen: Which, *, status: int = 200, **said: str | None
) -> Response:
    # What is confirmed is what was read: letters that come while somebody reads are left for another look.
    async with reading(request) as conn:
        chosen = await dead_letters.frozen(conn, replace(chosen, before=None))
        count = await storage.count(conn, chosen)
    context: dict[str, Any] = {"refusal": None, "problem": None, "field_problem": None, **said}
    typed = deed == "purge" or must_be_typed(count)
    return render(
        request,
        "dead_letters_confirm.html",
        status=status,
        deed=deed,
        chosen=chosen,
        count=count,
        typed=typed,
        **context,
    )


def _chosen(given: dict[str, str]) -> Which:
    return dead_letters.which(
        queue=given["queue"] or None,
        kind=given["kind"] or None,
        fingerprint=given["fingerprint"] or None,
        before=_moment(given.get("before")),
    )


def _moment(text: str | None) -> datetime | None:
    """The time that a form carries. Raises ValidationError for what this page never wrote."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        raise invalid_field("before", f"{text[:40]!r} is not a time") from None
