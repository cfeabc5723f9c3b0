"""`awa serve`: the console and the HTTP API, on this machine only unless told otherwise."""

from typing import Annotated

import typer

from awa.cli.logs import log_to_stderr
from awa.cli.options import options_of
from awa.cli.session import Session, run
from awa.cli.until_told import until_told


def serve(
    context: typer.Context,
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="The port to listen on; 0 takes a free one.", min=0, max=65535)
    ] = 8080,
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Answer questions, change nothing.")
    ] = False,
    root_path: Annotated[
        str, typer.Option(help="The path of a proxy below which it is reached, such as /ops/awa.")
    ] = "",
) -> None:
    """Serve the console and the HTTP API until Ctrl-C. Tokens come from AWA_API_TOKENS or AWA_API_TOKENS_FILE."""
    log_to_stderr(debug=options_of(context).debug)
    run(context, lambda session: _serve(session, host, port, read_only, root_path))


async def _serve(session: Session, host: str, port: int, read_only: bool, root_path: str) -> None:
    from awa.api.serve import serve_until
    from awa.asgi import create_app
    from awa.http.origin import is_loopback
    from awa.http.signing import secret_from_environment
    from awa.http.tokens import tokens_from_environment

    tokens = tokens_from_environment()
    app = create_app(
        session.client.pool,
        tokens=tokens,
        read_only=read_only,
        local_writes=is_loopback(host),
        session_secret=secret_from_environment(),
    )
    session.if_interrupted = "Stopped; requests under way got their answer."
    writes = not read_only and (bool(tokens) or is_loopback(host))

    def announce(address: str) -> None:
        mode = "reads and writes" if writes else "read-only"
        session.out.result(
            {"url": address, "read_only": not writes, "tokens": bool(tokens)},
            f"Serving on {address} ({mode}): the console there, the API's description at {address}/api/openapi.json.",
        )

    with until_told(session.out, "Stopping.") as stop:
        await serve_until(
            app, stop.told, host=host, port=port, root_path=root_path, announce=announce
        )
        stop.leave()
