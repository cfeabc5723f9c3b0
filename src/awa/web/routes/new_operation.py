"""A new operation in three steps on one page: which jobs, what to do with them, check and go.

The first two steps are one form that asks this page again, so everything is in the address and nothing needs a
script. The third is a form that submits. What it was shown travels along, sealed (see awa.web.plan), and is counted
again before anything is written down.
"""

from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from awa.db.run import Connection
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading
from awa.http.forms import Form, read_form
from awa.model import search
from awa.model.errors import TooSlow, ValidationError
from awa.operations import read
from awa.operations.submit import submit
from awa.web import confirm, deeds
from awa.web.checking import Check, check, count_which
from awa.web.commands import submit_commands
from awa.web.pages import PageRoute, go
from awa.web.plan import Plan, matter_of, seal, unseal
from awa.web.render import render
from awa.web.wish import Wish, read_wish

REASON_FIELD: Final = "reason"
ALL_FIELD: Final = "all"
PLAN_FIELD: Final = "plan"
ASKED_FIELDS: Final = ("q", "ids", "op_kind", "spec.queue", "spec.priority")

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/operations/new")
@needs(Right.PREVIEW)
async def new_operation(request: Request) -> Response:
    """The page as far as the query goes; `part=which` is the count alone, as somebody types."""
    wish = read_wish(request.query_params, datetime.now(UTC))
    if request.query_params.get("part") == "which":
        async with reading(request) as conn:
            return render(request, "operation/which.html", **await _which(conn, wish))
    return await _page(request, wish, wanted="check" in request.query_params)


@router.post("/operations/new")
@needs(Right.CHANGE)
async def submit_operation(request: Request) -> Response:
    """Submit what was checked, if it is still what was shown; otherwise show what is different and ask again."""
    form = await read_form(request)
    wish = read_wish({name: form.get(name) for name in ASKED_FIELDS}, datetime.now(UTC))
    if wish.filter is None or wish.spec is None or wish.op_kind is None:
        return await _page(request, wish, wanted=True, form=form, status=422)
    plan = unseal(request, form.get(PLAN_FIELD), _matter(wish))
    async with reading(request) as conn:
        if plan is not None:
            before = await read.submitted_with(conn, _key(plan))
            if before is not None:
                return go(request, "/operations/{}", before, notice="It was submitted already.")
        checked = await check(conn, wish)
    problems = _refusals(form, wish, plan)
    if plan is None or plan.drifted(checked.jobs) or problems:
        return await _page(
            request, wish, wanted=True, form=form, plan=plan, checked=checked, problems=problems
        )
    async with changing(request) as conn:
        made = await submit(
            conn,
            wish.op_kind,
            wish.filter,
            wish.spec,
            actor=actor_of(request).name,
            allow_all=wish.filter.is_empty(),
            reason=form.get(REASON_FIELD) or None,
            idempotency_key=_key(plan),
        )
    return go(request, "/operations/{}", made["id"], notice="Submitted.")


async def _page(
    request: Request,
    wish: Wish,
    *,
    wanted: bool,
    form: Form | None = None,
    plan: Plan | None = None,
    checked: Check | None = None,
    problems: dict[str, str] | None = None,
    status: int = 200,
) -> Response:
    """The page with as many steps as can be shown; `wanted`: the third one was asked for."""
    ready = wanted and wish.spec is not None and wish.filter is not None
    slow = None
    async with reading(request) as conn:
        which = await _which(conn, wish)
        if ready and checked is None:
            try:
                checked = await check(conn, wish)
            except TooSlow as trouble:
                slow = trouble
            except ValidationError as refused:
                wish.problems |= {problem.field: problem.message for problem in refused.fields}
    drift = (
        plan if plan is not None and checked is not None and plan.drifted(checked.jobs) else None
    )
    lapsed = form is not None and plan is None and checked is not None
    if problems or drift or lapsed:
        status = 422 if problems and not drift else 409
    return render(
        request,
        "new_operation.html",
        **deeds.TELLING,
        status=status,
        **which,
        **_third_step(request, wish, checked),
        drift=drift,
        lapsed=lapsed,
        slow=slow,
        wanted=wanted,
        form_problems=problems or {},
        reason=form.get(REASON_FIELD) if form else "",
        confirmed_all=form is not None and ALL_FIELD in form,
        deeds=deeds.DEEDS,
        search_words=search.WORDS,
    )


async def _which(conn: Connection, wish: Wish) -> dict[str, Any]:
    """The first step: what was understood, and how many jobs it means."""
    slow = None
    counted = None
    try:
        counted = await count_which(conn, wish)
    except TooSlow as trouble:
        slow = trouble
    return {"wish": wish, "which": counted, "which_slow": slow}


def _third_step(request: Request, wish: Wish, checked: Check | None) -> dict[str, Any]:
    if checked is None or wish.op_kind is None or wish.spec is None or wish.filter is None:
        return {"check": None}
    operation = {"op_kind": wish.op_kind, "filter": wish.filter.to_json(), "spec": wish.spec}
    return {
        "check": checked,
        "filter_words": search.sentence(wish.filter),
        "filter_json": operation["filter"],
        "filter_text": search.write(wish.filter),
        "done_words": deeds.done_words(wish.op_kind, wish.spec),
        "button": deeds.button_words(wish.op_kind, wish.spec, checked.jobs),
        "sealed": seal(request, checked.jobs, _matter(wish)),
        "must_be_typed": confirm.must_be_typed(checked.jobs),
        "commands": submit_commands(request, operation),
    }


def _refusals(form: Form, wish: Wish, plan: Plan | None) -> dict[str, str]:
    """What is missing before so large a deed; the number that has to be typed is the one that was shown."""
    problems = {}
    if wish.filter is not None and wish.filter.is_empty() and ALL_FIELD not in form:
        problems[ALL_FIELD] = "Say that every waiting job is meant."
    if plan is not None and not confirm.typed_enough(form, plan.jobs):
        problems[confirm.TYPED_FIELD] = "That is not the number; nothing was submitted."
    return problems


def _matter(wish: Wish) -> str:
    assert wish.filter is not None
    assert wish.op_kind is not None
    assert wish.spec is not None
    return matter_of(wish.op_kind, search.write(wish.filter), wish.spec)


def _key(plan: Plan) -> str:
    """A second press of the same button finds what the first one made."""
    return f"console:{plan.nonce}"
