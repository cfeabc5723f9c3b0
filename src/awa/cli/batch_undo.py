"""`awa batch-ops undo`: take back what an operation changed, after seeing how much of it is as it was left.

As with `submit` the answer is to the numbers that were shown: their plan token goes along.
"""

from typing import Annotated, Any

import typer

from awa.cli.batch_control import OperationId
from awa.cli.batch_submit import (
    Follow,
    MaxJobs,
    NotBefore,
    Plan,
    Priority,
    Rate,
    Reason,
    Yes,
    refuse_unattended,
    say_how_to_go_on,
    say_submitted,
)
from awa.cli.confirm import confirm
from awa.cli.options import options_of
from awa.cli.output import Output, number
from awa.cli.render_operations import preview_page
from awa.cli.session import Session, run
from awa.cli.values import aware_time
from awa.model.limits import PRIORITY_DEFAULT, check_reason


def undo(
    context: typer.Context,
    operation_id: OperationId,
    *,
    only_look: Annotated[
        bool, typer.Option("--preview", help="Only count what it would put back.")
    ] = False,
    plan: Plan = None,
    yes: Yes = False,
    reason: Reason = None,
    priority: Priority = PRIORITY_DEFAULT,
    max_rows_per_second: Rate = None,
    not_before: NotBefore = None,
    max_jobs: MaxJobs = None,
    follow: Follow = False,
) -> None:
    """Show which jobs are as an operation left them, ask, and submit the operation that puts them back."""
    check_reason(reason)
    terms: dict[str, Any] = {
        "reason": reason,
        "priority": priority,
        "max_rows_per_second": max_rows_per_second,
        "not_before": aware_time(not_before, "--not-before"),
        "max_jobs": max_jobs,
    }
    if not yes and not only_look:
        refuse_unattended(
            Output(as_json=options_of(context).as_json),
            f"awa batch-ops undo {operation_id} --preview",
        )

    async def work(session: Session) -> None:
        session.if_interrupted = "Interrupted; nothing was submitted."
        client, out = session.client, session.out
        token = plan
        if only_look or not yes or not out.as_json:
            seen = await client.preview_undo_batch_operation(operation_id)
            if only_look and out.as_json:
                out.json(seen)
                return
            out.show(preview_page(seen))
            if only_look:
                say_how_to_go_on(out, seen, ["awa", "batch-ops", "undo", str(operation_id)])
                return
            if not yes:
                confirm(out, f"{number(seen['total_matched'], 'job')} will be put back. Submit?")
                token = plan or seen["plan_token"]
        row = await client.undo_batch_operation(operation_id, plan_token=token, **terms)
        await say_submitted(session, row, follow=follow)

    run(context, work)
