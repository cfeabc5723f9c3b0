"""A new operation in three steps on one page: which jobs, what to do with them, check and go.

The first two steps are one form that asks this page again, so everything is in the address and nothing needs a
script. The third is a form that submits. The plan token of what it showed travels along, in the form and never in an
address; the jobs are counted again as the operation is written down (see awa.operations.submit).
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, Request, Response

from awa.db.run import Connection
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading, served
from awa.http.forms import Form, read_form
from awa.model import search
from awa.model.drift import Drift, PlanDrifted, drift_between
from awa.model.errors import TooSlow, ValidationError
from awa.model.limits import PRIORITY_DEFAULT
from awa.model.plan import Matter, Plan, PlanExpired
from awa.operations import plan as plans
from awa.operations import read
from awa.operations.submit import submit
from awa.web import confirm, deeds
from awa.web.checking import CHECK_MAX_MS, Check, check, count_which
from awa.web.commands import submit_commands
from awa.web.pace import PRIORITY_FIELD, RATE_FIELD, Pace, read_pace
from awa.web.pages import PageRoute, go
from awa.web.render import render
from awa.web.wish import Wish, read_wish

REASON_FIELD: Final = "reason"
ALL_FIELD: Final = "all"
PLAN_FIELD: Final = "plan"
TOO_OLD: Final = "the check is too old"
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
    async with reading(request) as conn:
        known = await _known(conn, form, wish)
        if known.plan is not None:
            before = await read.submitted_with(conn, _key(known.plan))
            if before is not None:
                return go(request, "/operations/{}", before, notice="It was submitted already.")
    pace, problems = _refusals(form, wish, known.plan)
    if known.plan is None or known.lapsed:
        return await _page(request, wish, wanted=True, form=form, lapsed=known.lapsed, status=409)
    if problems:
        return await _page(
            request, wish, wanted=True, form=form, plan=known.plan, problems=problems, status=422
        )
    try:
        made = await _submit(request, wish, form, known.plan, pace)
    except PlanDrifted as refused:
        return await _page(request, wish, wanted=True, form=form, drift=refused.drift, status=409)
    except PlanExpired:  # since it was looked at, a moment ago
        return await _page(request, wish, wanted=True, form=form, lapsed=TOO_OLD, status=409)
    except TooSlow as trouble:
        return await _page(request, wish, wanted=True, form=form, slow=trouble, status=503)
    return go(request, "/operations/{}", made["id"], notice="Submitted.")


@dataclass(frozen=True, slots=True)
class _Known:
    """The plan that a form came with, and why it is no good any more, if so."""

    plan: Plan | None
    lapsed: str | None = None


async def _known(conn: Connection, form: Form, wish: Wish) -> _Known:
    try:
        plan, now = await plans.unsealed(conn, form.get(PLAN_FIELD), _matter(wish))
    except ValidationError:
        return _Known(None, "the check was made for something else")
    try:
        plan.check_fresh(now)
    except PlanExpired:
        return _Known(plan, TOO_OLD)
    return _Known(plan)


async def _submit(
    request: Request, wish: Wish, form: Form, plan: Plan, pace: Pace
) -> dict[str, Any]:
    matter = _matter(wish)
    async with changing(request) as conn:
        return await submit(
            conn,
            matter.op_kind,
            matter.filter,
            matter.spec,
            actor=actor_of(request).name,
            allow_all=matter.filter.is_empty(),
            reason=form.get(REASON_FIELD) or None,
            priority=pace.priority or PRIORITY_DEFAULT,
            max_rows_per_second=pace.max_rows_per_second,
            idempotency_key=_key(plan),
            plan_token=form.get(PLAN_FIELD),
            plan_limits=served(request).settings.plan_limits,
            plan_max_ms=CHECK_MAX_MS,
        )


async def _page(
    request: Request,
    wish: Wish,
    *,
    wanted: bool,
    form: Form | None = None,
    plan: Plan | None = None,
    drift: Drift | None = None,
    lapsed: str | None = None,
    slow: TooSlow | None = None,
    problems: dict[str, str] | None = None,
    status: int = 200,
) -> Response:
    """The page with as many steps as can be shown; `wanted`: the third one was asked for.

    Against a `plan` it says as well what has drifted since, so that new numbers never come unsaid.
    """
    ready = wanted and wish.spec is not None and wish.filter is not None and slow is None
    checked = None
    async with reading(request) as conn:
        which = await _which(conn, wish)
        if ready:
            try:
                checked = await check(conn, wish, served(request).settings.plan_limits)
            except TooSlow as trouble:
                slow = trouble
            except ValidationError as refused:
                wish.problems |= {problem.field: problem.message for problem in refused.fields}
    if plan is not None and checked is not None:
        tolerance = served(request).settings.plan_limits.tolerance(plan.count.jobs)
        drift = drift_between(plan.count, checked.count, tolerance)
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
        pace={name: form.get(name) if form else "" for name in (RATE_FIELD, PRIORITY_FIELD)},
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
        "must_be_typed": confirm.must_be_typed(checked.jobs),
        "commands": submit_commands(request, operation),
    }


def _refusals(form: Form, wish: Wish, plan: Plan | None) -> tuple[Pace, dict[str, str]]:
    """The pace, and what is missing before so large a deed; the number that has to be typed is the one that was shown."""
    pace = Pace()
    problems: dict[str, str] = {}
    try:
        pace = read_pace(form)
    except ValidationError as refused:
        problems |= {problem.field: problem.message for problem in refused.fields}
    if wish.filter is not None and wish.filter.is_empty() and ALL_FIELD not in form:
        problems[ALL_FIELD] = "Say that every waiting job is meant."
    if plan is not None and not confirm.typed_enough(form, plan.count.changing):
        problems[confirm.TYPED_FIELD] = "That is not the number; nothing was submitted."
    return pace, problems


def _matter(wish: Wish) -> Matter:
    assert wish.filter is not None
    assert wish.op_kind is not None
    assert wish.spec is not None
    return Matter(wish.op_kind, wish.filter, wish.spec)


def _key(plan: Plan) -> str:
    """A second press of the same button finds what the first one made."""
    return f"console:{plan.nonce}"
