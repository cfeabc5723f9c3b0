"""`awa job …`: look at single jobs and change one at a time.

Changing many at once is `awa batch-ops`; these use the same set functions with a set of one.
"""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from awa.cli.output import Column, Output
from awa.cli.render import job_document, job_line, job_page
from awa.cli.session import Session, run
from awa.cli.unique import UniqueBy, unique_opts
from awa.cli.values import json_value, wrong
from awa.model.job import Job
from awa.model.states import JobState
from awa.operations import single, unique

app = typer.Typer(help="Look at single jobs and change them.", no_args_is_help=True)

JobId = Annotated[int, typer.Argument(metavar="ID", help="The job's id.", show_default=False)]

_COLUMNS = (
    Column("id", "ID", right=True, plain=True),
    Column("kind", "KIND", elastic=True),
    Column("queue", "QUEUE", elastic=True),
    Column("state", "STATE"),
    Column("priority", "PRIO", right=True),
    Column("attempts", "TRY", right=True),
    Column("run_at", "RUN AT"),
    Column("tags", "TAGS", elastic=True),
)


@app.command("list")
def list_jobs(
    context: typer.Context,
    *,
    state: Annotated[JobState | None, typer.Option(help="Only in this state.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only of this kind.")] = None,
    queue: Annotated[str | None, typer.Option(help="Only in this queue.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only with this tag.")] = None,
    limit: Annotated[int, typer.Option(help="At most so many.", min=1, max=1000)] = 20,
    before_id: Annotated[
        int | None, typer.Option(metavar="ID", help="Go on below this id (the next page).")
    ] = None,
) -> None:
    """List jobs, newest first."""

    async def work(session: Session) -> None:
        jobs = await session.client.list_jobs(
            state=state, kind=kind, queue=queue, tag=tag, limit=limit, before_id=before_id
        )
        _list(session.out, jobs, limit)

    run(context, work)


def _list(out: Output, jobs: Sequence[Job[Any]], limit: int) -> None:
    more = jobs[-1].id if len(jobs) == limit else None
    if out.as_json:
        out.json({"items": [job_document(job) for job in jobs], "next_before_id": more})
        return
    out.listing([job_line(job) for job in jobs], _COLUMNS, empty="No such jobs.")
    if more is not None:
        out.say(f"More: --before-id {more}", style="dim")


@app.command("show")
def show(context: typer.Context, job_id: JobId) -> None:
    """Show one job with all that is known of it."""

    async def work(session: Session) -> None:
        async with session.client.connection() as conn:
            job = await single.get_job(conn, job_id)
            key = await unique.told(conn, job_id, job.queue, job.state)
        if session.out.as_json:
            session.out.json({**job_document(job), "unique": key})
        else:
            session.out.show(job_page(job, key))

    run(context, work)


@app.command("cancel")
def cancel(
    context: typer.Context,
    *,
    job_id: Annotated[
        int | None,
        typer.Argument(metavar="[ID]", help="The job's id, unless --unique-by says which."),
    ] = None,
    unique_by: UniqueBy = None,
    kind: Annotated[str | None, typer.Option(help="Its kind, for --unique-by.")] = None,
    args: Annotated[
        str | None, typer.Option(metavar="JSON", help="Its arguments, for --unique-by, or @path.")
    ] = None,
    queue: Annotated[str | None, typer.Option(help="Its queue, for --unique-by queue.")] = None,
) -> None:
    """Cancel a job: at once if it waits, and if it runs, by asking its handler to stop."""
    if (job_id is None) is (unique_by is None):
        raise wrong("ID", "say which job, by its id or by --unique-by", "awa job cancel 41007")
    opts = unique_opts(unique_by)

    async def work(session: Session) -> None:
        if job_id is not None:
            job = await session.client.cancel(job_id)
        else:
            given = None if args is None else json_value(args, "--args")
            job = await session.client.cancel_by_unique_key(
                given, kind=kind, queue=queue, unique_opts=opts
            )
        _changed(session.out, job, f"Job {job.id} is {_state(job)}.")

    run(context, work)


@app.command("retry")
def retry(context: typer.Context, job_id: JobId) -> None:
    """Run a failed, cancelled, scheduled or retryable job now."""

    async def work(session: Session) -> None:
        job = await session.client.retry(job_id)
        _changed(session.out, job, f"Job {job_id} is {_state(job)} again.")

    run(context, work)


@app.command("set-priority")
def set_priority(
    context: typer.Context,
    job_id: JobId,
    priority: Annotated[int, typer.Argument(help="1 (first) to 4.")],
) -> None:
    """Give a waiting job another priority."""

    async def work(session: Session) -> None:
        job = await session.client.set_job_priority(job_id, priority)
        _changed(session.out, job, f"Job {job_id} has priority {priority}.")

    run(context, work)


@app.command("move")
def move(
    context: typer.Context,
    job_id: JobId,
    queue: Annotated[str, typer.Argument(help="The queue to move it to.")],
    priority: Annotated[int | None, typer.Option(help="And this priority, 1 to 4.")] = None,
) -> None:
    """Move a waiting job to another queue."""

    async def work(session: Session) -> None:
        job = await session.client.move_job(job_id, queue, priority=priority)
        _changed(session.out, job, f"Job {job_id} waits in the queue {queue}.")

    run(context, work)


def _state(job: Any) -> str:
    return str(job_document(job)["state"])


def _changed(out: Output, job: Any, words: str) -> None:
    out.result(job_document(job), words)
