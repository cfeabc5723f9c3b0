"""Undo of an operation: a page that counts what is as it was left and says why the rest isn't, and a form that submits.

As with a new operation the plan token of what was shown travels along in the form, and its jobs are counted again as the undo
is written down.
"""

from typing import Any, Final

from fastapi import APIRouter, Request, Response

from awa.db.run import Connection
from awa.http.access import Right, needs
from awa.http.context import actor_of, changing, reading, served
from awa.http.forms import Form, read_form
from awa.model.drift import Drift, PlanDrifted, drift_between
from awa.model.errors import Conflict, TooSlow, ValidationError
from awa.model.filter import JobFilter
from awa.model.limits import PRIORITY_DEFAULT
from awa.model.plan import Count, Matter, Plan, PlanExpired
from awa.operations import kinds, read
from awa.operations import plan as plans
from awa.operations.undo import preview_undo, undo, undo_spec
from awa.web import confirm, deeds
from awa.web.checking import CHECK_MAX_MS
from awa.web.commands import undo_commands
from awa.web.pace import PRIORITY_FIELD, RATE_FIELD, Pace, read_pace
from awa.web.pages import PageRoute, go
from awa.web.render import render

TOO_OLD: Final = "the check is too old"
SOMETHING_ELSE: Final = "the check was made for something else"

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/operations/{operation_id}/undo")
@needs(Right.PREVIEW)
async def check_undo(request: Request, operation_id: str) -> Response:
    """What would be put back."""
    return await _page(request, operation_id)


@router.post("/operations/{operation_id}/undo")
@needs(Right.CHANGE)
async def submit_undo(request: Request, operation_id: str) -> Response:
    """Submit what was checked, if it is still what was shown; otherwise show what is different and ask again."""
    form = await read_form(request)
    async with reading(request) as conn:
        plan, lapsed = await _plan_of(conn, form, operation_id)
        if plan is not None:
            before = await read.submitted_with(conn, _key(plan))
            if before is not None:
                return go(request, "/operations/{}", before, notice="It was submitted already.")
    if plan is None or lapsed is not None:
        return await _page(request, operation_id, form=form, lapsed=lapsed, status=409)
    pace, problems = _refusals(form, plan)
    if problems:
        return await _page(
            request, operation_id, form=form, plan=plan, problems=problems, status=422
        )
    try:
        made = await _submit(request, operation_id, form, plan, pace)
    except PlanDrifted as refused:
        return await _page(request, operation_id, form=form, drift=refused.drift, status=409)
    except PlanExpired:  # since it was looked at, a moment ago
        return await _page(request, operation_id, form=form, lapsed=TOO_OLD, status=409)
    except Conflict:  # somebody else has undone it: the page says who
        return await _page(request, operation_id, form=form, status=409)
    except TooSlow:
        return await _page(request, operation_id, form=form, status=503)
    return go(request, "/operations/{}", made["id"], notice="Submitted.")


async def _plan_of(
    conn: Connection, form: Form, operation_id: str
) -> tuple[Plan | None, str | None]:
    """The plan that the form came with, and why it is no good any more, if so."""
    spec = undo_spec(await read.get(conn, operation_id))
    try:
        plan, now = await plans.unsealed(
            conn, form.get("plan"), Matter(kinds.UNDO, JobFilter(), spec)
        )
    except ValidationError:
        return None, SOMETHING_ELSE
    try:
        plan.check_fresh(now)
    except PlanExpired:
        return plan, TOO_OLD
    return plan, None


def _refusals(form: Form, plan: Plan) -> tuple[Pace, dict[str, str]]:
    pace = Pace()
    problems: dict[str, str] = {}
    try:
        pace = read_pace(form)
    except ValidationError as refused:
        problems |= {problem.field: problem.message for problem in refused.fields}
    if not confirm.typed_enough(form, plan.count.changing):
        problems[confirm.TYPED_FIELD] = "That is not the number; nothing was submitted."
    return pace, problems


async def _submit(
    request: Request, operation_id: str, form: Form, plan: Plan, pace: Pace
) -> dict[str, Any]:
    async with changing(request) as conn:
        return await undo(
            conn,
            operation_id,
            actor=actor_of(request).name,
            reason=form.get("reason") or None,
            priority=pace.priority or PRIORITY_DEFAULT,
            max_rows_per_second=pace.max_rows_per_second,
            idempotency_key=_key(plan),
            plan_token=form.get("plan"),
            plan_limits=served(request).settings.plan_limits,
            plan_max_ms=CHECK_MAX_MS,
        )


async def _page(
    request: Request,
    operation_id: str,
    *,
    form: Form | None = None,
    plan: Plan | None = None,
    drift: Drift | None = None,
    lapsed: str | None = None,
    problems: dict[str, str] | None = None,
    status: int = 200,
) -> Response:
    """The page; against a `plan` it says what has drifted since."""
    limits = served(request).settings.plan_limits
    preview, refused = None, None
    async with reading(request) as conn:
        operation = await read.get(conn, operation_id)
        try:
            preview = await preview_undo(
                conn, operation_id, plan_limits=limits, max_ms=CHECK_MAX_MS
            )
        except Conflict as why:
            refused = why.message
        except TooSlow:
            pass  # the page says so
    if plan is not None and preview is not None:
        now = Count(
            preview["total_matched"],
            0,
            preview["breakdown"]["queue"],
            preview["breakdown"]["state"],
        )
        drift = drift_between(plan.count, now, limits.tolerance(plan.count.jobs))
    jobs = preview["total_matched"] if preview else 0
    return render(
        request,
        "undo_operation.html",
        status=status,
        operation=operation,
        title=deeds.told(operation),
        preview=preview,
        refused=refused,
        drift=drift,
        lapsed=lapsed,
        form_problems=problems or {},
        reason=form.get("reason") if form else "",
        pace={name: form.get(name) if form else "" for name in (RATE_FIELD, PRIORITY_FIELD)},
        button=deeds.button_words(kinds.UNDO, {}, jobs),
        must_be_typed=confirm.must_be_typed(jobs),
        commands=undo_commands(request, operation),
    )


def _key(plan: Plan) -> str:
    """A second press of the same button finds what the first one made."""
    return f"console:{plan.nonce}"
