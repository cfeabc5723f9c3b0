"""What a command works with: a client on the right database, and somewhere to speak.

`run` is the one bridge from the command line to asyncio. It finds the database (or starts the
embedded one), refuses a schema that does not fit, and puts everything away again, also when Ctrl-C
comes in between; the command says in `if_interrupted` what that leaves behind.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

import typer

from awa.cli.complaints import Interrupted
from awa.cli.options import Options, options_of
from awa.cli.output import Output
from awa.cli.urls import URL_VARIABLES, find_url
from awa.client import AsyncClient
from awa.db.migrate import check_schema

T = TypeVar("T")

DATA_DIR_VARIABLE: Final = "AWA_DATA_DIR"


@dataclass(slots=True)
class Session:
    """One command's run."""

    client: AsyncClient
    out: Output
    if_interrupted: str = "Interrupted."


def run(
    context: typer.Context, work: Callable[[Session], Awaitable[T]], *, must_fit: bool = True
) -> T:
    """Run a command's work against the database that the options name.

    Unless told otherwise, a schema that does not fit this program is refused first.
    """
    options = options_of(context)
    with database(options) as url:
        return run_client(AsyncClient(url), options, work, must_fit=must_fit)


def run_client(
    client: AsyncClient,
    options: Options,
    work: Callable[[Session], Awaitable[T]],
    *,
    must_fit: bool = True,
) -> T:
    """Run a command's work with this client, and close it."""
    session = Session(client, Output(as_json=options.as_json))

    async def main() -> T:
        async with client:
            if must_fit:
                async with client.connection() as conn:
                    await check_schema(conn)
            return await work(session)

    try:
        return asyncio.run(main())
    except KeyboardInterrupt:
        raise Interrupted(session.if_interrupted) from None


@contextmanager
def database(options: Options) -> Iterator[str]:
    """The URL to work with; for --embedded the server runs as long as the block does."""
    if not options.embedded:
        yield find_url(options.database_url)
        return
    from awa.dev.postgres import start_server

    with start_server(embedded_data_dir()) as server:
        yield server.url()


def embedded_data_dir() -> Path:
    """Where the embedded server of --embedded and `awa dev` keeps its data."""
    from awa.dev.account import default_data_dir

    named = os.environ.get(DATA_DIR_VARIABLE)
    return Path(named) if named else default_data_dir()


def tell_children(url: str) -> None:
    """Programs and modules that this process starts or imports find the same database."""
    os.environ[URL_VARIABLES[0]] = url
