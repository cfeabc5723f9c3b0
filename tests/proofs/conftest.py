"""A stage for each test, on a database of its own."""

from collections.abc import AsyncIterator

import pytest

from tests.proofs.stage import Stage


@pytest.fixture
async def stage(database_url: str) -> AsyncIterator[Stage]:
    """A director and no actors yet."""
    async with Stage(database_url) as stage:
        yield stage
