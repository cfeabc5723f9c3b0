"""The whole role: it starts without a database or a worker, fails over, and stops when told."""

import asyncio
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import AsyncConnectionPool

from awa.config import Settings
from awa.db import run
from awa.db.migrate import migrate
from awa.db.pool import Pool, connect, make_pool
from awa.dev.postgres import Server
from awa.events import runtime as events
from awa.maintenance import Maintenance
from awa.maintenance.duty import Duty
from awa.maintenance.leader import Timing
from awa.operations.fence import LEASE_NAME
from awa.operations.submit import submit
from awa.storage.runtimes import register

LEADER = """
import asyncio, sys
from uuid import UUID
from awa.config import Settings
from awa.db.pool import open_pool
from awa.maintenance import Maintenance

async def main(url, runtime_id, ttl_s):
    async with open_pool(url) as pool:
        await Maintenance(pool, lambda: UUID(runtime_id), Settings(lease_ttl_s=float(ttl_s))).run(asyncio.Event())

asyncio.run(main(*sys.argv[1:]))
"""


@asynccontextmanager
async def running(
    pool: Pool, settings: Settings, runtime_id: UUID, *, table: Sequence[Duty] | None = None
) -> AsyncIterator[asyncio.Task[None]]:
    stop = asyncio.Event()
    maintenance = Maintenance(pool, lambda: runtime_id, settings, table=table)
    task = asyncio.create_task(maintenance.run(stop))
    try:
        yield task
    finally:
        stop.set()
        async with asyncio.timeout(60):
            await asyncio.gather(task, return_exceptions=True)


async def until_led_by(conn: AsyncConnection[Any], holder: UUID) -> int:
    async with asyncio.timeout(60):
        while True:
            seen = await run.row(conn, "maintenance/lease_left", {"name": LEASE_NAME})
            if seen and seen["holder"] == holder and seen["left_s"] > 0:
                return int(seen["fence"])
            await asyncio.sleep(0.02)


async def until_value(conn: AsyncConnection[Any], query: str, wanted: object) -> None:
    async with asyncio.timeout(60):
        while True:
            found = await (await conn.execute(query)).fetchone()
            if found is not None and found[0] == wanted:
                return
            await asyncio.sleep(0.02)


async def test_it_keeps_house_with_no_worker_alive(
    pool: Pool, settings: Settings, conn: AsyncConnection[Any]
) -> None:
    await conn.execute(
        "SELECT awa.enqueue('a', run_at => now() + interval '0.2 seconds'), awa.enqueue('b', queue => 'old')"
    )
    await submit(conn, "move_queue", {"queue": "old"}, {"queue": "new"}, actor="tester")
    async with running(pool, settings, uuid4()):
        await until_value(conn, "SELECT state FROM awa.batch_operations", "completed")
        await until_value(conn, "SELECT count(*) FROM awa.jobs WHERE state = 'available'", 2)
    await until_value(conn, "SELECT queue FROM awa.jobs WHERE kind = 'b'", "new")


async def test_when_the_leader_is_killed_the_next_takes_over_after_the_lease_s_time(
    pool: Pool, database_url: str, conn: AsyncConnection[Any]
) -> None:
    settings = Settings(lease_ttl_s=1.5)
    first, second = uuid4(), uuid4()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", LEADER, database_url, str(first), str(settings.lease_ttl_s)
    )
    try:
        fence = await until_led_by(conn, first)
        async with running(pool, settings, second):
            process.kill()
            # Nobody gives the lease back: it is had as soon as it has run out, and the fence tells the terms apart.
            assert await until_led_by(conn, second) > fence
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def test_a_leader_that_stops_hands_over_without_waiting_for_the_lease(
    pool: Pool, conn: AsyncConnection[Any]
) -> None:
    settings = Settings(lease_ttl_s=300)
    first, second = uuid4(), uuid4()
    async with running(pool, settings, first):
        await until_led_by(conn, first)
    async with running(pool, settings, second):
        await until_led_by(conn, second)


