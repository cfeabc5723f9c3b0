"""`awa demo`: the whole story on a server of its own, which is gone afterwards."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from awa.cli.complaints import Interrupted
from awa.cli.demo_stage import JsonStage, TerminalStage
from awa.cli.options import options_of
from awa.cli.output import Output
from awa.cli.until_told import take_sigterm_for_ctrl_c
from awa.cli.values import wrong
from awa.dev.stage import Stage
from awa.model.errors import AwaError


class SumsDoNotComeOut(AwaError):
    """The demo's final check failed."""

    code = "sums"


def demo(
    context: typer.Context,
    rounds: Annotated[
        int,
        typer.Option(
            metavar="N", help="How often the 255 deliveries are enqueued.", min=1, max=4000
        ),
    ] = 200,
) -> None:
    """Enqueue 51,000 real jobs, move most while they run, kill the worker, account for every job."""
    options = options_of(context)
    if options.database_url:
        raise wrong(
            "--database-url", "the demo starts a server of its own", "Leave --database-url out."
        )
    take_sigterm_for_ctrl_c()
    out = Output(as_json=options.as_json)
    stage = JsonStage(out) if out.as_json else TerminalStage(out)
    try:
        comes_out = _play(stage, rounds)
    except KeyboardInterrupt:
        raise Interrupted(
            "Interrupted; the demo's server and its processes are stopped and its data is gone."
        ) from None
    if not comes_out:
        raise SumsDoNotComeOut("the sums do not come out; the lines marked FAIL say which")


def _play(stage: Stage, rounds: int) -> bool:
    from awa.dev.demo import Demo
    from awa.dev.demo_plan import Plan
    from awa.dev.temporary import temporary_server

    stage.step(
        "Start a PostgreSQL of our own",
        "Nothing needs to be installed: the server's programs come from a Python package. It lives "
        "in a temporary folder, listens on a Unix socket only, and is gone when the demo ends.",
    )
    with temporary_server() as server, TemporaryDirectory(prefix="awa-demo-") as folder:
        stage.say(
            f"PostgreSQL {server.binaries.version} runs in {server.data_dir} as process {server.pid}."
        )
        return asyncio.run(Demo(server.url(), Path(folder), stage, Plan(rounds=rounds)).play())
