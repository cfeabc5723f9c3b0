"""`awa batch-ops preview` and `submit`: change many waiting jobs, after seeing which.

The preview is counted by the same compiler that the operation runs with. `submit` shows it and
asks; --yes answers beforehand. Where nobody can be asked, nothing is submitted.

The answer is to the numbers that were shown: their plan token goes along, so if the jobs drift between question and
answer, nothing is submitted. `preview` prints its token for a later submit.
"""

import shlex
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

import orjson
import typer

from awa.cli.confirm import confirm
from awa.cli.options import options_of
from awa.cli.output import Output, number
from awa.cli.render_operations import intention, preview_page
from awa.cli.session import Session, run
from awa.cli.values import aware_time, json_object
from awa.cli.watch import watch
from awa.model.errors import NotConfirmed
from awa.model.filter import JobFilter
from awa.model.limits import PRIORITY_DEFAULT, ROWS_PER_SECOND_MAX, check_reason
from awa.model.plan import Matter
from awa.operations import kinds
from awa.operations import plan as planning
from awa.operations import preview as previewing
from awa.operations import submit as submitting

OpKind = Annotated[
    str, typer.Option("--op-kind", metavar="KIND", help=f"One of {', '.join(kinds.names())}.")
]
Filter = Annotated[
    str,
    typer.Option(
        "--filter", metavar="JSON", help='Which jobs: {"queue": "default", "tag": "…"}; or @file.'
    ),
]
Spec = Annotated[
    str,
    typer.Option("--spec", metavar="JSON", help='Into what: {"priority": 1} or {"queue": "…"}.'),
]
Plan = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="TOKEN",
        help="That of a preview: refuse if there are more or fewer jobs than it counted.",
    ),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
