"""`awa cron …`: schedules, their next fires, and holding or firing one by hand."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer

from awa.cli.output import Column
from awa.cli.session import Session, run
from awa.model.cron import check_schedule_name

app = typer.Typer(help="Schedules: their next fires; hold or fire one.", no_args_is_help=True)

ScheduleName = Annotated[str, typer.Argument(metavar="NAME", help="The schedule's name.")]

_COLUMNS: Final = (
    Column("name", "NAME", plain=True, elastic=True),
    Column("cron_expr", "WHEN", plain=True),
    Column("timezone", "ZONE", plain=True),
    Column("next", "NEXT"),
    Column("queue", "QUEUE", plain=True),
    Column("last", "LAST JOB"),
    Column("state", ""),
)


@app.command("list")
def list_schedules(
    context: typer.Context,
    *,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that no program declares any more.")
    ] = False,
    limit: Annotated[int, typer.Option(help="At most so many.", min=1, max=1000)] = 100,
) -> None:
    """List schedules with their next fire and what became of their last job."""

    async def work(session: Session) -> None:
        rows = await session.client.list_cron_jobs(retired=everything, limit=limit)
        shown = rows if session.out.as_json else [_line(row) for row in rows]
        session.out.listing(
            shown, _COLUMNS, empty="No schedule is declared. A program does it: client.periodic(…)."
        )

    run(context, work)


@app.command("show")
def show(context: typer.Context, name: ScheduleName) -> None:
    """Show one schedule with its next fires."""
    check_schedule_name(name)

    async def work(session: Session) -> None:
        session.out.record(await session.client.get_cron_job(name))

    run(context, work)


@app.command("trigger")
def trigger(context: typer.Context, name: ScheduleName) -> None:
    """Enqueue a schedule's job now. Its times stay as they are; a paused schedule stays paused."""
    check_schedule_name(name)

    async def work(session: Session) -> None:
        job = await session.client.trigger_cron_job(name)
        told = {"name": name, "job_id": job.id, "queue": job.queue, "insertion": job.insertion}
        words = {
            "inserted": f"Enqueued job {job.id} of the schedule {name} into {job.queue}.",
            "replaced": f"Job {job.id} has the unique key and was replaced.",
            "ignored": f"Job {job.id} has the unique key and stays as it is.",
        }
        session.out.result(told, words[str(job.insertion)])

    run(context, work)


@app.command("pause")
def pause(
    context: typer.Context,
    name: ScheduleName,
    by: Annotated[str | None, typer.Option("--by", help="Who says so; shown in the list.")] = None,
) -> None:
    """Stop a schedule's fires. What it enqueued before is run."""
    check_schedule_name(name)

    async def work(session: Session) -> None:
        row = await session.client.pause_cron_job(name, paused_by=by)
        session.out.result(row, f"The schedule {name} is paused.")

    run(context, work)


@app.command("resume")
def resume(context: typer.Context, name: ScheduleName) -> None:
    """Let a paused schedule fire again, from its next time on."""
    check_schedule_name(name)

    async def work(session: Session) -> None:
        row = await session.client.resume_cron_job(name)
        session.out.result(row, f"The schedule {name} is not paused.")

    run(context, work)


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    """What fits into a line."""
    state = "" if row["state"] == "active" else row["state"]
    if row["paused_by"]:
        state = f"paused by {row['paused_by']}"
    if row["last_error"]:
        state = f"stands still: {row['last_error']}"
    last = f"{row['last_job_id']} {row['last_job_state'] or 'removed'}"
    following = row["next_fires"][0] if row["next_fires"] else "never"
    return {**row, "next": following, "last": last if row["last_job_id"] else "", "state": state}
