"""`awa migrate`: bring the schema up to this program, or say what that would do."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated

import typer

from awa.cli.complaints import Interrupted
from awa.cli.options import Options, options_of
from awa.cli.output import Output
from awa.cli.session import database
from awa.db.migrate import migrate as apply_pending
from awa.db.migrate import pending, render_sql
from awa.db.pool import connect
from awa.db.run import Connection
from awa.sql.catalog import LANES, Storage


def migrate(
    context: typer.Context,
    sql: Annotated[
        bool, typer.Option("--sql", help="Print the SQL for an empty database; touch nothing.")
    ] = False,
    storage: Annotated[
        Storage | None,
        typer.Option(
            "--storage",
            help="What a new schema keeps its jobs in: lanes (the default) or one canonical table.",
            show_default=False,
        ),
    ] = None,
    only_pending: Annotated[
        bool, typer.Option("--pending", help="List what would be applied; touch nothing.")
    ] = False,
) -> None:
    """Create or upgrade the schema. Running it again does nothing."""
    options = options_of(context)
    out = Output(as_json=options.as_json)
    if sql:
        _print_sql(out, render_sql(storage or LANES))
    elif only_pending:
        names = _on_database(options, partial(pending, storage=storage))
        words = "\n".join(f"would apply {name}" for name in names) or "Nothing is pending."
        out.result({"pending": names}, words)
    else:
        names = _on_database(options, partial(apply_pending, storage=storage))
        words = "\n".join(f"applied {name}" for name in names) or "The schema is up to date."
        out.result({"applied": names}, words)


def _print_sql(out: Output, script: str) -> None:
    if out.as_json:
        out.json({"sql": script})
    else:
        # As it is, for a file or psql: no wrapping, no colour.
        sys.stdout.write(script)


def _on_database(options: Options, work: Callable[[Connection], Awaitable[list[str]]]) -> list[str]:
    async def main(url: str) -> list[str]:
        async with await connect(url) as conn:
            return await work(conn)

    with database(options) as url:
        try:
            return asyncio.run(main(url))
        except KeyboardInterrupt:
            raise Interrupted("Interrupted; the schema is as it was.") from None
