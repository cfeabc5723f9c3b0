"""Chunks don't wait for the disk, ends do; a crash of the server takes back whole chunks and nothing else."""

from typing import Any

from psycopg import AsyncConnection

from awa.config import Settings
from awa.db.migrate import migrate
from awa.dev.postgres import Server
from awa.operations import steps
from awa.operations.pace import page_pace
from awa.operations.steps import Office
from awa.operations.submit import submit
from tests.operations.kit import (
    Conn,
    add_jobs,
    add_scheduled,
    check_sums,
    held,
    jobs_by,
    lead,
    new_runner,
    pool_of,
    run_to_end,
    value,
)

CRASHES = 4
STEPS_BETWEEN_CRASHES = 3


async def waits(conn: Conn) -> Any:
    """Whether this transaction's commit will wait for the disk."""
    return await value(conn, "SHOW synchronous_commit")


async def test_only_the_transaction_that_ends_an_operation_waits(conn: Conn) -> None:
    await add_jobs(conn, 150)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    office = Office(await lead(conn), Settings().batch_op_retention_days)
    async with conn.transaction():
        await steps.begin(conn, await held(conn, submitted["id"]), office)
        assert await waits(conn) == "on"
    seen = []
    for rows in (100, 100):
        async with conn.transaction():
            operation = await held(conn, submitted["id"])
            while operation.state == "scanning":
                await steps.scan(conn, operation, office, page_pace(100))
                operation = await held(conn, submitted["id"])
            await steps.change(conn, operation, office, rows)
            seen.append(await waits(conn))
    assert seen == ["off", "on"]
    assert (await check_sums(conn, submitted["id"]))["state"] == "completed"


async def test_a_scan_waits_only_when_it_is_through(conn: Conn) -> None:
    await add_jobs(conn, 300)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    office = Office(await lead(conn), Settings().batch_op_retention_days)
    async with conn.transaction():
        await steps.begin(conn, await held(conn, submitted["id"]), office)
    seen = set()
    while (await check_sums(conn, submitted["id"]))["state"] == "scanning":
        async with conn.transaction():
            pace = page_pace(0)  # one page a transaction
            await steps.scan(conn, await held(conn, submitted["id"]), office, pace)
            state = (await held(conn, submitted["id"])).state
            seen.add((str(state), await waits(conn)))
    assert seen == {("scanning", "off"), ("running", "on")}


async def test_the_sums_hold_when_the_server_crashes_in_the_middle(own_server: Server) -> None:
    async with await AsyncConnection.connect(own_server.url(), autocommit=True) as conn:
        await migrate(conn)
        await add_jobs(conn, 3_000)
        await add_scheduled(conn, 200)
        submitted = await submit(conn, "move_queue", {"kind": "work"}, {"queue": "b"})
    for _ in range(CRASHES):
        async with (
            pool_of(own_server.url()) as pool,
            await AsyncConnection.connect(own_server.url(), autocommit=True) as conn,
        ):
            runner = await new_runner(conn, pool)
            for _ in range(STEPS_BETWEEN_CRASHES):
                await runner.step()
        own_server.restart("immediate")
        async with await AsyncConnection.connect(own_server.url(), autocommit=True) as conn:
            await check_sums(conn, submitted["id"])
            assert sum((await jobs_by(conn, "queue")).values()) == 3_200
    async with (
        pool_of(own_server.url()) as pool,
        await AsyncConnection.connect(own_server.url(), autocommit=True) as conn,
    ):
        await run_to_end(await new_runner(conn, pool))
        done = await check_sums(conn, submitted["id"])
        assert (done["state"], done["processed"]) == ("completed", 3_200)
        assert await jobs_by(conn, "queue") == {"b": 3_200}
