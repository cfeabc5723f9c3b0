"""A client on a database of its own."""

from collections.abc import AsyncIterator

import pytest

import awa


@pytest.fixture
async def client(database_url: str) -> AsyncIterator[awa.AsyncClient]:
    """A client that is closed after the test."""
    async with awa.AsyncClient(database_url) as client:
        yield client
