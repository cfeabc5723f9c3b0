"""An operation's log runs ahead of the disk, until somebody else has to wait for the disk behind it."""

from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

import pytest
from psycopg import AsyncConnection

from awa.db import run
from awa.operations.pace import Pace
from awa.operations.submit import submit
from tests.operations.kit import Conn, add_jobs, check_sums, new_runner, pool_of, value

# Stands before the server's own view in the search path of the sessions that look.
SHADOW = """
    CREATE SCHEMA shadow;
    CREATE TABLE shadow.pg_stat_activity AS SELECT pid, backend_type, wait_event FROM pg_catalog.pg_stat_activity LIMIT 0;
    DO $$ BEGIN
        EXECUTE format('ALTER DATABASE %I SET search_path = shadow, pg_catalog', current_database());
    END $$
"""
WAITS = "INSERT INTO shadow.pg_stat_activity VALUES (0, %s, %s)"


@pytest.fixture
async def looking(conn: Conn, database_url: str) -> AsyncIterator[AsyncConnection[Any]]:
    """A session that sees what the shadow says of others."""
    await conn.execute(SHADOW)
    async with await AsyncConnection.connect(database_url, autocommit=True) as session:
        yield session


@pytest.mark.parametrize(
    ("kind", "event", "waits"),
    [
        ("client backend", "WalSync", True),
        ("client backend", "WALSync", True),  # until PostgreSQL 16
        ("client backend", "WALWrite", True),
        ("client backend", "WalInitSync", True),
        ("client backend", "ClientRead", False),
        ("client backend", None, False),
        ("walwriter", "WalSync", False),
    ],
)
async def test_the_runner_waits_for_the_disk_where_another_session_does(
    conn: Conn, looking: AsyncConnection[Any], kind: str, event: str | None, waits: bool
) -> None:
    await conn.execute(WAITS, [kind, event])
    async with looking.transaction():
        assert (await run.value(looking, "operations/give_way")) is waits
        # What has an id and a record in the log is a commit that waits.
        assert (
            await value(looking, "SELECT pg_current_xact_id_if_assigned() IS NOT NULL")
        ) is waits
        assert await value(looking, "SHOW synchronous_commit") == "on"


async def test_it_gives_way_after_each_page_and_chunk_but_the_last(
    conn: Conn, looking: AsyncConnection[Any], database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await conn.execute("""
        CREATE TABLE shadow.given (at timestamptz DEFAULT clock_timestamp());
        CREATE FUNCTION shadow.pg_logical_emit_message(boolean, text, text) RETURNS pg_lsn LANGUAGE sql AS $$
            INSERT INTO shadow.given DEFAULT VALUES;
            SELECT '0/1'::pg_lsn $$""")
    await conn.execute(WAITS, ["client backend", "WalSync"])
    await add_jobs(conn, 250)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    # No time for a page: a scan's transaction ends after one of a hundred.
    monkeypatch.setattr("awa.operations.runner.page_pace", lambda _: Pace(0.0, most=100))
    async with pool_of(database_url) as pool:
        runner = await new_runner(conn, pool)
        gave: Counter[str] = Counter()
        state, given = "pending", 0
        while state in {"pending", "scanning", "running"}:
            await runner.step()
            after = (await check_sums(conn, submitted["id"]))["state"]
            before, given = given, await value(conn, "SELECT count(*) FROM shadow.given")
            # What moves the operation to another state has waited for the disk itself.
            assert given - before == (after == state != "pending")
            gave[after] += given - before
            state = after
    assert state == "completed"
    assert gave["scanning"] > 1
    assert gave["running"]  # the first chunk is of 100 jobs
