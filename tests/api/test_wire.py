"""What comes over the line against all custom: too long, broken, or never ending. The server stays and answers the next."""

import asyncio
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import httpx
import pytest

from awa.api import create_app
from awa.api.guarded import BODY_MAX_BYTES
from tests.api.conftest import error_of
from tests.api.test_serve import serving


@pytest.fixture
async def address(database_url: str) -> AsyncIterator[str]:
    async with serving(create_app(database_url)) as address:
        yield address
        async with httpx.AsyncClient(timeout=60) as client:
            assert (await client.get(f"{address}/healthz")).status_code == 200


async def sent(address: str, data: bytes) -> bytes:
    """What the server says to these bytes, until it hangs up or has said it."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        async with asyncio.timeout(60):
            writer.write(data)
            return await reader.readuntil(b"\r\n")
    finally:
        writer.close()


@pytest.mark.parametrize(
    "data",
    [
        b"GET /api/batch-ops HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 200_000,
        b"GET /" + b"x" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS where none is spoken\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nBroken header\r\n\r\n",
        b"POST /api/batch-ops HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/batch-ops HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_refused(address: str, data: bytes) -> None:
    assert (await sent(address, data)).startswith(b"HTTP/1.1 4")


async def test_a_body_that_does_not_end_is_refused_once_it_is_too_long(address: str) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(2 * BODY_MAX_BYTES // 65_536):
            yield b" " * 65_536

    headers = {"Content-Type": "application/json"}
    async with httpx.AsyncClient(timeout=60) as client:
        for path in ("/api/batch-ops", "/api/session"):
            answer = await client.post(f"{address}{path}", content=endless(), headers=headers)
            error_of(answer, 413, "too_large")


async def test_a_client_that_leaves_in_the_middle_leaves_nothing_behind(address: str) -> None:
    parts = urlsplit(address)
    for _ in range(20):
        _reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        writer.write(
            b"POST /api/batch-ops HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1000\r\n\r\n{"
        )
        await writer.drain()
        writer.close()