Reason = Annotated[str | None, typer.Option(help="Why; kept with the operation.")]
Priority = Annotated[
    int,
    typer.Option(min=1, max=4, metavar="N", help="The operation's own priority, 1 (first) to 4."),
]
Rate = Annotated[
    int | None,
    typer.Option(min=1, max=ROWS_PER_SECOND_MAX, metavar="N", help="How fast it may go."),
]
NotBefore = Annotated[
    str | None, typer.Option(metavar="TIME", help="Begin at this time at the earliest.")
]
MaxJobs = Annotated[int | None, typer.Option(min=1, metavar="N", help="Take at most so many jobs.")]
Follow = Annotated[bool, typer.Option("--watch", help="Follow it until it ends.")]
All = Annotated[bool, typer.Option("--all", help="An empty filter means every job. Say so.")]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the operator typed, parsed and checked."""

    op_kind: str
    filter: JobFilter
    spec: dict[str, Any]


def preview(
    context: typer.Context,
    *,
    op_kind: OpKind,
    spec: Spec,
    filter_: Filter = "{}",
    all_: All = False,
) -> None:
    """Count and sample the jobs that an operation would change. Changes nothing."""
    del (
        all_
    )  # a preview may always look at everything; taken so that a line can be edited to submit
    wish = _wish(op_kind, filter_, spec)

    async def work(session: Session) -> None:
        session.if_interrupted = "Interrupted; a preview changes nothing."
        seen = await _preview(session, wish)
        if session.out.as_json:
            session.out.json(seen)
        else:
            session.out.show(preview_page(seen))
            _say_how_to_submit(session.out, seen)

    run(context, work)


def submit(
    context: typer.Context,
    *,
    op_kind: OpKind,
    spec: Spec,
    filter_: Filter = "{}",
    all_: All = False,
    plan: Plan = None,
    yes: Yes = False,
    reason: Reason = None,
    priority: Priority = PRIORITY_DEFAULT,
    max_rows_per_second: Rate = None,
    not_before: NotBefore = None,
    max_jobs: MaxJobs = None,
    follow: Follow = False,
) -> None:
    """Show the preview, ask, and submit the operation. The maintenance leader carries it out."""
    wish = _wish(op_kind, filter_, spec)
    if wish.filter.is_empty() and not all_:
        raise submitting.empty_filter(wish.filter)
    check_reason(reason)
    terms: dict[str, Any] = {
        "priority": priority,
        "max_rows_per_second": max_rows_per_second,
        "not_before": aware_time(not_before, "--not-before"),
        "max_jobs": max_jobs,
    }
    if not yes:
        refuse_unattended(Output(as_json=options_of(context).as_json), "awa batch-ops preview")

    async def work(session: Session) -> None:
        session.if_interrupted = "Interrupted; nothing was submitted."
        if plan is not None:
            await _check_plan(session, wish, plan)
        token = await _show_and_ask(session, wish, yes)
        async with session.client.connection() as conn:
            row = await submitting.submit(
                conn,
                wish.op_kind,
                wish.filter,
                wish.spec,
                allow_all=all_,
                reason=reason,
                plan_token=plan or token,
                plan_limits=session.client.settings.plan_limits,
                **terms,
            )
        await say_submitted(session, row, follow=follow)

    run(context, work)


async def say_submitted(session: Session, row: dict[str, Any], *, follow: bool) -> None:
    """Say which operation it is, and follow it if that was asked for."""
    operation_id = row["id"]
    if follow:
        session.out.say(f"Submitted as {operation_id}.")
        await watch(session, operation_id)
    else:
        words = f"Submitted as {operation_id}.\nFollow it: awa batch-ops watch {operation_id}"
        session.out.result(row, words)


def _wish(op_kind: str, filter_text: str, spec_text: str) -> Wish:
    """Everything that can be wrong about an operation without looking at a job."""
    kind = kinds.get(op_kind)
    filter_ = JobFilter.parse(json_object(filter_text, "--filter"))
    spec = kinds.spec_json(kind.parse_spec(json_object(spec_text, "--spec")))
    kind.check_filter(filter_)
    return Wish(kind.name, filter_, spec)


def refuse_unattended(out: Output, look: str) -> None:
    """Say no before the database is asked, rather than after a long count; `look` is the command that only looks."""
    if not out.can_ask:
        raise NotConfirmed(
            "submitting needs a confirmation, and there is no terminal to ask on",
            hint=f"Look at {look} first, then submit with --yes.",
        )


async def _check_plan(session: Session, wish: Wish, token: str) -> None:
    """Refuse a token that is no good before anything is counted or asked."""
    matter = Matter(wish.op_kind, wish.filter, wish.spec)
    async with session.client.connection() as conn:
        known, now = await planning.unsealed(conn, token, matter)
    known.check_fresh(now)


async def _show_and_ask(session: Session, wish: Wish, yes: bool) -> str | None:
    """Show what would change; the token of what was said yes to, None if nobody was asked."""
    if yes and session.out.as_json:
        return None  # nobody reads a preview then, and the operation counts for itself
    seen = await _preview(session, wish)
    session.out.show(preview_page(seen))
    if yes:
        return None
    what = f"{number(seen['total_matched'], 'job')} will {intention(wish.op_kind, wish.spec)}"
    confirm(session.out, f"{what}. Submit?")
    token: str | None = seen["plan_token"]
    return token


def _say_how_to_submit(out: Output, seen: dict[str, Any]) -> None:
    words = ["awa", "batch-ops", "submit", "--op-kind", seen["op_kind"]]
    words += ["--filter", orjson.dumps(seen["filter"]).decode()]
    words += ["--spec", orjson.dumps(seen["spec"]).decode()]
    say_how_to_go_on(out, seen, [*words, *(["--all"] if seen["requires_allow_all"] else [])])


def say_how_to_go_on(out: Output, seen: dict[str, Any], words: list[str]) -> None:
    """The line that submits what was shown, and is refused once that is something else."""
    if seen["plan_token"] is None:
        out.say("No plan token: this database role may not submit.", style="dim")
        return
    if not seen["total_matched"]:
        return
    until: datetime = seen["plan_expires_at"]
    out.say(
        f"To submit just this, until {until.astimezone():%Y-%m-%d %H:%M} and as long as the jobs are about as many:"
    )
    out.literally(shlex.join([*words, "--plan", seen["plan_token"]]))


async def _preview(session: Session, wish: Wish) -> dict[str, Any]:
    async with session.client.connection() as conn:
        return await previewing.preview(
            conn,
            wish.op_kind,
            wish.filter,
            wish.spec,
            plan_limits=session.client.settings.plan_limits,
        )
