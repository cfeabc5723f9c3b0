"""The `awa` program: which commands there are, and the one way in and out of them."""

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated

import typer

from awa.cli import exits
from awa.cli.complaints import complain
from awa.cli.options import check_options, take_options

GLOBAL_OPTIONS_HELP = (
    "Where the database is, and --json, may be said anywhere in the line: "
    "`awa job list --json --embedded`. The URL also comes from AWA_DATABASE_URL, DATABASE_URL "
    'or a context file (.awa/context.toml: database_url = "…").'
)

app = typer.Typer(
    name="awa",
    help="A PostgreSQL-native job queue: work, look, and change what waits, at scale and accounted for.",
    epilog=GLOBAL_OPTIONS_HELP,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; `awa` and `python -m awa` come here."""
    options, rest = take_options(sys.argv[1:] if arguments is None else arguments)
    try:
        check_options(options)
        _add_commands()
        command = typer.main.get_command(app)
        status = command(args=rest, prog_name="awa", standalone_mode=False, obj=options)
    except BrokenPipeError:
        return _reader_left()
    except (Exception, KeyboardInterrupt) as error:
        return complain(error, as_json=options.as_json, debug=options.debug)
    return status if isinstance(status, int) else exits.DONE


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"awa {version('awa-jobs')}")
        raise typer.Exit(exits.DONE)


@app.callback()
def _awa(
    *,
    database_url: Annotated[
        str | None, typer.Option("--database-url", metavar="URL", help="postgresql://…")
    ] = None,
    embedded: Annotated[
        bool, typer.Option("--embedded", help="A PostgreSQL of your own (in AWA_DATA_DIR).")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON lines instead of tables.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks (AWA_DEBUG).")] = False,
    say_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_say_version, is_eager=True, help="Say which version this is."
        ),
    ] = False,
) -> None:
    # The four global options stand here for --help; main() has taken them out of the line already.
    del database_url, embedded, as_json, debug, say_version


def _add_commands() -> None:
    """Hang the commands on the program. They are imported here, so that importing this module is cheap."""
    from awa.cli.groups import add_groups

    if not app.registered_groups:
        add_groups(app)


def _reader_left() -> int:
    """`awa job list | head -1`: end quietly, and keep Python from complaining at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exits.BROKEN_PIPE
