"""A console to look at: the real server on a real socket over the test's database, and a real worker beside it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any, Final, TypeVar

from fastapi import FastAPI

import awa
from awa.api.serve import serve_until
from awa.asgi import create_app
from awa.http.tokens import TokenTable, parse_tokens

T = TypeVar("T")
WAIT_S: Final = 60.0
TOKENS: Final = {
    "viewer": "viewer-token-0123456789",
    "operator": "operator-token-0123456789",
    "admin": "admin-token-0123456789",
}
NAMES: Final = {"viewer": "vera", "operator": "olga", "admin": "ada"}
# Chunks as large as they may be, so that an operation is short on a slow machine as well.
SETTINGS: Final = awa.Settings(
    heartbeat_interval_s=0.2, cancel_grace_s=0.0, pool_timeout_s=60.0, batch_chunk_ms=2_000
)


def token_table() -> TokenTable:
    """One token for each role."""
    return parse_tokens([f"{NAMES[role]}:{role}:{token}" for role, token in TOKENS.items()])


@dataclass(slots=True)
class Site:
    """Where the console is, and a client for what happens behind it."""

    url: str
    database_url: str
    client: awa.AsyncClient
    app: FastAPI

    async def work(self, *queues: tuple[str, int], maintenance: bool = True) -> None:
        """Start a worker for these queues, and the leader that carries operations out."""
        roles = {"maintenance"} if maintenance else set()
        if queues:
            roles.add("worker")
        await self.client.start(list(queues), roles=roles)

    async def enqueue(self, count: int, **options: Any) -> None:
        """Many jobs alike, in statements of ten thousand."""
        kind = options.pop("kind", "send_email")
        args = options.pop("args", {"to": "ada@example.org"})
        for done in range(0, count, 10_000):
            jobs = [args] * min(10_000, count - done)
            await self.client.insert_many(jobs, kind=kind, **options)

    async def count(self, **columns: Any) -> int:
        """Jobs with these values in awa.jobs."""
        where = " AND ".join(f"{name} = %({name})s" for name in columns) or "true"
        async with self.client.transaction() as tx:
            row = await tx.fetch_one(
                f"SELECT count(*) AS jobs FROM awa.jobs WHERE {where}", columns
            )
        assert row is not None
        return int(row["jobs"])


@asynccontextmanager
async def site_of(
    database_url: str,
    *,
    tokens: bool = False,
    read_only: bool = False,
    below: str = "",
    settings: awa.Settings = SETTINGS,
) -> AsyncIterator[Site]:
    """Serve the console on a free port until the block ends; `below` mounts it under a path of another app."""
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(awa.AsyncClient(database_url, settings=settings))
        stack.push_async_callback(client.shutdown, timeout=0)
        app = create_app(
            database_url,
            tokens=token_table() if tokens else None,
            read_only=read_only,
            settings=settings,
        )
        address = await stack.enter_async_context(_served(_below(app, below)))
        yield Site(f"{address}{below}/", database_url, client, app)


def _below(app: FastAPI, path: str) -> FastAPI:
    if not path:
        return app
    outer = FastAPI()
    outer.state.served = app.state.served  # the server tells it when to end its streams
    outer.mount(path, app)
    return outer


@asynccontextmanager
async def _served(app: FastAPI) -> AsyncIterator[str]:
    stop = asyncio.Event()
    address: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(serve_until(app, stop, port=0, announce=address.set_result))
    serving.add_done_callback(lambda _: address.done() or address.cancel())
    try:
        yield await address
    finally:
        stop.set()
        await serving


async def eventually(question: Callable[[], Awaitable[T | None]]) -> T:
    """Ask until the answer is true, for what nobody announces."""
    until_s = monotonic() + WAIT_S
    while not (answer := await question()):
        assert monotonic() < until_s, "it never came true"
        await asyncio.sleep(0.02)
    return answer
