"""`awa batch-ops …`: durable changes of many waiting jobs, and what became of each."""

from typing import Annotated

import typer

from awa.cli import batch_control, batch_submit, batch_undo
from awa.cli import watch as watching
from awa.cli.batch_control import OperationId
from awa.cli.confirm import confirm
from awa.cli.output import number
from awa.cli.render_operations import (
    ITEM_COLUMNS,
    held_words,
    operation_columns,
    operation_line,
    operation_page,
)
from awa.cli.session import Session, run
from awa.cli.values import time_or_date
from awa.model.states import ItemState, OperationState
from awa.operations import read, retention, switch

app = typer.Typer(
    help="Change many waiting jobs at once, durably and accounted for.", no_args_is_help=True
)
app.command("preview")(batch_submit.preview)
app.command("submit")(batch_submit.submit)

Limit = Annotated[int, typer.Option(help="At most so many.", min=1, max=1000)]
Cursor = Annotated[
    str | None, typer.Option(metavar="CURSOR", help="Go on where the last page ended.")
]


@app.command("list")
def list_operations(
    context: typer.Context,
    *,
    state: Annotated[OperationState | None, typer.Option(help="Only in this state.")] = None,
    limit: Limit = 20,
    cursor: Cursor = None,
) -> None:
    """List operations, newest first."""

    async def work(session: Session) -> None:
        async with session.client.connection() as conn:
            rows, more = await read.operations_page(conn, state=state, limit=limit, cursor=cursor)
            hold = await switch.present(conn)
        out = session.out
        if hold["held"]:
            out.say(held_words(hold), style="yellow")
        shown = rows if out.as_json else [operation_line(row) for row in rows]
        columns = operation_columns(out.console.width)
        out.page(shown, columns, empty="No such batch operations.", more=more)

    run(context, work)


@app.command("show")
def show(context: typer.Context, operation_id: OperationId) -> None:
    """Show one operation: who, what, how far, and the totals by reason."""

    async def work(session: Session) -> None:
        async with session.client.connection() as conn:
            row = await read.get(conn, operation_id)
            events = await read.events(conn, operation_id)
        if session.out.as_json:
            session.out.json({**row, "events": events})
        else:
            session.out.show(operation_page(row, events))

    run(context, work)


@app.command("items")
def items(
    context: typer.Context,
    operation_id: OperationId,
    *,
    outcome: Annotated[ItemState | None, typer.Option(help="Only with this outcome.")] = None,
    reason: Annotated[str | None, typer.Option(help="Only for this reason.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> None:
    """List the jobs of an operation and what became of each."""

    async def work(session: Session) -> None:
        async with session.client.connection() as conn:
            rows, more = await read.items_page(
                conn, operation_id, outcome=outcome, reason=reason, limit=limit, cursor=cursor
            )
        session.out.page(rows, ITEM_COLUMNS, empty="No such items.", more=more)

    run(context, work)


@app.command("watch")
def watch(context: typer.Context, operation_id: OperationId) -> None:
    """Follow an operation until it ends. Ctrl-C stops only the watching."""
    run(context, lambda session: watching.watch(session, operation_id))


batch_control.add_to(app)
app.command("undo")(batch_undo.undo)


@app.command("purge")
def purge(
    context: typer.Context,
    before: Annotated[
        str,
        typer.Option(
            metavar="DATE", help="Ended before this: 2026-03-01 (midnight UTC) or a full time."
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
) -> None:
    """Delete the records of operations that ended before a date. Active ones are never touched."""
    moment = time_or_date(before, "--before")

    async def work(session: Session) -> None:
        if not yes:
            confirm(session.out, f"Delete the records of operations that ended before {moment}?")
        session.if_interrupted = "Interrupted; what was deleted so far, is. Run it again to go on."
        async with session.client.connection() as conn:
            purged = await retention.purge(conn, moment)
        words = f"Deleted the records of {number(purged, 'operation')}."
        session.out.result({"purged": purged, "before": moment}, words)

    run(context, work)
