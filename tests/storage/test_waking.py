"""A single insert wakes a sleeping worker after its commit: one that notifies as it commits makes all others wait for its disk."""

from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection

import awa
from awa.db import run
from awa.dev.binaries import PostgresBinaries
from awa.dev.temporary import temporary_server
from awa.model.portions import LARGE_BYTES, SET_BYTES
from awa.storage.enqueue import NewJob, enqueue_alike, enqueue_many, enqueue_one
from tests.conftest import Connect
from tests.storage.world import World

JOB = NewJob("k", b"{}")
QUEUE = "q"


@pytest.fixture
async def sleeper(connect: Connect) -> AsyncConnection[Any]:
    """A listener that sleeps on the queue."""
    listener = await connect()
    await listener.execute("LISTEN awa_ready")
    await listener.execute("SELECT awa.mark_idle('q')")
    return listener


async def test_an_insert_alone_commits_before_it_notifies(
    world: World, sleeper: AsyncConnection[Any]
) -> None:
    await _break_notify(world)
    one = await enqueue_one(world.conn, QUEUE, JOB, alone=True)
    (set_,) = await enqueue_alike(world.conn, QUEUE, JOB, [b"1", b"2"], alone=True)
    stored = await world.fetch("SELECT count(*) FROM awa.jobs WHERE queue = 'q'")
    assert stored == (3,)
    assert [one.job_id, *set_.job_ids] == sorted([one.job_id, *set_.job_ids])


async def test_it_is_one_statement_that_inserts_and_wakes(
    world: World, sleeper: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str] = []
    send = run.tuples

    async def note(conn: Any, name: str, params: Any, **options: Any) -> Any:
        sent.append(name)
        return await send(conn, name, params, **options)

    monkeypatch.setattr(run, "tuples", note)
    await enqueue_one(world.conn, QUEUE, JOB, alone=True)
    assert sent == ["storage/enqueue_alone"]
    assert await _heard(sleeper) == [QUEUE]


async def test_it_says_where_the_job_went(world: World) -> None:
    later = await world.now(later_s=60)
    ready = await enqueue_one(world.conn, QUEUE, JOB, alone=True)
    waits = await enqueue_one(world.conn, QUEUE, JOB._replace(run_at=later), alone=True)
    assert [ready.state, waits.state] == ["available", "scheduled"]
    assert await world.states([ready.job_id, waits.job_id]) == ["available", "scheduled"]


async def test_a_full_queue_of_notifications_does_not_deny_a_job_that_is_there(
    pg_binaries: PostgresBinaries | None, server_version: int
) -> None:
    if server_version < 17:
        pytest.skip("max_notify_queue_pages is new in PostgreSQL 17; 8 GB take too long to fill")
    with temporary_server(
        binaries=pg_binaries, settings={"max_notify_queue_pages": "64"}
    ) as server:
        url = server.url("postgres")
        async with awa.AsyncClient(url) as client:
            await client.migrate()
        deaf = await psycopg.AsyncConnection.connect(url, autocommit=True)
        conn = await psycopg.AsyncConnection.connect(url, autocommit=True)
        async with deaf, conn:
            await deaf.execute("LISTEN awa_ready")
            await deaf.execute("SELECT awa.mark_idle('q')")
            await deaf.execute("BEGIN")  # hears nothing until it ends, and so holds up the queue
            with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="too many notifications"):
                await _fill(conn)
            inserted = await enqueue_one(conn, QUEUE, JOB, alone=True)
            cursor = await conn.execute("SELECT id FROM awa.jobs")
            assert await cursor.fetchall() == [(inserted.job_id,)]


async def test_it_wakes_the_sleeper_and_the_set_does(
    world: World, sleeper: AsyncConnection[Any]
) -> None:
    await enqueue_one(world.conn, QUEUE, JOB, alone=True)
    assert await _heard(sleeper) == [QUEUE]
    await enqueue_alike(world.conn, QUEUE, JOB, [b"1", b"2"], alone=True)
    assert await _heard(sleeper) == [QUEUE]


async def test_nobody_is_told_where_nobody_sleeps(
    world: World, sleeper: AsyncConnection[Any]
) -> None:
    await sleeper.execute("SELECT awa.mark_busy('q')")
    await enqueue_one(world.conn, QUEUE, JOB, alone=True)
    assert await _heard(sleeper) == []


