"""Databases for tests: each is a copy of one in which the migrations ran once, made in milliseconds."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final
from urllib.parse import quote, urlsplit

import psycopg
from psycopg import sql

from awa.client import AsyncClient
from awa.db import run
from awa.db.failures import mapped_errors
from awa.dev.temporary import memory_base, temporary_server

SERVER_VARIABLE: Final = "AWA_TEST_DATABASE_URL"
# A test database has nothing to lose in a crash.
_SETTINGS: Final = {"fsync": "off", "full_page_writes": "off", "max_connections": "200"}

_numbers = count(1)


@contextmanager
def server_for_tests() -> Iterator[str]:
    """The URL of a server where databases may be made: that of AWA_TEST_DATABASE_URL, or an embedded one of its own."""
    if url := os.environ.get(SERVER_VARIABLE):
        yield url
        return
    with temporary_server(settings=_SETTINGS, base=memory_base()) as server:
        yield server.url()


@contextmanager
def database(server_url: str, template: str = "template0") -> Iterator[str]:
    """The URL of a new database, a copy of `template`; it's gone after the block. Raises AwaError."""
    name = f"awa_test_{os.getpid()}_{next(_numbers)}"
    names = {"name": sql.Identifier(name), "template": sql.Identifier(template)}
    with mapped_errors(), psycopg.connect(server_url, autocommit=True) as admin:
        admin.execute(run.statement("testing/create_database").format(**names))
    try:
        yield _url_of(server_url, name)
    finally:
        with mapped_errors(), psycopg.connect(server_url, autocommit=True) as admin:
            admin.execute(run.statement("testing/drop_database").format(**names))


@contextmanager
def migrated_template(server_url: str) -> Iterator[str]:
    """The name of a database with Awa's schema and nothing else, to be copied."""
    with database(server_url) as url:
        asyncio.run(_migrate(url))
        yield urlsplit(url).path.removeprefix("/")


async def _migrate(url: str) -> None:
    async with AsyncClient(url) as client:
        await client.migrate()


def _url_of(server_url: str, name: str) -> str:
    parts = urlsplit(server_url)
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.scheme}://{parts.netloc}/{quote(name)}{query}"
