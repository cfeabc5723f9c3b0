"""A set of large arguments is inserted by several statements, written while the server is at those before; all or none, as ever."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from pydantic import BaseModel

import awa
from awa.model.portions import FIRST_JOBS, LARGE_BYTES, SET_BYTES
from tests.conftest import Connect

FILLER = "x" * 3 * LARGE_BYTES
JOBS = SET_BYTES // LARGE_BYTES
LAST = JOBS - 1
LIMIT_S = 60.0

COUNTED = """
    CREATE SEQUENCE statements;
    CREATE OR REPLACE FUNCTION awa.notify_if_idle(p_queue text) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
        IF nextval('statements') = 2 THEN PERFORM pg_advisory_xact_lock(471301); END IF;
    END $$
"""
REFUSED = "ALTER TABLE awa.ready_entries ADD CONSTRAINT refused CHECK ((args ->> 'n')::int <> {n})"


@dataclass
class Page:
    n: int
    text: str = FILLER


class Sheet(BaseModel):
    n: int
    text: str = FILLER


def pages(make: Callable[..., Any] = Page, jobs: int = JOBS) -> list[Any]:
    """Large arguments, each with its number."""
    return [make(n=n) for n in range(jobs)]


def large_dict(n: int) -> dict[str, Any]:
    """The same as a dict."""
    return {"n": n, "text": FILLER}


async def statements(conn: psycopg.AsyncConnection[Any]) -> int:
    """How many enqueues there were since COUNTED."""
    row = await (await conn.execute("SELECT last_value FROM statements WHERE is_called")).fetchone()
    return row[0] if row else 0


async def stored(conn: psycopg.AsyncConnection[Any]) -> int:
    """How many jobs there are."""
    row = await (await conn.execute("SELECT count(*) FROM awa.jobs")).fetchone()
    assert row is not None
    return int(row[0])


async def usable(client: awa.AsyncClient, conn: psycopg.AsyncConnection[Any]) -> None:
    """Nothing was inserted, and the pool's one connection does the next set as if nothing had been."""
    assert await stored(conn) == 0
    assert len(await client.insert_many([Page(n=-1)] * JOBS)) == JOBS
    assert await stored(conn) == JOBS


@pytest.fixture
async def one(database_url: str) -> Any:
    """A client with a single connection, so that a broken one would be noticed."""
    async with awa.AsyncClient(database_url, pool_max_size=1) as client:
        yield client


@pytest.mark.parametrize("make", [Page, Sheet, large_dict])
async def test_each_job_has_its_arguments_and_all_are_in_order(
    one: awa.AsyncClient, conn: psycopg.AsyncConnection[Any], make: Callable[..., Any]
) -> None:
    await conn.execute(COUNTED)
    given = pages(make)
    jobs = await one.insert_many(given, kind="page", queue="books", tags=["t"], priority=1)
    assert await statements(conn) > 2
    assert [job.args for job in jobs] == given
    assert [job.id for job in jobs] == sorted({job.id for job in jobs})
    assert {(j.kind, j.queue, j.state, j.tags, j.priority, j.insertion) for j in jobs} == {
        ("page", "books", awa.JobState.AVAILABLE, ("t",), 1, "inserted")
    }
    rows = await conn.execute(
        "SELECT id, (args ->> 'n')::int, created_at FROM awa.jobs ORDER BY id"
    )
    assert await rows.fetchall() == [(job.id, n, job.created_at) for n, job in enumerate(jobs)]


async def test_those_to_come_are_scheduled(
    one: awa.AsyncClient, conn: psycopg.AsyncConnection[Any]
) -> None:
    at = datetime.now(UTC) + timedelta(hours=1)
    jobs = await one.insert_many(pages(), run_at=at)
    assert {(job.state, job.run_at) for job in jobs} == {(awa.JobState.SCHEDULED, at)}
    rows = await conn.execute("SELECT id, (args ->> 'n')::int FROM awa.jobs ORDER BY id")
    assert await rows.fetchall() == [(job.id, n) for n, job in enumerate(jobs)]


