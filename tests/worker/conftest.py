"""A client on a database of its own, and ways to wait for what it does."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from time import monotonic
from typing import TypeVar

import pytest

import awa
from awa.node import Node
from awa.worker.runtime import Worker

T = TypeVar("T")
Eventually = Callable[[Callable[[], Awaitable[T | None]]], Awaitable[T]]

WAIT_S = 60.0


@pytest.fixture
def settings() -> awa.Settings:
    """Settings under which the tests don't take long."""
    return awa.Settings(
        heartbeat_interval_s=0.1, runtime_stale_s=30.0, cancel_grace_s=0.0, pool_timeout_s=60.0
    )


@pytest.fixture
async def client(database_url: str, settings: awa.Settings) -> AsyncIterator[awa.AsyncClient]:
    """A client that is shut down and closed after the test."""
    client = awa.AsyncClient(database_url, settings=settings)
    async with client:
        yield client
        await client.shutdown(timeout=0)


@pytest.fixture
def worker_of() -> Callable[[awa.AsyncClient], Worker]:
    """The worker that a client has started."""

    def find(client: awa.AsyncClient) -> Worker:
        assert isinstance(client._node, Node)
        return client._node.worker

    return find


@pytest.fixture
def eventually() -> Callable[[Callable[[], Awaitable[object]]], Awaitable[object]]:
    """Asks until the answer is true, for things that nobody announces."""

    async def ask(question: Callable[[], Awaitable[object]]) -> object:
        until_s = monotonic() + WAIT_S
        while not (answer := await question()):
            assert monotonic() < until_s, "it never came true"
            await asyncio.sleep(0.01)
        return answer

    return ask
