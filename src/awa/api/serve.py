"""Serve the app with uvicorn until somebody says stop.

The socket is opened here, so that a taken port is an error of ours with a hint, and so that port 0 can say
which port it became. Uvicorn's own access log stays off (it prints query strings); proxy headers are not
believed, they only ever take rights away (see access.py).
"""

import asyncio
import ipaddress
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp

from awa.http.context import Served
from awa.http.paths import BelowPath, checked_root_path
from awa.model.errors import AwaError, invalid_field

HOST_DEFAULT = "127.0.0.1"
PORT_DEFAULT = 8080
BACKLOG_MAX_CONNECTIONS = 512
HEAD_MAX_BYTES = 1024 * 1024
KEEP_ALIVE_S = 15
SHUTDOWN_MAX_S = 10


async def serve_until(
    app: FastAPI,
    stop: asyncio.Event,
    *,
    host: str = HOST_DEFAULT,
    port: int = PORT_DEFAULT,
    root_path: str = "",
    announce: Callable[[str], None] = lambda _address: None,
) -> None:
    """Serve until `stop` is set; requests under way get their answer, live streams end.

    Signals stay the program's business.

    `root_path` is the path of a proxy below which the app is reached. `announce` is called with the address once
    requests are accepted. Raises AwaError if the address can't be had.
    """
    root_path = checked_root_path(root_path)
    outer: ASGIApp = BelowPath(app, root_path) if root_path else app
    with listen(host, port) as listener:
        server = _Server(_config(outer), lambda: announce(address_of(listener) + root_path))
        stopping = asyncio.create_task(_stop_with(stop, server, app.state.served))
        try:
            await server.serve(sockets=[listener])
        finally:
            stopping.cancel()


def listen(host: str, port: int) -> socket.socket:
    """Open the listening socket; port 0 takes any free port."""
    if not 0 <= port <= 65_535:
        raise invalid_field("port", f"must be between 0 and 65535, got {port}")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG_MAX_CONNECTIONS)
    except (OSError, UnicodeError) as problem:
        reason = _reason_of(problem)
        raise AwaError(
            f"cannot listen on {host} port {port}: {reason}",
            hint="choose another --port or --host, or stop what holds it",
        ) from None


def _reason_of(problem: OSError | UnicodeError) -> str | None:
    """Why, in the system's words alone: Python adds the address, which the sentence names already."""
    if not isinstance(problem, OSError):
        return "not a host name"
    if isinstance(problem, socket.gaierror) or problem.errno is None:
        return problem.strerror
    return os.strerror(problem.errno)


def address_of(listener: socket.socket) -> str:
    """The URL under which the socket can be reached from this machine."""
    host, port = listener.getsockname()[:2]
    address = ipaddress.ip_address(host.partition("%")[0])
    if address.is_unspecified:
        host = "localhost"
    elif address.version == 6:
        host = f"[{host}]"
    return f"http://{host}:{port}"


class _Server(uvicorn.Server):
    """Uvicorn that says when it is up, and leaves the program's signal handlers alone."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_start()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _stop_with(stop: asyncio.Event, server: uvicorn.Server, served: Served) -> None:
    await stop.wait()
    server.should_exit = True
    # The server waits for requests under way, and a live stream is one that ends when it is told to.
    await served.live.close()


def _config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        lifespan="on",
        # Far beyond the longest URL that is taken: one that is too long is told so by the envelope. This bound cuts the connection off,
        # and only if the head comes in pieces, so whoever is just above it would get now one answer and now the other.
        h11_max_incomplete_event_size=HEAD_MAX_BYTES,
        timeout_keep_alive=KEEP_ALIVE_S,
        timeout_graceful_shutdown=SHUTDOWN_MAX_S,
    )
