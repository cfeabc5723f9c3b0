"""The server itself: it binds, says where, serves, keeps secrets out of its log, and stops."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest
from fastapi import FastAPI

from awa.api import create_app
from awa.api.serve import address_of, listen, serve_until
from awa.model.errors import AwaError, ValidationError
from tests.api.conftest import MOVE, TOKENS


@asynccontextmanager
async def serving(app: FastAPI) -> AsyncIterator[str]:
    stop, address = asyncio.Event(), asyncio.get_running_loop().create_future()
    task = asyncio.create_task(serve_until(app, stop, port=0, announce=address.set_result))
    try:
        async with asyncio.timeout(60):
            yield await address
    finally:
        stop.set()
        async with asyncio.timeout(60):
            await task


async def test_it_serves_with_a_pool_of_its_own(database_url: str) -> None:
    async with (
        serving(create_app(database_url)) as address,
        httpx.AsyncClient(timeout=60) as client,
    ):
        assert (await client.get(f"{address}/readyz")).status_code == 200
        answer = await client.post(f"{address}/api/batch-ops", json=MOVE)
        assert answer.status_code == 201
        assert "server" not in answer.headers


async def test_it_starts_without_its_database() -> None:
    app = create_app("postgresql://nobody@127.0.0.1:1/nowhere")
    async with serving(app) as address, httpx.AsyncClient(timeout=60) as client:
        assert (await client.get(f"{address}/healthz")).status_code == 200


async def test_a_foreign_host_name_gets_nothing(database_url: str) -> None:
    async with (
        serving(create_app(database_url)) as address,
        httpx.AsyncClient(timeout=60) as client,
    ):
        headers = {"Host": "evil.example"}
        answer = await client.get(f"{address}/api/batch-ops", headers=headers)
        assert answer.status_code == 403


async def test_no_token_reaches_the_log(
    database_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token = "operator-token-0123456789"
    app = create_app(database_url, tokens=TOKENS)
    async with serving(app) as address, httpx.AsyncClient(timeout=60) as client:
        logging.getLogger("httpx").disabled = True  # the client's own log is not ours
        headers = {"Authorization": f"Bearer {token}"}
        assert (await client.get(f"{address}/api/batch-ops", headers=headers)).status_code == 200
        await client.get(f"{address}/api/batch-ops?token={token}")
        logging.getLogger("httpx").disabled = False
    ours = [one for one in caplog.records if not one.name.startswith(("httpx", "httpcore"))]
    assert any("GET /api/batch-ops 200 deploy" in one.getMessage() for one in ours)
    assert [one for one in ours if token in one.getMessage()] == []


def test_a_taken_port_is_told_with_a_hint() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(
            AwaError,
            match=f"^cannot listen on 127.0.0.1 port {port}: Address already in use \\(choose",
        ) as caught:
            listen("127.0.0.1", port)
        assert "--port" in str(caught.value.hint)


def test_an_address_that_is_none_is_told() -> None:
    with pytest.raises(AwaError, match="cannot listen on"):
        listen("no such host", 0)
    with pytest.raises(ValidationError, match="port"):
        listen("127.0.0.1", 70_000)


def test_the_address_is_one_that_can_be_opened() -> None:
    with listen("0.0.0.0", 0) as listener:
        assert address_of(listener) == f"http://localhost:{listener.getsockname()[1]}"
    if socket.has_ipv6:
        with listen("::1", 0) as listener:
            assert address_of(listener) == f"http://[::1]:{listener.getsockname()[1]}"