async def test_of_two_the_one_that_is_declared_dead_makes_way_and_acts_no_more(
    pool: Pool, settings: Settings, conn: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Timing, "of", lambda _: Timing(300, 0.02, 0.02, 0.02))
    ids = [uuid4(), uuid4()]
    acts: dict[UUID, int] = dict.fromkeys(ids, 0)

    def act_of(runtime_id: UUID) -> Duty:
        async def act(inside: AsyncConnection[Any], now: object) -> int:
            acts[runtime_id] += 1
            return 1

        return Duty("acting", 0.01, sys.maxsize, act)

    async def until_acts(runtime_id: UUID, more: int) -> None:
        wanted = acts[runtime_id] + more
        async with asyncio.timeout(60):
            while acts[runtime_id] < wanted:  # noqa: ASYNC110 -- nobody announces it
                await asyncio.sleep(0.01)

    first, second = ids
    for runtime_id in ids:
        await register(conn, runtime_id, ["maintenance"], {})
    async with running(pool, settings, first, table=[act_of(first)]):
        fence = await until_led_by(conn, first)
        await until_acts(first, 2)
        async with running(pool, settings, second, table=[act_of(second)]):
            async with conn.transaction():
                # The gate: no duty is inside while the first one is declared dead.
                await conn.execute("SELECT pg_advisory_xact_lock(4715, hashtext(%s))", [LEASE_NAME])
                await conn.execute(
                    "UPDATE awa.runtimes SET state = 'dead', ended_at = now() WHERE id = %s",
                    [first],
                )
                acted = acts[first]
            assert await until_led_by(conn, second) > fence
            await until_acts(second, 3)
            assert acts[first] == acted


async def test_a_full_pool_of_the_program_does_not_cost_the_lease(
    database_url: str,
    settings: Settings,
    conn: AsyncConnection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Timing, "of", lambda _: Timing(300, 0.01, 0.01, 0.01))
    pool = make_pool(database_url, min_size=1, max_size=1, timeout_s=0.1)
    await pool.open()
    leader = uuid4()
    renewed = "SELECT count(DISTINCT expires_at) FROM seen"
    async with pool.connection(), running(pool, settings, leader):
        fence = await until_led_by(conn, leader)
        await conn.execute("CREATE TEMP TABLE seen AS SELECT expires_at FROM awa.leases")
        async with asyncio.timeout(60):
            while (await (await conn.execute(renewed)).fetchone() or (0,))[0] < 4:
                await conn.execute("INSERT INTO seen SELECT expires_at FROM awa.leases")
        assert await until_led_by(conn, leader) == fence
    await pool.close()


async def test_it_waits_for_a_database_that_is_away_and_survives_its_restart(
    own_server: Server, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    missed = asyncio.Event()
    tell = events.trouble

    def trouble(what: str, problem: Exception, wait_s: float) -> None:
        missed.set()
        tell(what, problem, wait_s)

    monkeypatch.setattr(events, "trouble", trouble)
    url = own_server.url()
    async with await connect(url) as admin:
        await migrate(admin)
    pool = make_pool(url, min_size=0, max_size=2)
    await pool.open()
    own_server.halt()
    leader = uuid4()
    async with running(pool, settings, leader) as task:
        await asyncio.wait_for(missed.wait(), 60)
        assert not task.done()
        own_server.restart()
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as conn:
            await until_led_by(conn, leader)
        own_server.restart()
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as conn:
            await conn.execute("SELECT awa.enqueue('a', run_at => now() + interval '0.1 seconds')")
            await until_value(conn, "SELECT state FROM awa.jobs", "available")
    await pool.close()


async def test_a_pool_that_keeps_its_address_in_arguments_is_followed(
    database_url: str, settings: Settings
) -> None:
    """Passwords and certificates are given so; the connection string says nothing then."""
    kwargs = {**conninfo_to_dict(database_url), "autocommit": True}
    async with AsyncConnectionPool("", kwargs=kwargs, min_size=1, open=False) as pool:
        runtime_id = uuid4()
        async with running(pool, settings, runtime_id), pool.connection() as conn:
            await until_led_by(conn, runtime_id)
