"""`awa dev`: an embedded server that stays, a worker with housekeeping, and the console, for as long as one likes.

The server keeps its data between runs. The processes are those that anyone would start by hand; this one adds a
small load, so that there is something to see.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final

from awa.client import AsyncClient
from awa.dev.children import Child, stop_all
from awa.dev.demo_plan import LEDGER_VARIABLE, PACE_VARIABLE, SECRET_VARIABLE
from awa.dev.load import Load
from awa.dev.seed import WORKED_QUEUE, seed
from awa.model.errors import AwaError

WIDTH: Final = 4
PACE_S: Final = 0.05
LOOK_EVERY_S: Final = 0.5
START_MAX_S: Final = 60.0
# The load's signatures must fit the worker's secret also after a restart; nothing secret hangs on it.
SECRET: Final = hashlib.sha256(b"awa dev").hexdigest()


@dataclass(frozen=True, slots=True)
class Running:
    """What runs, for whoever tells the operator."""

    url: str
    console: str | None
    api: str | None
    seeded: int
    worker_pid: int


async def run_dev(
    url: str, folder: Path, *, port: int | None, announce: Callable[[Running], None]
) -> None:
    """Run until cancelled; raises AwaError with the end of its log if one of the processes ends by itself."""
    async with AsyncClient(url) as client:
        await client.migrate()
        async with client.connection() as conn:
            seeded = await seed(conn, SECRET)
        children = [_worker(url, folder)]
        try:
            console = None
            if port is not None:
                children.append(_server(url, folder, port))
                console = await _address(port, children)
            announce(Running(url, console, console, seeded, children[0].pid))
            await _carry_on(client, children)
        finally:
            stop_all(children)


def _worker(url: str, folder: Path) -> Child:
    work = ("worker", "run", "awa.dev.dev_worker:client", f"--queue={WORKED_QUEUE}={WIDTH}")
    return Child("worker", work, _environment(url, folder), folder / "worker.log")


def _server(url: str, folder: Path, port: int) -> Child:
    serve = ("serve", f"--port={port}")
    return Child("console", serve, _environment(url, folder), folder / "console.log")


def _environment(url: str, folder: Path) -> dict[str, str]:
    return {
        "AWA_DATABASE_URL": url,
        SECRET_VARIABLE: SECRET,
        LEDGER_VARIABLE: str(folder),
        PACE_VARIABLE: str(PACE_S),
    }


async def _address(port: int, children: list[Child]) -> str:
    """Where the console is, once it takes connections: an address that is told can be opened at once."""
    until_s = monotonic() + START_MAX_S
    while monotonic() < until_s:
        for child in children:
            child.check()
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(LOOK_EVERY_S / 5)
            continue
        writer.close()
        await writer.wait_closed()
        return f"http://127.0.0.1:{port}"
    raise AwaError(
        f"the console did not answer on port {port} within {START_MAX_S:g} s",
        hint="try again, or choose another --port",
    )


async def _carry_on(client: AsyncClient, children: list[Child]) -> None:
    """Add to the load and watch the processes, until cancelled."""
    load = Load(SECRET)
    while True:
        for child in children:
            child.check()
        async with client.connection() as conn:
            await load.enqueue_some(conn)
        await asyncio.sleep(LOOK_EVERY_S)
