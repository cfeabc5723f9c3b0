"""A client on the test's database, to see from outside what a bridge has done."""

from collections.abc import AsyncIterator

import pytest

import awa


@pytest.fixture
async def client(database_url: str) -> AsyncIterator[awa.AsyncClient]:
    """A client that is closed after the test."""
    async with awa.AsyncClient(database_url) as client:
        yield client
