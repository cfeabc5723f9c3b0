"""Starlette and FastAPI: a client that lives as long as the application.

app = FastAPI(lifespan=lifespan(client, [("email", 50)]))

@app.post("/orders")
async def order(awa: Annotated[AsyncClient, Depends(client_of)]) -> …: …
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

from starlette.requests import HTTPConnection

from awa.client import AsyncClient
from awa.model.errors import Conflict

Lifespan: TypeAlias = Callable[[Any], AbstractAsyncContextManager[Mapping[str, Any]]]
Inner: TypeAlias = Callable[[Any], AbstractAsyncContextManager[Mapping[str, Any] | None]]


def lifespan(
    client: AsyncClient | Callable[[], AsyncClient],
    queues: Iterable[Any] = (),
    *,
    roles: Iterable[str] | None = None,
    migrate: bool = False,
    inner: Inner | None = None,
) -> Lifespan:
    """A lifespan that opens the client, works on `queues` if there are any, and stops in order at the end.

    `client` may be a function that makes one, for applications that start more than once, as in tests. `roles` as
    `AsyncClient.start`. `migrate` brings the schema to this version first. `inner` is a lifespan of your own; it
    runs within this one. Requests find the client as `request.state.awa`, or by `client_of`.
    """

    @asynccontextmanager
    async def run(app: Any) -> AsyncIterator[Mapping[str, Any]]:
        opened = client if isinstance(client, AsyncClient) else client()
        async with opened:
            if migrate:
                await opened.migrate()
            wanted = list(queues)
            if wanted or roles is not None:
                await opened.start(wanted, roles=roles)
            if inner is None:
                yield {"awa": opened}
                return
            async with inner(app) as state:
                yield {**(state or {}), "awa": opened}

    return run


def client_of(connection: HTTPConnection) -> AsyncClient:
    """The application's client, for FastAPI's Depends. Raises Conflict without `lifespan`."""
    found = getattr(connection.state, "awa", None)
    if not isinstance(found, AsyncClient):
        raise Conflict(
            "this application has no client of Awa",
            hint="give it one: FastAPI(lifespan=awa.contrib.starlette.lifespan(client))",
        )
    return found
