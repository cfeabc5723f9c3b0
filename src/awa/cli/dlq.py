"""`awa dlq …`: dead letters, which are failed jobs that wait for somebody to look at them."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, Final, TypedDict

import typer

from awa.cli.confirm import confirm
from awa.cli.output import Column, number
from awa.cli.progress import progress
from awa.cli.session import Session, run
from awa.cli.values import aware_time, time_or_date, wrong
from awa.db.run import Connection
from awa.model.errors import NotConfirmed
from awa.model.limits import check_queue
from awa.operations import dead_letters
from awa.storage import dead_letters as storage
from awa.storage.dead_letters import Which

app = typer.Typer(help="Dead letters: see, retry, purge.", no_args_is_help=True)

Queue = Annotated[str | None, typer.Option(help="Only of this queue.")]
Kind = Annotated[str | None, typer.Option(help="Only of this kind.")]
Fingerprint = Annotated[str | None, typer.Option(help="Only with this cause; see: awa dlq depth.")]
Reason = Annotated[
    str | None, typer.Option(help=f"Only for this reason: {', '.join(dead_letters.REASONS)}.")
]
Before = Annotated[
    str | None, typer.Option(metavar="DATE", help="Only dead since before: 2026-03-01, or a time.")
]
Everything = Annotated[bool, typer.Option("--all", help="All dead letters.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]

_LETTERS: Final = (
    Column("id", "ID", right=True, plain=True),
    Column("dlq_at", "SINCE"),
    Column("kind", "KIND", plain=True, elastic=True),
    Column("queue", "QUEUE", plain=True, elastic=True),
    Column("tries", "TRY", right=True, plain=True),
    Column("fingerprint", "CAUSE", plain=True),
    Column("error", "ERROR", elastic=True),
)
_DEPTHS: Final = (
    Column("queue", "QUEUE", plain=True, elastic=True),
    Column("depth", "DEPTH", right=True),
    Column("oldest_at", "OLDEST"),
    Column("newest_at", "NEWEST"),
    Column("kept", ""),
)
_GROUPS: Final = (
    Column("depth", "DEPTH", right=True),
    Column("kind", "KIND", plain=True, elastic=True),
    Column("fingerprint", "CAUSE", plain=True),
    Column("newest_at", "NEWEST"),
    Column("error", "ERROR", elastic=True),
)


@app.command("list")
def list_letters(
    context: typer.Context,
    *,
    queue: Queue = None,
    kind: Kind = None,
    fingerprint: Fingerprint = None,
    reason: Reason = None,
    before: Before = None,
    limit: Annotated[int, typer.Option(help="At most so many.", min=1, max=1000)] = 20,
    cursor: Annotated[str | None, typer.Option(help="The next page, as the last one said.")] = None,
) -> None:
    """List dead letters, newest first."""
    chosen = _chosen(queue, kind, fingerprint, reason, before)

    async def work(session: Session) -> None:
        async with session.client.connection() as conn:
            rows, more = await dead_letters.page(conn, chosen, limit=limit, cursor=cursor)
        shown = rows if session.out.as_json else [_line(row) for row in rows]
        session.out.page(shown, _LETTERS, empty="No such dead letters.", more=more)

    run(context, work)


@app.command("depth")
def depth(context: typer.Context, queue: Queue = None) -> None:
    """Show how many there are, by queue and by cause."""

    async def work(session: Session) -> None:
        async with session.client.connection() as conn:
            queues = [row for row in await storage.depth(conn) if queue in (None, row["queue"])]
            causes = await storage.groups(conn, queue=queue)
        if session.out.as_json:
            session.out.json({"queues": queues, "causes": causes})
            return
        nothing = "No queue keeps dead letters. Switch it on: awa dlq keep QUEUE"
        shown = [{**row, "kept": "" if row["enabled"] else "switched off"} for row in queues]
        session.out.listing(shown, _DEPTHS, empty=nothing)
        if causes:
            session.out.say("")
            session.out.listing(causes, _GROUPS, empty="")

    run(context, work)


@app.command("keep")
def keep(
    context: typer.Context,
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="The queue's name.")],
    *,
    off: Annotated[bool, typer.Option("--off", help="No more from now on.")] = False,
) -> None:
    """Keep jobs of a queue that fail from now on as dead letters."""
    check_queue(queue)

    async def work(session: Session) -> None:
        row = await session.client.set_dlq(queue, not off)
        words = "no longer become" if off else "become"
        session.out.result(row, f"Jobs of the queue {queue} that fail {words} dead letters.")

    run(context, work)


@app.command("retry")
def retry(
    context: typer.Context,
    job_id: Annotated[
        int | None, typer.Argument(metavar="[ID]", help="One job; or choose by the options.")
    ] = None,
    *,
    queue: Queue = None,
    kind: Kind = None,
    fingerprint: Fingerprint = None,
    reason: Reason = None,
    before: Before = None,
    everything: Everything = False,
    to_queue: Annotated[str | None, typer.Option(help="Into this queue.")] = None,
    priority: Annotated[int | None, typer.Option(help="With this priority, 1 to 4.")] = None,
    run_at: Annotated[str | None, typer.Option(help="Not before: 2026-06-01T12:00:00Z.")] = None,
    yes: Yes = False,
) -> None:
    """Give dead letters all their attempts again, one or all that match."""
    way: _Way = {"queue": to_queue, "priority": priority, "run_at": aware_time(run_at, "--run-at")}
    chosen = _chosen(queue, kind, fingerprint, reason, before)
    if job_id is not None and (everything or chosen != Which()):
        raise wrong(
            "ID",
            "an ID and a choice were given: --queue, --kind, --fingerprint, --reason, --before and --all choose among all letters",
            "For where the one goes say --to-queue and --priority.",
        )
    kept: list[int] = []

    async def one(session: Session, letter: int) -> None:
        job = await session.client.retry_from_dlq(letter, **way)
        words = f"Job {letter} is {job.state} in the queue {job.queue} again."
        session.out.result({"id": letter, "state": str(job.state), "queue": job.queue}, words)

    async def chunk(conn: Connection, seen: Which, above: int) -> tuple[int, int | None]:
        return await dead_letters.retry_chunk(conn, seen, above=above, kept=kept, **way)

    async def work(session: Session) -> None:
        if job_id is not None:
            await one(session, job_id)
        else:
            _refuse_everything(chosen, everything, "retry")
            done = await _go_on(session, chosen, "Retry", yes, chunk)
            told = f" {len(kept):,} stay: other jobs have their unique keys." if kept else ""
            session.out.result(
                {"retried": done, "kept": len(kept)},
                f"Retried {number(done, 'dead letter')}.{told}",
            )

    run(context, work)


@app.command("purge")
def purge(
    context: typer.Context,
    *,
    queue: Queue = None,
    kind: Kind = None,
    fingerprint: Fingerprint = None,
    reason: Reason = None,
    before: Before = None,
    everything: Everything = False,
    yes: Yes = False,
) -> None:
    """Delete dead letters for good."""
    chosen = _chosen(queue, kind, fingerprint, reason, before)

    async def chunk(conn: Connection, seen: Which, above: int) -> tuple[int, int | None]:
        return await dead_letters.purge_chunk(conn, seen, above=above)

    async def work(session: Session) -> None:
        _refuse_everything(chosen, everything, "purge")
        done = await _go_on(session, chosen, "Delete for good", yes, chunk)
        session.out.result({"purged": done}, f"Deleted {number(done, 'dead letter')}.")

    run(context, work)


class _Way(TypedDict):
    """Where retried ones go."""

    queue: str | None
    priority: int | None
    run_at: datetime | None


async def _go_on(
    session: Session,
    chosen: Which,
    deed: str,
    yes: bool,
    chunk: Callable[[Connection, Which, int], Awaitable[tuple[int, int | None]]],
) -> int:
    """Ask, then do what was counted, chunk by chunk; answers how many."""
    session.if_interrupted = "Interrupted; nothing was done."
    async with session.client.connection() as conn:
        seen = await dead_letters.frozen(conn, chosen)
        total = await storage.count(conn, seen)
        if not yes and total:
            confirm(session.out, f"{deed} {number(total, 'dead letter')}?")
        session.if_interrupted = "Interrupted; what was done so far, is. Run it again to go on."
        with progress(session.out, deed, total=total, unit="dead letter") as bar:

            def tell(done: int) -> bool:
                bar.at(done)
                return True

            done, _more = await dead_letters.chunk_by_chunk(
                lambda above: chunk(conn, seen, above), goes_on=tell
            )
    return done


def _chosen(
    queue: str | None,
    kind: str | None,
    fingerprint: str | None,
    reason: str | None,
    before: str | None,
) -> Which:
    moment = None if before is None else time_or_date(before, "--before")
    return dead_letters.which(
        queue=queue, kind=kind, fingerprint=fingerprint, reason=reason, before=moment
    )


def _refuse_everything(chosen: Which, everything: bool, deed: str) -> None:
    if chosen == Which() and not everything:
        raise NotConfirmed(
            f"this would {deed} every dead letter", hint="Choose some, or say --all if you mean it."
        )


def _line(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "tries": f"{row['attempt']}/{row['max_attempts']}"}
