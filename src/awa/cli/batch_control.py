"""`awa batch-ops pause`, `resume`, `change`, `cancel`, `hold` and `release`: control of operations that go on.

Each waits for the chunk that is under way, so when the command has returned, what it says is so.
"""

from typing import Annotated
from uuid import UUID

import typer

from awa.cli.render_operations import held_words, pace_words
from awa.cli.session import Session, run
from awa.cli.values import wrong
from awa.model.queue_limits import UNCHANGED
from awa.model.steering import Rate, operation_changes
from awa.operations import control

OperationId = Annotated[UUID, typer.Argument(metavar="ID", help="The operation's id.")]
Reason = Annotated[str | None, typer.Option(help="Why; kept with the operation.")]


def add_to(app: typer.Typer) -> None:
    """Hang these commands on their group."""
    app.command("pause")(pause)
    app.command("resume")(resume)
    app.command("change")(change)
    app.command("cancel")(cancel)
    app.command("hold")(hold)
    app.command("release")(release)


def pause(context: typer.Context, operation_id: OperationId, reason: Reason = None) -> None:
    """Stop an operation after its present chunk; it keeps its place, and can be resumed."""

    async def work(session: Session) -> None:
        row = await session.client.pause_batch_operation(operation_id, reason=reason)
        words = f"The operation {operation_id} is paused. Let it go on: awa batch-ops resume {operation_id}"
        session.out.result(row, words)

    run(context, work)


def resume(context: typer.Context, operation_id: OperationId, reason: Reason = None) -> None:
    """Let a paused operation go on where it was."""

    async def work(session: Session) -> None:
        row = await session.client.resume_batch_operation(operation_id, reason=reason)
        session.out.result(row, f"The operation {operation_id} is {row['state']}.")

    run(context, work)


def change(
    context: typer.Context,
    operation_id: OperationId,
    *,
    max_rows_per_second: Annotated[
        str | None, typer.Option(metavar="N|off", help="How many jobs it may change in a second.")
    ] = None,
    priority: Annotated[
        int | None, typer.Option(metavar="N", help="The operation's own priority, 1 (first) to 4.")
    ] = None,
    reason: Reason = None,
) -> None:
    """Make an operation faster or slower, or give it another priority of its own, while it goes on."""
    changes = operation_changes(_rate(max_rows_per_second), priority)

    async def work(session: Session) -> None:
        row = await session.client.change_batch_operation(operation_id, **changes, reason=reason)
        session.out.result(row, f"The operation {operation_id} goes {pace_words(row)}.")

    run(context, work)


def cancel(context: typer.Context, operation_id: OperationId, reason: Reason = None) -> None:
    """Stop an operation at its next chunk, for good. What it has changed, stays changed."""

    async def work(session: Session) -> None:
        days = session.client.settings.batch_op_retention_days
        async with session.client.connection() as conn:
            row = await control.cancel(conn, operation_id, reason=reason, retention_days=days)
        session.out.result(row, f"The operation {operation_id} is {row['state']}.")

    run(context, work)


def hold(
    context: typer.Context,
    reason: Annotated[str | None, typer.Option(help="Why; shown to everybody.")] = None,
) -> None:
    """Hold all operations after their present chunks, until they are released. Jobs are run as ever."""

    async def work(session: Session) -> None:
        row = await session.client.hold_batch_operations(reason=reason)
        session.out.result(row, f"{held_words(row)} Let them go on: awa batch-ops release")

    run(context, work)


def release(
    context: typer.Context,
    reason: Annotated[str | None, typer.Option(help="Why; kept on record.")] = None,
) -> None:
    """Let operations go on that were held. Paused ones stay paused."""

    async def work(session: Session) -> None:
        row = await session.client.release_batch_operations(reason=reason)
        session.out.result(row, "Batch operations go on.")

    run(context, work)


def _rate(text: str | None) -> Rate:
    if text is None:
        return UNCHANGED
    if text == "off":
        return None
    if not (text.isascii() and text.isdecimal()):
        message = f"--max-rows-per-second is {text!r}, neither a number nor off"
        raise wrong("--max-rows-per-second", message)
    return int(text)
