"""`awa dev`: an embedded server that stays, a worker with housekeeping, and the HTTP API, for as long as one likes.

The server keeps its data between runs. The processes are those that anyone would start by hand.
"""

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from awa.client import AsyncClient
from awa.dev.children import Child, stop_all
from awa.dev.demo_plan import LEDGER_VARIABLE, PACE_VARIABLE, SECRET_VARIABLE
from awa.dev.seed import WORKED_QUEUE, seed

WIDTH: Final = 4
PACE_S: Final = 0.05
LOOK_EVERY_S: Final = 0.5
# The load's signatures must fit the worker's secret also after a restart; nothing secret hangs on it.
SECRET: Final = hashlib.sha256(b"awa dev").hexdigest()


@dataclass(frozen=True, slots=True)
class Running:
    """What runs, for whoever tells the operator."""

    url: str
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
    environment = {
        "AWA_DATABASE_URL": url,
        SECRET_VARIABLE: SECRET,
        LEDGER_VARIABLE: str(folder),
        PACE_VARIABLE: str(PACE_S),
    }
    queue = f"--queue={WORKED_QUEUE}={WIDTH}"
    work = ("worker", "run", "awa.dev.demo_worker:client", queue)
    children = [Child("worker", work, environment, folder / "worker.log")]
    try:
        if port is not None:
            serve = ("serve", f"--port={port}")
            children.append(Child("API", serve, environment, folder / "api.log"))
        api = None if port is None else f"http://127.0.0.1:{port}"
        announce(Running(url, api, seeded, children[0].pid))
        while True:
            for child in children:
                child.check()
            await asyncio.sleep(LOOK_EVERY_S)
    finally:
        stop_all(children)
