"""`awa queue …`: what waits where, and holding a queue or emptying it."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from awa.cli.confirm import confirm
from awa.cli.output import Column, number
from awa.cli.progress import clock
from awa.cli.session import Session, run
from awa.cli.values import wrong
from awa.model.errors import NotFound
from awa.model.limits import check_queue
from awa.model.queue_limits import limit_words, rate_words, read_rate
from awa.storage import queues

app = typer.Typer(help="What waits where; hold a queue or empty it.", no_args_is_help=True)

QueueName = Annotated[str, typer.Argument(metavar="QUEUE", help="The queue's name.")]

_COLUMNS: Final = (
    Column("queue", "QUEUE", plain=True, elastic=True),
    Column("available", "AVAIL", right=True),
    Column("scheduled", "SCHED", right=True),
    Column("retryable", "RETRY", right=True),
    Column("running", "RUN", right=True),
    Column("waiting_external", "WAIT", right=True),
    Column("completed", "DONE", right=True),
    Column("failed", "FAILED", right=True),
    Column("cancelled", "CANC", right=True),
    Column("oldest", "OLDEST", right=True),
    Column("limits", "LIMITS"),
    Column("paused", ""),
)


@app.command("list")
def list_queues(context: typer.Context) -> None:
    """List the queues and what is in them."""
    run(context, _list)


@app.command("stats")
def stats(
    context: typer.Context,
    queue: Annotated[
        str | None, typer.Argument(metavar="[QUEUE]", help="One queue, or all as in the list.")
    ] = None,
) -> None:
    """Show all figures of one queue."""
    if queue is None:
        run(context, _list)
        return
    check_queue(queue)

    async def work(session: Session) -> None:
        found = await session.client.queue_stats(queue)
        if not found:
            raise _unknown(queue)
        session.out.record(found[0])

    run(context, work)


async def _list(session: Session) -> None:
    rows = await session.client.queue_stats()
    shown = rows if session.out.as_json else [_line(row) for row in rows]
    session.out.listing(shown, _COLUMNS, empty="No queue has ever held a job.")


@app.command("pause")
def pause(
    context: typer.Context,
    queue: QueueName,
    by: Annotated[str | None, typer.Option("--by", help="Who says so; shown in the list.")] = None,
) -> None:
    """Stop handing out jobs of a queue, of one yet to come too. What runs, runs on; new jobs pile up."""
    check_queue(queue)

    async def work(session: Session) -> None:
        async with session.client.connection() as conn:
            known = await queues.exists(conn, queue)
        row = await session.client.pause_queue(queue, paused_by=by)
        new = (
            ""
            if known
            else " Nothing has ever been put into it; if that's a surprise, see: awa queue list"
        )
        session.out.result(row, f"The queue {queue} is paused.{new}")

    run(context, work)


@app.command("resume")
def resume(context: typer.Context, queue: QueueName) -> None:
    """Hand out jobs of a paused queue again."""
    check_queue(queue)

    async def work(session: Session) -> None:
        row = await session.client.resume_queue(queue)
        session.out.result(row, f"The queue {queue} is not paused.")

    run(context, work)


@app.command("limit")
def limit(
    context: typer.Context,
    queue: QueueName,
    *,
    max_running: Annotated[
        str | None,
        typer.Option(metavar="N|off", help="How many jobs all workers together may run at once."),
    ] = None,
    rate: Annotated[
        str | None,
        typer.Option(
            metavar="RATE|off",
            help="How many they may begin in a time: 100/s, 20/min, 1000/h, 5/10s.",
        ),
    ] = None,
) -> None:
    """Limit a queue for all workers together, or see its limits. What runs, runs on."""
    check_queue(queue)
    changes = _limits(max_running, rate)

    async def work(session: Session) -> None:
        if not changes:
            found = await session.client.queue_stats(queue)
            if not found:
                raise _unknown(queue)
            (row,) = found
        else:
            row = await session.client.set_queue_limits(queue, **changes)
        limits = {name: row[name] for name in ("max_running", "rate_limit", "rate_period_s")}
        session.out.result({"queue": queue, **limits}, f"The queue {queue} {limit_words(limits)}.")

    run(context, work)


def _limits(max_running: str | None, rate: str | None) -> dict[str, Any]:
    """What the options say, as arguments of `set_queue_limits`."""
    changes: dict[str, Any] = {}
    if max_running is not None:
        if max_running != "off" and not max_running.isdecimal():
            message = f"--max-running is {max_running!r}, neither a number nor off"
            raise wrong("--max-running", message)
        changes["max_running"] = None if max_running == "off" else int(max_running)
    if rate == "off":
        changes["rate_limit"] = None
    elif rate is not None:
        changes["rate_limit"], changes["rate_period_seconds"] = read_rate(rate, field="rate")
    return changes


@app.command("drain")
def drain(
    context: typer.Context,
    queue: QueueName,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
    reason: Annotated[str | None, typer.Option(help="Why; kept with each job.")] = None,
) -> None:
    """Cancel everything that waits in a queue. What runs, runs on."""
    check_queue(queue)

    async def work(session: Session) -> None:
        session.if_interrupted = "Interrupted; nothing was cancelled."
        async with session.client.connection() as conn:
            if not await queues.exists(conn, queue):
                raise _unknown(queue)
        if not yes:
            confirm(session.out, f"Cancel everything that waits in the queue {queue}?")
        session.if_interrupted = (
            "Interrupted; what was cancelled so far, is. Run it again to go on."
        )
        drained = await session.client.drain_queue(queue, reason=reason)
        words = f"Cancelled {number(drained, 'waiting job')} of the queue {queue}."
        session.out.result({"queue": queue, "cancelled": drained}, words)

    run(context, work)


def _unknown(queue: str) -> NotFound:
    return NotFound(f"no queue {queue!r} has ever held a job", hint="See: awa queue list")


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    """What fits into a line."""
    age_s = row["oldest_available_age_s"]
    by = f" by {row['paused_by']}" if row["paused_by"] else ""
    return {
        **row,
        "oldest": None if age_s is None else clock(age_s),
        "limits": _short_limits(row),
        "paused": f"paused{by}" if row["paused"] else "",
    }


def _short_limits(row: Mapping[str, Any]) -> str:
    running = [f"{row['max_running']} at once"] if row["max_running"] else []
    rate = [rate_words(row["rate_limit"], row["rate_period_s"])] if row["rate_limit"] else []
    return ", ".join(running + rate)
