"""What a bridge can't do it says in words, before anything is written, and errors are Awa's whatever the library."""

import asyncio
import contextlib
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import asyncpg
import psycopg
import psycopg2
import pytest
from django.db import connection, connections
from psycopg_pool import AsyncConnectionPool
from sqlalchemy import create_engine
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import Session, sessionmaker

import awa
from awa import bridge
from tests import django_site
from tests.bridge.libraries import ASYNC, BLOCKING, alchemy_url


@dataclass
class SendEmail:
    to: str = "ada@example.org"


def test_no_library_is_imported_before_a_program_does() -> None:
    libraries = "{'asyncpg', 'django', 'sqlalchemy', 'psycopg2', 'django_tasks', 'starlette'}"
    code = f"import sys, awa, awa.bridge; assert not {libraries} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", ASYNC)
async def test_a_database_without_awa_is_told_as_such(empty_database_url: str, name: str) -> None:
    async with ASYNC[name](empty_database_url) as opened:
        with pytest.raises(awa.SchemaNotMigrated, match="awa migrate"):
            await bridge.insert_job(opened.connection, SendEmail())
        await opened.rollback()


@pytest.mark.parametrize("name", BLOCKING)
async def test_a_blocking_library_tells_it_as_well(empty_database_url: str, name: str) -> None:
    def insert() -> None:
        with BLOCKING[name](empty_database_url) as opened:
            with pytest.raises(awa.SchemaNotMigrated, match="awa migrate"):
                bridge.insert_job_sync(opened.connection, SendEmail())
            opened.rollback()

    await asyncio.to_thread(insert)


@pytest.mark.parametrize("name", ASYNC)
async def test_another_isolation_level_is_refused_by_the_server(
    database_url: str, name: str
) -> None:
    async with ASYNC[name](database_url) as opened:
        await opened.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        with pytest.raises(awa.AwaError, match="READ COMMITTED"):
            await bridge.insert_job(opened.connection, SendEmail())
        await opened.rollback()


@pytest.mark.parametrize("name", ASYNC)
async def test_bad_options_are_refused_by_their_field(database_url: str, name: str) -> None:
    async with ASYNC[name](database_url) as opened:
        with pytest.raises(awa.ValidationError) as refused:
            await bridge.insert_job(opened.connection, SendEmail(), priority=9, queue="")
        assert [problem.field for problem in refused.value.fields] == ["queue", "priority"]
        await opened.rollback()


async def test_a_blocking_connection_is_sent_to_the_other_function(database_url: str) -> None:
    engine = create_engine(alchemy_url(database_url, "psycopg"))
    psycopg2_connection = psycopg2.connect(database_url)
    django_site.set_up()
    with psycopg.connect(database_url) as own, Session(engine) as session:
        for given in (own, own.cursor(), session, psycopg2_connection, connection):
            with pytest.raises(awa.ValidationError, match=r"blocking.*insert_job_sync"):
                await bridge.insert_job(given, SendEmail())
    psycopg2_connection.close()
    engine.dispose()


@pytest.mark.parametrize("name", ASYNC)
async def test_an_async_connection_is_sent_to_the_other_function(
    database_url: str, name: str
) -> None:
    async with ASYNC[name](database_url) as opened:
        with pytest.raises(awa.ValidationError, match=r"async connection.*await insert_job"):
            bridge.insert_job_sync(opened.connection, SendEmail())


async def test_what_has_no_transaction_is_told_from_a_connection(database_url: str) -> None:
    engine = create_engine(alchemy_url(database_url, "psycopg"))
    async_engine = create_async_engine(alchemy_url(database_url, "asyncpg"))
    async with (
        AsyncConnectionPool(database_url, min_size=0, max_size=1, open=False) as psycopg_pool,
        asyncpg.create_pool(database_url, min_size=0, max_size=1) as asyncpg_pool,
        awa.AsyncClient(database_url) as client,
    ):
        for given in (psycopg_pool, asyncpg_pool, async_engine, client, object(), None):
            with pytest.raises(
                awa.ValidationError, match=r"asyncpg\.Connection.*give a connection"
            ):
                await bridge.insert_job(given, SendEmail())
    for given in (engine, sessionmaker(engine), database_url, object()):
        with pytest.raises(awa.ValidationError, match=r"django\.db\.connection; got \w+"):
            bridge.insert_job_sync(given, SendEmail())
    engine.dispose()
    await async_engine.dispose()


def test_another_database_than_postgresql_is_named() -> None:
    django_site.set_up()
    with pytest.raises(awa.ValidationError, match="'other' is to sqlite"):
        bridge.insert_job_sync(connections["other"], SendEmail())
    engine = create_engine("sqlite://")
    with engine.connect() as conn, pytest.raises(awa.ValidationError, match="sqlite by pysqlite"):
        bridge.insert_job_sync(conn, SendEmail())
    with (
        Session(engine) as session,
        pytest.raises(awa.ValidationError, match="sqlite by pysqlite"),
    ):
        bridge.insert_many_jobs_sync(session, [SendEmail()])
    engine.dispose()


