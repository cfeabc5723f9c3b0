"""`awa storage`: which of the two storages a schema has, and the way from one to the other."""

from typing import Annotated

import typer

from awa.cli.confirm import confirm
from awa.cli.output import number
from awa.cli.session import Session, run
from awa.config import Settings
from awa.db import run as statements
from awa.db.convert import convert_to_lanes

app = typer.Typer(help="See what jobs are stored in, or convert it.", no_args_is_help=True)

_WORDS = {
    "lanes": "append-only lanes: claims and completions append, no job row is updated",
    "canonical": "one ordinary table: claims and completions update the job's row",
}


@app.callback()
def _storage() -> None:
    """See which storage this schema has; convert canonical to lanes."""


@app.command("status")
def status(context: typer.Context) -> None:
    """Which storage this schema has, and how much it holds."""
    run(context, _status)


async def _status(session: Session) -> None:
    async with session.client.connection() as conn:
        found = await statements.row(conn, "convert/storage")
    assert found is not None
    about = found["rows_about"]
    rows = "rows not estimated yet" if about is None else f"about {number(about, 'row')} in lanes"
    words = (
        f"{found['storage']}: {_WORDS[found['storage']]}.\n{rows}, {found['bytes'] / 1e6:,.1f} MB"
    )
    if found["storage"] == "canonical":
        words += "\nawa storage convert turns it into lanes, with workers stopped."
    session.out.result(found, words)


@app.command("convert")
def convert(
    context: typer.Context,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
) -> None:
    """Turn the canonical storage into lanes: workers stopped, all in one transaction, counted before and after."""
    run(context, lambda session: _convert(session, yes=yes))


async def _convert(session: Session, *, yes: bool) -> None:
    out = session.out
    if not yes:
        confirm(
            out, "Convert to lanes? Rights granted on the schema's tables have to be granted anew."
        )
    session.if_interrupted = "Interrupted; the schema is as it was."

    def say(words: str) -> None:
        if not out.as_json:
            out.say(f"{words} …", style="dim")

    async with session.client.connection() as conn:
        done = await convert_to_lanes(conn, stale_s=Settings.from_env().runtime_stale_s, say=say)
    by_state = ", ".join(f"{jobs:,} {state}" for state, jobs in sorted(done.by_state.items()))
    out.result(
        {"storage": "lanes", "jobs": done.jobs, "by_state": done.by_state},
        f"Converted: {number(done.jobs, 'job')} before and after ({by_state or 'none'}).",
    )
