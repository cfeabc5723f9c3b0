"""An application of Starlette or FastAPI has its client from its start to its end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Any

import httpx
import pytest
from fastapi import Depends, FastAPI
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

import awa
from awa.contrib.starlette import client_of, lifespan


@dataclass
class Order:
    what: str


@asynccontextmanager
async def running(app: Starlette) -> AsyncIterator[httpx.AsyncClient]:
    """The application as a server runs it: within its lifespan, whose state every request gets."""
    async with app.router.lifespan_context(app) as state:

        async def serve(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "state": dict(state or {})}, receive, send)

        transport = httpx.ASGITransport(serve)
        async with httpx.AsyncClient(transport=transport, base_url="http://app") as http:
            yield http


async def test_fastapi_has_a_client_for_each_request(database_url: str) -> None:
    app = FastAPI(lifespan=lifespan(lambda: awa.AsyncClient(database_url)))

    @app.post("/orders/{what}")
    async def order(what: str, client: Annotated[awa.AsyncClient, Depends(client_of)]) -> int:
        return (await client.insert(Order(what))).id

    for _ in range(2):  # applications start again in tests
        async with running(app) as http:
            assert (await http.post("/orders/tea")).json() > 0
    async with awa.AsyncClient(database_url) as outside:
        assert [job.args for job in await outside.list_jobs()] == [{"what": "tea"}] * 2


async def test_it_works_and_stops_in_order(empty_database_url: str) -> None:
    client = awa.AsyncClient(empty_database_url)
    seen: list[str] = []

    @client.task(Order, queue="orders")
    async def handle(job: awa.Job[Order]) -> None:
        seen.append(job.args.what)

    async def order(request: Request) -> JSONResponse:
        job = await request.state.awa.insert(Order(request.state.what))
        while (await request.state.awa.get_job(job.id)).state != "completed":
            pass
        return JSONResponse(await request.state.awa.health_check())

    @asynccontextmanager
    async def inner(app: Any) -> AsyncIterator[dict[str, str]]:
        seen.append("opened")
        yield {"what": "cake"}
        assert not client.pool.closed
        seen.append("closed")

    app = Starlette(
        routes=[Route("/", order)],
        lifespan=lifespan(client, [("orders", 2)], migrate=True, inner=inner),
    )
    async with running(app) as http:
        assert (await http.get("/")).json()["workers"] == 1
    assert seen == ["opened", "cake", "closed"]
    assert client.pool.closed
    async with awa.AsyncClient(empty_database_url) as outside:
        assert (await outside.health_check())["workers"] == 0


async def test_without_the_lifespan_it_is_said() -> None:
    app = FastAPI()

    @app.get("/")
    async def look(client: Annotated[awa.AsyncClient, Depends(client_of)]) -> None: ...

    async with running(app) as http:
        with pytest.raises(awa.Conflict, match="FastAPI"):
            await http.get("/")
