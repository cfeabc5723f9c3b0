"""A sandbox for each page."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import sql

from tests.docs.sandbox import Sandbox


@pytest.fixture
def roles(server_url: str) -> Iterator[None]:
    """Takes away the roles that a page made, after its database is gone."""
    with psycopg.connect(server_url, autocommit=True) as admin:
        before = _roles(admin)
    yield
    with psycopg.connect(server_url, autocommit=True) as admin:
        for name in _roles(admin) - before:
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))


@pytest.fixture
async def sandbox(
    roles: None, empty_database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Sandbox]:
    """A folder and an empty database for one page."""
    monkeypatch.setenv("AWA_DATABASE_URL", empty_database_url)
    monkeypatch.chdir(tmp_path)
    sandbox = Sandbox(tmp_path, empty_database_url)
    yield sandbox
    await sandbox.close()


def _roles(admin: psycopg.Connection[tuple[str]]) -> set[str]:
    return {name for (name,) in admin.execute("SELECT rolname FROM pg_roles")}
