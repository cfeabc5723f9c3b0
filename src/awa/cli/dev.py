"""`awa dev`: something to play with in one command."""

import asyncio
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Final

import typer

from awa.cli.complaints import Interrupted
from awa.cli.options import options_of
from awa.cli.output import Output, number
from awa.cli.session import embedded_data_dir
from awa.cli.until_told import take_sigterm_for_ctrl_c
from awa.cli.values import wrong
from awa.dev.run import Running, run_dev
from awa.dev.seed import WAITING_QUEUE, WORKED_QUEUE

_MOVE: Final = (
    "awa --embedded batch-ops submit --op-kind move_queue --watch \\",
    f"""    --filter '{{"queue": "{WAITING_QUEUE}", "tag": "repo:Codertocat/Hello-World"}}' \\""",
    """    --spec '{"queue": "hello-world"}'""",
)
TO_TRY: Final = (
    "awa --embedded queue list",
    "awa --embedded job list --limit 5",
    *_MOVE,
    "awa --embedded doctor",
)


def dev(
    context: typer.Context,
    port: Annotated[
        int, typer.Option(help="Where the console and the HTTP API listen.", min=1, max=65535)
    ] = 8080,
    *,
    api: Annotated[
        bool, typer.Option("--api/--no-api", help="Serve the console and the HTTP API too.")
    ] = True,
) -> None:
    """Run an embedded server, a worker, housekeeping and the console, with jobs coming in, until Ctrl-C."""
    from awa.dev.postgres import start_server

    options = options_of(context)
    if options.database_url:
        raise wrong("--database-url", "dev starts a server of its own", "Leave --database-url out.")
    take_sigterm_for_ctrl_c()
    out = Output(as_json=options.as_json)
    served_port = port if api and find_spec("uvicorn") is not None else None
    try:
        with (
            start_server(embedded_data_dir()) as server,
            TemporaryDirectory(prefix="awa-dev-") as folder,
        ):
            out.say(f"PostgreSQL {server.binaries.version} runs in {server.data_dir}.")
            work = run_dev(
                server.url(),
                Path(folder),
                port=served_port,
                announce=lambda running: _announce(out, running),
            )
            asyncio.run(work)
    except KeyboardInterrupt:
        raise Interrupted("Stopped; the data is kept for the next time.") from None


def _announce(out: Output, running: Running) -> None:
    if out.as_json:
        out.json(asdict(running))
        return
    if running.console:
        out.literally(f"Console   {running.console}", style="bold")
    out.literally(f"Database  {running.url}")
    out.literally(f"Worker    process {running.worker_pid}, on the queue {WORKED_QUEUE}")
    if running.seeded:
        out.say(f"Seeded with {number(running.seeded, 'job')}; {WAITING_QUEUE} waits for you.")
    out.say("\nTry in another terminal:", style="bold")
    for command in TO_TRY:
        out.literally(f"  {command}", style="cyan")
    out.say("\nCtrl-C stops everything and keeps the data.")
