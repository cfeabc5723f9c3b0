"""Migrations: applied once, in order, and never into a schema that this program doesn't know."""

import asyncio
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection

from awa.db import run
from awa.db.migrate import check_schema, migrate, pending, render_sql, storage_of
from awa.db.pool import connect
from awa.dev.binaries import PostgresBinaries, find_binaries
from awa.model.errors import DatabaseError, SchemaNotMigrated, ValidationError
from awa.sql import catalog
from awa.sql.catalog import LANES, STORAGES, Storage

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


async def _open(url: str) -> AsyncConnection[Any]:
    return await AsyncConnection.connect(url, autocommit=True)


async def test_migrating_twice_applies_everything_once(empty_database_url: str) -> None:
    async with await _open(empty_database_url) as conn:
        first = await pending(conn)
        assert first[:2] == ["0001_common", "0001_lanes"]
        assert await migrate(conn) == first
        assert await pending(conn) == []
        assert await migrate(conn) == []
        await check_schema(conn)


async def test_each_migration_works_in_a_transaction_after_the_earlier_ones(
    empty_database_url: str,
) -> None:
    """As in a database that was made by an older version: what one transaction may do alone, two may not."""
    known = catalog.migrations()
    async with await _open(empty_database_url) as conn:
        for name, source in known[:-1]:
            await _apply_alone(conn, name, source)
        assert await migrate(conn) == [known[-1][0], "definitions"]
        await check_schema(conn)


async def _apply_alone(conn: AsyncConnection[Any], name: str, source: str) -> None:
    async with conn.transaction():
        await conn.execute(catalog.text("db/migrations_table").encode())
        await conn.execute(source.encode())
        await run.count(conn, "db/record", {"name": name, "checksum": catalog.checksum(source)})


async def test_two_migrations_at_once_wait_for_each_other(empty_database_url: str) -> None:
    async with await _open(empty_database_url) as one, await _open(empty_database_url) as two:
        applied = await asyncio.gather(migrate(one), migrate(two))
    assert sorted(len(names) > 0 for names in applied) == [False, True]


async def test_an_empty_database_is_named_as_such(empty_database_url: str) -> None:
    async with await _open(empty_database_url) as conn:
        with pytest.raises(SchemaNotMigrated, match="awa migrate"):
            await check_schema(conn)


async def test_a_schema_newer_than_the_program_is_refused(conn: AsyncConnection[Any]) -> None:
    await conn.execute("INSERT INTO awa.schema_migrations VALUES ('9999_from_the_future', 'x')")
    for refuse in (check_schema, migrate, pending):
        with pytest.raises(
            SchemaNotMigrated, match=r"newer than this program.*9999_from_the_future"
        ):
            await refuse(conn)


@pytest.mark.lanes
async def test_a_migration_with_another_text_is_refused(conn: AsyncConnection[Any]) -> None:
    await conn.execute(
        "UPDATE awa.schema_migrations SET checksum = 'other' WHERE name = '0001_lanes'"
    )
    with pytest.raises(SchemaNotMigrated, match="0001_lanes was applied with another text"):
        await migrate(conn)


async def test_functions_are_applied_again_when_their_text_changed(
    conn: AsyncConnection[Any],
) -> None:
    await conn.execute("DROP FUNCTION awa.promote(int, timestamptz)")
    await conn.execute(
        "UPDATE awa.schema_migrations SET checksum = 'older' WHERE name = 'definitions'"
    )
    assert await migrate(conn) == ["definitions"]
    cursor = await conn.execute("SELECT awa.promote(1)")
    assert await cursor.fetchone() == (0,)


async def test_a_failing_migration_leaves_nothing_behind(empty_database_url: str) -> None:
    async with await _open(empty_database_url) as conn:
        await conn.execute("CREATE SCHEMA awa")
        await conn.execute("CREATE TABLE awa.leases (name text)")
        with pytest.raises(DatabaseError, match="already exists"):
            await migrate(conn)
        cursor = await conn.execute("SELECT to_regclass('awa.ready_entries')")
        assert await cursor.fetchone() == (None,)


async def test_a_url_that_cannot_be_read_is_not_repeated() -> None:
    with pytest.raises(ValidationError) as refused:
        await connect("postgresql://user:s3cret@host:port:port/x?=")
    assert "s3cret" not in str(refused.value)


@pytest.fixture
def pg_dump(pg_binaries: PostgresBinaries | None) -> Path:
    return (pg_binaries or find_binaries()).bin_dir / "pg_dump"


@pytest.mark.parametrize("storage", STORAGES)
async def test_migrated_and_scripted_databases_are_the_committed_schema(
    empty_database_url: str, pg_dump: Path, server_version: int, storage: Storage
) -> None:
    async with await _open(empty_database_url) as conn:
        await migrate(conn, storage)
        migrated = _schema(pg_dump, empty_database_url)
        # As when the script of `awa migrate --sql` alone makes it.
        await conn.execute("DROP SCHEMA awa CASCADE")
        await conn.execute(render_sql(storage).encode())
    assert _schema(pg_dump, empty_database_url) == migrated
    committed = REFERENCE / ("schema.sql" if storage == LANES else f"schema-{storage}.sql")
    if os.environ.get("AWA_RENEW_SCHEMA"):
        committed.write_text(migrated)
    # The committed text is PostgreSQL 18's; other versions print some defaults differently.
    if server_version == 18:
        assert committed.read_text() == migrated, "renew it: make schema"


@pytest.mark.parametrize("storage", STORAGES)
async def test_a_schema_keeps_its_storage(empty_database_url: str, storage: Storage) -> None:
    async with await _open(empty_database_url) as conn:
        await migrate(conn, storage)
        assert await storage_of(conn) == storage
        assert await (await conn.execute("SELECT awa.storage()")).fetchone() == (storage,)
        assert await migrate(conn) == await migrate(conn, storage) == []
        (other,) = (one for one in STORAGES if one != storage)
        with pytest.raises(ValidationError, match=f"has the storage {storage}, not {other}"):
            await migrate(conn, other)
        await check_schema(conn)


def _schema(pg_dump: Path, url: str) -> str:
    command = [str(pg_dump), "--schema-only", "--no-owner", "--no-privileges", "--schema=awa"]
    dumped = subprocess.run(
        [*command, "--exclude-table=awa.*_[0-9]", f"--dbname={url}"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    kept = [
        line for line in dumped.splitlines() if line and not line.startswith(("--", "\\", "SET "))
    ]
    # Functions have sources of their own; here stands what they work on.
    return re.sub(
        r"CREATE (?:FUNCTION|PROCEDURE) .*?\$\$;\n", "", "\n".join(kept) + "\n", flags=re.DOTALL
    )