async def test_in_a_transaction_the_commit_tells(
    world: World, sleeper: AsyncConnection[Any]
) -> None:
    async with world.conn.transaction():
        await enqueue_one(world.conn, QUEUE, JOB)
        await enqueue_alike(world.conn, QUEUE, JOB, [b"1"])
        await enqueue_many(world.conn, QUEUE, [JOB])
        assert await _heard(sleeper) == []
    assert await _heard(sleeper) == [QUEUE]


async def test_a_transaction_after_one_alone_is_not_taken_for_one(
    world: World, sleeper: AsyncConnection[Any]
) -> None:
    await enqueue_one(world.conn, QUEUE, JOB, alone=True)
    await _heard(sleeper)
    await world.conn.execute("SELECT awa.enqueue('k', '{}', 'q')")
    assert await _heard(sleeper) == [QUEUE]


async def test_the_insert_itself_waits_for_the_disk_and_the_waking_does_not(world: World) -> None:
    await world.conn.execute("""
        CREATE TABLE commits (how text);
        CREATE OR REPLACE FUNCTION awa.notify_if_idle(p_queue text) RETURNS void LANGUAGE sql AS $$
            INSERT INTO commits VALUES (current_setting('awa.wake', true) || ' ' || current_setting('synchronous_commit'));
            SELECT set_config('awa.wake', 'wanted', true) $$""")
    await enqueue_one(world.conn, QUEUE, JOB, alone=True)
    cursor = await world.conn.execute("SELECT trim(how) FROM commits")
    assert await cursor.fetchall() == [("later on",), ("off",)]


async def test_a_client_inserts_so_and_its_transactions_do_not(
    database_url: str, world: World, sleeper: AsyncConnection[Any]
) -> None:
    async with awa.AsyncClient(database_url) as client:
        await _break_notify(world)
        await client.insert({}, kind="k", queue=QUEUE)
        await client.insert_many([{}, {}], kind="k", queue=QUEUE)
        with pytest.raises(awa.AwaError, match="no notification"):
            async with client.transaction() as tx:
                await tx.insert({}, kind="k", queue=QUEUE)
    assert await world.fetch("SELECT count(*) FROM awa.jobs") == (3,)


async def test_a_set_of_large_jobs_wakes_once_and_after_its_commit(
    database_url: str, world: World, sleeper: AsyncConnection[Any]
) -> None:
    large = [{"text": "x" * LARGE_BYTES}] * (SET_BYTES // LARGE_BYTES)
    async with awa.AsyncClient(database_url) as client:
        await client.insert_many(large, kind="k", queue=QUEUE)
        assert await _heard(sleeper) == [QUEUE]
        await _break_notify(world)
        await client.insert_many(large, kind="k", queue=QUEUE)
    assert await world.fetch("SELECT count(*) FROM awa.jobs") == (2 * len(large),)


async def test_where_the_commit_is_the_pools_it_tells(
    database_url: str, sleeper: AsyncConnection[Any]
) -> None:
    """Nothing that such a connection says has been committed when it says the next thing."""
    conn = await psycopg.AsyncConnection.connect(database_url)
    async with conn:
        await enqueue_one(conn, QUEUE, JOB, alone=conn.autocommit)
        how = await (await conn.execute("SHOW synchronous_commit")).fetchone()
        assert how == ("on",)
    assert await _heard(sleeper) == [QUEUE]


async def _fill(conn: AsyncConnection[Any]) -> None:
    """Notify of something new, a page each time, until there is no more room."""
    for n in range(1_000):
        await conn.execute("SELECT pg_notify('x', repeat('x', 7990) || %s)", (str(n),))


async def _break_notify(world: World) -> None:
    """From now on whoever really notifies fails; somebody sleeps all the time."""
    await world.conn.execute("""
        CREATE OR REPLACE FUNCTION awa.notify_if_idle(p_queue text) RETURNS void LANGUAGE plpgsql AS $$
        BEGIN
            IF current_setting('awa.wake', true) IS DISTINCT FROM 'later' THEN RAISE EXCEPTION 'no notification'; END IF;
            PERFORM set_config('awa.wake', 'wanted', true);
        END $$""")


async def _heard(listener: AsyncConnection[Any]) -> list[str]:
    """What the listener was told until now."""
    await listener.execute("SELECT 1")
    return [note.payload async for note in listener.notifies(timeout=0)]