@pytest.mark.parametrize(
    "jobs",
    [pages(jobs=FIRST_JOBS), pages(jobs=JOBS // 8), [{"n": n} for n in range(5_000)]],
    ids=["few", "little in all", "small ones"],
)
async def test_other_sets_are_one_statement(
    one: awa.AsyncClient, conn: psycopg.AsyncConnection[Any], jobs: list[Any]
) -> None:
    await conn.execute(COUNTED)
    assert len(await one.insert_many(jobs, kind="k")) == len(jobs)
    assert await statements(conn) == 1


async def test_so_is_one_in_a_transaction_that_is_the_programs(
    one: awa.AsyncClient, conn: psycopg.AsyncConnection[Any]
) -> None:
    await conn.execute(COUNTED)
    async with one.transaction() as tx:
        with pytest.raises(awa.ValidationError, match=f"job {LAST} of the list"):
            await tx.insert_many([*map(large_dict, range(LAST)), {"n": object()}], kind="k")
        await tx.insert_many(pages())
    assert (await stored(conn), await statements(conn)) == (JOBS, 1)


@pytest.mark.parametrize("place", [0, JOBS // 2, LAST])
async def test_one_that_cannot_be_written_is_named_and_none_is_inserted(
    one: awa.AsyncClient, conn: psycopg.AsyncConnection[Any], place: int
) -> None:
    given = pages(large_dict)
    for wrong, says in ((object(), "not JSON serializable"), (float("nan"), "n is nan")):
        given[place]["n"] = wrong
        with pytest.raises(awa.ValidationError, match=says) as refused:
            await one.insert_many(given, kind="k")
        assert refused.value.fields[0].field == f"jobs[{place}].args"
    await usable(one, conn)


@pytest.mark.parametrize("place", [0, JOBS // 2, LAST])
async def test_what_the_server_refuses_is_said_and_none_is_inserted(
    one: awa.AsyncClient,
    conn: psycopg.AsyncConnection[Any],
    caplog: pytest.LogCaptureFixture,
    place: int,
) -> None:
    await conn.execute(REFUSED.format(n=place))
    with caplog.at_level(logging.WARNING), pytest.raises(awa.DatabaseError, match='"refused"'):
        await one.insert_many(pages())
    assert caplog.records == []
    await usable(one, conn)


async def test_an_option_that_the_server_refuses_is_a_validation_error(
    one: awa.AsyncClient, conn: psycopg.AsyncConnection[Any]
) -> None:
    await conn.execute(
        """CREATE OR REPLACE FUNCTION awa.check_new_job(p_queue text, p_kind text, p_priority int, p_max_attempts int)
           RETURNS void LANGUAGE plpgsql AS $$ BEGIN
               IF p_queue = 'closed' THEN RAISE EXCEPTION 'no such kind here' USING ERRCODE = '22023'; END IF; END $$"""
    )
    with pytest.raises(awa.ValidationError, match="no such kind here"):
        await one.insert_many(pages(), queue="closed")
    await usable(one, conn)


async def _held_in_the_middle(
    connect: Connect, insert: Callable[[], Coroutine[Any, Any, Any]]
) -> tuple[asyncio.Task[Any], psycopg.AsyncConnection[Any], int]:
    """An insert whose second statement waits, the session that it waits for, and the server process that waits."""
    holder = await connect()
    await holder.execute(COUNTED)
    await holder.execute("SELECT pg_advisory_lock(471301)")
    task = asyncio.create_task(insert())

    async with asyncio.timeout(LIMIT_S):
        while (pid := await _waits(holder)) is None and not task.done():  # noqa: ASYNC110 -- nobody announces it
            await asyncio.sleep(0.01)
    assert pid is not None, "it should wait"
    return task, holder, pid


async def _waits(holder: psycopg.AsyncConnection[Any]) -> int | None:
    cursor = await holder.execute(
        "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    )
    row = await cursor.fetchone()
    return row[0] if row else None


async def test_cancelled_in_the_middle_it_inserts_none(
    one: awa.AsyncClient,
    conn: psycopg.AsyncConnection[Any],
    connect: Connect,
    caplog: pytest.LogCaptureFixture,
) -> None:
    task, _, _ = await _held_in_the_middle(connect, lambda: one.insert_many(pages()))
    with caplog.at_level(logging.WARNING):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert caplog.records == []
    await usable(one, conn)


async def test_a_connection_that_breaks_in_the_middle_inserts_none(
    one: awa.AsyncClient, conn: psycopg.AsyncConnection[Any], connect: Connect
) -> None:
    task, holder, pid = await _held_in_the_middle(connect, lambda: one.insert_many(pages()))
    await holder.execute("SELECT pg_terminate_backend(%s)", [pid])
    with pytest.raises(awa.DatabaseError):
        await task
    await usable(one, conn)


async def test_nobody_sees_a_part_of_it(
    one: awa.AsyncClient, conn: psycopg.AsyncConnection[Any], connect: Connect
) -> None:
    task, holder, _ = await _held_in_the_middle(connect, lambda: one.insert_many(pages()))
    assert await stored(conn) == 0
    await holder.execute("SELECT pg_advisory_unlock(471301)")
    assert len(await task) == await stored(conn) == JOBS


def test_the_blocking_client_does_the_same(database_url: str) -> None:
    with awa.Client(database_url, pool_max_size=1) as client:
        jobs = client.insert_many(pages(), queue="books")
        assert [client.get_job(jobs[n].id).args["n"] for n in (0, FIRST_JOBS, LAST)] == [0, 8, LAST]
        with pytest.raises(awa.ValidationError, match=f"job {LAST} of the list"):
            client.insert_many([*map(large_dict, range(LAST)), {"n": object()}], kind="k")
        assert len(client.insert_many(pages())) == JOBS
