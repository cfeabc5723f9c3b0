"""Fixtures of the operations room."""

from collections.abc import AsyncIterator

import pytest

from awa.db.pool import Pool
from awa.operations.runner import Runner
from tests.operations.kit import Conn, new_runner, pool_of


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    """A pool on this test's database."""
    async with pool_of(database_url) as pool:
        yield pool


@pytest.fixture
async def runner(conn: Conn, pool: Pool) -> Runner:
    """A runner that leads."""
    return await new_runner(conn, pool)
