"""`awa maintenance run`: keep house without running a single handler."""

import typer

from awa.cli.logs import log_to_stderr
from awa.cli.options import options_of
from awa.cli.session import run as run_command
from awa.cli.worker import work

app = typer.Typer(help="Keep house: promote, rescue, rotate, move.", no_args_is_help=True)


@app.callback()
def _maintenance() -> None:
    """Keep house: promote, rescue, rotate, carry out batch operations."""


@app.command("run")
def run(context: typer.Context) -> None:
    """Keep house until Ctrl-C or SIGTERM. Several may run; one leads, the others stand by."""
    log_to_stderr(debug=options_of(context).debug)
    run_command(context, lambda session: work(session, (), ["maintenance"]))
