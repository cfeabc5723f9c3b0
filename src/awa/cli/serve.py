"""`awa serve`: the console and the HTTP API, on this machine only unless told otherwise."""

from typing import Annotated, NamedTuple

import typer

from awa.cli.logs import log_to_stderr
from awa.cli.options import options_of
from awa.cli.session import Session, run
from awa.cli.until_told import until_told
from awa.model.callback import Signer
from awa.model.errors import invalid_field


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
    callbacks_only: Annotated[
        bool,
        typer.Option(
            "--callbacks-only",
            help="Answer callbacks and /healthz, and nothing else: for a port that the outside may reach.",
        ),
    ] = False,
    root_path: Annotated[
        str, typer.Option(help="The path of a proxy below which it is reached, such as /ops/awa.")
    ] = "",
) -> None:
    """Serve the console and the HTTP API until Ctrl-C. Tokens come from AWA_API_TOKENS or AWA_API_TOKENS_FILE."""
    log_to_stderr(debug=options_of(context).debug)
    asked = _Asked(host, port, read_only, callbacks_only, root_path)
    run(context, lambda session: _serve(session, asked))


class _Asked(NamedTuple):
    """What the command line says."""

    host: str
    port: int
    read_only: bool
    callbacks_only: bool
    root_path: str


async def _serve(session: Session, asked: _Asked) -> None:
    from awa.api.serve import serve_until
    from awa.asgi import create_app
    from awa.http.origin import is_loopback
    from awa.http.signing import secret_from_environment
    from awa.http.tokens import tokens_from_environment

    tokens = tokens_from_environment()
    local = is_loopback(asked.host)
    if asked.callbacks_only:
        _refuse_useless(session, read_only=asked.read_only, tokens=bool(tokens))
    app = create_app(
        session.client.pool,
        tokens=tokens,
        read_only=asked.read_only,
        local_writes=local,
        session_secret=secret_from_environment(),
        callbacks_only=asked.callbacks_only,
    )
    session.if_interrupted = "Stopped; requests under way got their answer."
    writes = not asked.read_only and (asked.callbacks_only or bool(tokens) or local)

    def announce(address: str) -> None:
        mode = "reads and writes" if writes else "read-only"
        words = f"Serving on {address} ({mode}): the console there, the API's description at {address}/api/openapi.json."
        if asked.callbacks_only:
            words = f"Serving callbacks, and nothing else, on {address}."
        session.out.result({"url": address, "read_only": not writes, "tokens": bool(tokens)}, words)

    with until_told(session.out, "Stopping.") as stop:
        await serve_until(
            app,
            stop.told,
            host=asked.host,
            port=asked.port,
            root_path=asked.root_path,
            announce=announce,
        )
        stop.leave()


def _refuse_useless(session: Session, *, read_only: bool, tokens: bool) -> None:
    """A server of callbacks that could let nobody in would only look as if it worked."""
    if read_only:
        raise invalid_field("--read-only", "leaves nothing to do for --callbacks-only")
    if not tokens and Signer.of(session.client.settings.callback_secret) is None:
        raise invalid_field(
            "--callbacks-only",
            "nobody could answer a callback here: neither AWA_CALLBACK_SECRET nor AWA_API_TOKENS is set",
        )