async def test_without_a_transaction_one_job_is_committed_at_once_and_a_set_refused(
    client: awa.AsyncClient, database_url: str, conn: psycopg.AsyncConnection[Any]
) -> None:
    own = await asyncpg.connect(database_url)
    engine = create_async_engine(alchemy_url(database_url, "psycopg"), isolation_level="AUTOCOMMIT")
    other_engine = create_async_engine(alchemy_url(database_url, "asyncpg"))
    async with engine.connect() as alchemy, other_engine.connect() as fresh:
        other = await fresh.execution_options(isolation_level="AUTOCOMMIT")
        for given in (conn, own, alchemy, other):
            job = await bridge.insert_job(given, SendEmail())
            assert (await client.get_job(job.id)).state is awa.JobState.AVAILABLE
            with pytest.raises(awa.ValidationError, match="no transaction open"):
                await bridge.insert_many_jobs(given, [SendEmail(), SendEmail()])
    async with conn.transaction(), own.transaction():
        assert len(await bridge.insert_many_jobs(conn, [SendEmail(), SendEmail()])) == 2
        assert len(await bridge.insert_many_jobs(own, [SendEmail(), SendEmail()])) == 2
    await own.close()
    await engine.dispose()
    await other_engine.dispose()
    assert len(await client.list_jobs()) == 8


async def test_blocking_connections_without_a_transaction_do_the_same(
    client: awa.AsyncClient, database_url: str
) -> None:
    def insert() -> list[int]:
        ids = []
        own = psycopg2.connect(database_url)
        own.autocommit = True
        engine = create_engine(alchemy_url(database_url, "psycopg2"), isolation_level="AUTOCOMMIT")
        with (
            psycopg.connect(database_url, autocommit=True) as ours,
            engine.connect() as alchemy,
            django_site.on_database(database_url) as django_connection,
        ):
            for given in (own, ours, alchemy, django_connection):
                ids.append(bridge.insert_job_sync(given, SendEmail()).id)
                with pytest.raises(awa.ValidationError, match="no transaction open"):
                    bridge.insert_many_jobs_sync(given, [SendEmail()])
            own.cursor().execute("BEGIN")
            ids += [job.id for job in bridge.insert_many_jobs_sync(own, [SendEmail()])]
            own.cursor().execute("COMMIT")
        own.close()
        engine.dispose()
        return ids

    for job_id in await asyncio.to_thread(insert):
        assert (await client.get_job(job_id)).state is awa.JobState.AVAILABLE


async def test_a_registered_task_says_kind_and_queue(
    client: awa.AsyncClient, conn: psycopg.AsyncConnection[Any], database_url: str
) -> None:
    client.task(SendEmail, kind="mail", queue="email")(lambda job: None)
    job = await bridge.insert_job(conn, SendEmail(), tasks=client.tasks)
    assert (job.kind, job.queue) == ("mail", "email")
    with psycopg.connect(database_url) as own:
        (again,) = bridge.insert_many_jobs_sync(own, [SendEmail()], tasks=client.tasks)
    assert (again.kind, again.queue) == ("mail", "email")


async def test_sessions_inside_run_sync_are_blocking_ones(
    client: awa.AsyncClient, database_url: str
) -> None:
    engine = create_async_engine(alchemy_url(database_url, "asyncpg"))
    async with engine.begin() as conn:
        job = await conn.run_sync(lambda own: bridge.insert_job_sync(own, SendEmail(), queue="q"))
    await engine.dispose()
    assert (await client.get_job(job.id)).queue == "q"


async def test_a_connection_that_is_gone_is_told_as_a_database_error(database_url: str) -> None:
    own = await asyncpg.connect(database_url)
    await own.close()
    with pytest.raises(awa.DatabaseError, match="closed"):
        await bridge.insert_job(own, SendEmail())


KILL = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost'"


@pytest.mark.parametrize("name", ASYNC)
async def test_a_connection_that_breaks_is_told_as_well(
    database_url: str, conn: psycopg.AsyncConnection[Any], name: str
) -> None:
    async with ASYNC[name](database_url) as opened:
        await opened.execute("SET application_name = 'lost'")
        await conn.execute(KILL)
        with pytest.raises(awa.DatabaseError):
            await bridge.insert_job(opened.connection, SendEmail())
        with contextlib.suppress(Exception):
            await opened.rollback()


@pytest.mark.parametrize("name", BLOCKING)
async def test_a_blocking_connection_that_breaks_is_told_as_well(
    database_url: str, name: str
) -> None:
    def insert() -> None:
        with BLOCKING[name](database_url) as opened:
            opened.execute("SET application_name = 'lost'")
            with psycopg.connect(database_url, autocommit=True) as outside:
                outside.execute(KILL)
            with pytest.raises(awa.DatabaseError):
                bridge.insert_job_sync(opened.connection, SendEmail())
            with contextlib.suppress(Exception):
                opened.rollback()

    await asyncio.to_thread(insert)
