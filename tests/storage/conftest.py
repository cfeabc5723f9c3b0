"""A world for each test: a session with a runtime on a database of its own."""

from typing import Any

import pytest
from psycopg import AsyncConnection

from tests.storage.world import World


@pytest.fixture
async def world(conn: AsyncConnection[Any]) -> World:
    """The session that most tests need."""
    return await World.on(conn)
