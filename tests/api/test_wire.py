"""What comes over the line against all custom: too long, broken, or never ending. The server stays and answers the next."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import orjson
import pytest

from awa.api import create_app
from awa.api.guarded import BODY_MAX_BYTES
from awa.api.job_filter import FILTER_MAX_CHARS
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


async def answer_to(address: str, target: bytes, pieces: int = 1) -> tuple[int, dict[str, Any]]:
    """Status and error of a GET whose head comes in so many pieces, each read before the next is sent."""
    parts = urlsplit(address)
    head = b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    size = -(-len(head) // pieces)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        async with asyncio.timeout(60), httpx.AsyncClient() as client:
            for start in range(0, len(head), size):
                writer.write(head[start : start + size])
                await writer.drain()
                await client.get(f"{address}/healthz")
            status_line, _, rest = (await reader.read()).partition(b"\r\n")
    finally:
        writer.close()
    return int(status_line.split()[1]), orjson.loads(rest.partition(b"\r\n\r\n")[2])["error"]


@pytest.mark.parametrize(
    "data",
    [
        b"GET /api/batch-ops HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 2_000_000,
        b"GET /" + b"x" * 2_000_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS where none is spoken\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nBroken header\r\n\r\n",
        b"POST /api/batch-ops HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/batch-ops HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_refused(address: str, data: bytes) -> None:
    assert (await sent(address, data)).startswith(b"HTTP/1.1 4")


@pytest.mark.parametrize("pieces", [1, 2, 20])
async def test_a_url_that_is_too_long_is_told_so_however_it_comes(
    address: str, pieces: int
) -> None:
    target = b"/api/jobs/counts?filter=" + b"%C3%A9" * 40_000
    status, error = await answer_to(address, target, pieces)
    assert (status, error["code"]) == (414, "uri_too_long")
    assert error["message"] == "path and query have 240,023 bytes, and at most 163,840 are taken"


async def test_the_longest_filter_is_read_in_a_url(address: str) -> None:
    longest = '{"kind": "' + "\U000f3b4e" * (FILTER_MAX_CHARS - 12) + '"}'
    for filter_, said in ((longest, "kind"), (longest + " ", "filter")):
        target = f"/api/jobs/counts?filter={quote(filter_, safe='')}".encode()
        status, error = await answer_to(address, target, pieces=2)
        assert (status, [one["field"] for one in error["fields"]]) == (422, [said])


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
