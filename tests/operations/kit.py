"""What the tests of operations share: jobs, a runner with the lease, and the sums that must hold."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import orjson
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from awa.config import Settings
from awa.db.pool import Pool, make_pool
from awa.model.operation import BatchOperation
from awa.operations import read, steps
from awa.operations.fence import LEASE_NAME, LeaseGuard
from awa.operations.runner import Runner
from awa.operations.submit import submit
from awa.storage import leases
from awa.storage.claim import ClaimedJob, claim
from awa.storage.enqueue import NewJob, enqueue_many
from awa.storage.promote import promote as promote_due

Conn = AsyncConnection[Any]
Row = dict[str, Any]

# Later than any wait between passes, so that no test has to sleep one off.
LATER = timedelta(minutes=5)


@asynccontextmanager
async def pool_of(database_url: str) -> AsyncIterator[Pool]:
    """A small pool as a maintenance process has it."""
    pool = make_pool(database_url, max_size=3)
    await pool.open()
    try:
        yield pool
    finally:
        await pool.close()


async def rows(conn: Conn, query: Any, *params: Any) -> list[Row]:
    """All rows of a query of a test, as dictionaries."""
    async with conn.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(query, params)
        return await cursor.fetchall()


async def value(conn: Conn, query: Any, *params: Any) -> Any:
    """The first column of the first row."""
    found = await rows(conn, query, *params)
    return next(iter(found[0].values())) if found else None


async def add_jobs(
    conn: Conn,
    count: int,
    *,
    queue: str = "default",
    kind: str = "work",
    args: Any = None,
    **more: Any,
) -> list[int]:
    """Enqueue jobs and return their ids in order."""
    text = orjson.dumps(args or {}).decode()
    jobs = [NewJob(kind, text, **more) for _ in range(count)]
    return [job.job_id for job in await enqueue_many(conn, queue, jobs)]


async def add_scheduled(conn: Conn, count: int, **more: Any) -> list[int]:
    """Enqueue jobs that wait for tomorrow."""
    return await add_jobs(conn, count, run_at=datetime.now(UTC) + timedelta(days=1), **more)


async def promote(conn: Conn, ids: Sequence[int]) -> None:
    """Let the time of these scheduled jobs come."""
    await conn.execute(
        "UPDATE awa.deferred_jobs SET run_at = now() - interval '1 s' WHERE job_id = ANY (%s)",
        [list(ids)],
    )
    await promote_due(conn)


async def a_runtime(conn: Conn) -> UUID:
    """A worker that may claim."""
    runtime = uuid4()
    await conn.execute(
        "INSERT INTO awa.runtimes (id, host, pid, version, roles) VALUES (%s, 'h', 1, '0', '{worker}')",
        [runtime],
    )
    return runtime


async def claim_jobs(
    conn: Conn, queue: str, count: int, runtime: UUID | None = None
) -> list[ClaimedJob]:
    """Claim as a worker does."""
    return (await claim(conn, queue, count, runtime or await a_runtime(conn))).jobs


async def lead(conn: Conn, holder: UUID | None = None) -> LeaseGuard:
    """Take the maintenance lease, whoever had it."""
    holder = holder or uuid4()
    await conn.execute(
        "UPDATE awa.leases SET expires_at = '-infinity' WHERE name = %s", [LEASE_NAME]
    )
    lease = await leases.take(conn, LEASE_NAME, holder, ttl_s=3600)
    return LeaseGuard(holder, lease.fence)


async def new_runner(conn: Conn, pool: Pool, **settings: Any) -> Runner:
    """A runner that has just taken the lease; what another knew is lost, as after a crash."""
    return Runner(pool, await lead(conn), Settings(**settings))


async def held(conn: Conn, operation_id: UUID) -> BatchOperation:
    """The operation, locked for the transaction that the test has begun, as a step has it."""
    operation = await steps.entered(conn, operation_id)
    assert operation is not None, "nobody holds all operations"
    return operation


async def run_to_end(runner: Runner, *, steps: int = 2_000) -> int:
    """Step until nothing is left to do, without waiting between passes; returns the steps."""
    for taken in range(steps):
        if not await runner.step(now=datetime.now(UTC) + LATER):
            return taken
    raise AssertionError(f"still busy after {steps} steps")


async def operate(conn: Conn, runner: Runner, kind: str, spec: Any, where: Any, **more: Any) -> Row:
    """Submit, run to the end, check the sums, and return the operation."""
    submitted = await submit(conn, kind, where, spec, actor="operator", **more)
    await run_to_end(runner)
    await check_sums(conn, submitted["id"])
    return await read.get(conn, submitted["id"])


async def check_sums(conn: Conn, operation_id: UUID) -> Row:
    """The accounting invariant: item rows, counters and totals say the same."""
    operation = await read.get(conn, operation_id)
    items = await rows(
        conn,
        "SELECT state, reason FROM awa.batch_operation_items WHERE operation_id = %s",
        operation_id,
    )
    states = Counter(item["state"] for item in items)
    assert (operation["total_matched"] or 0) == len(items)
    for state in ("processed", "skipped", "errored"):
        assert operation[state] == states[state], state
    assert (operation["pending"] or 0) == states["pending"]
    seen: dict[str, Counter[str]] = {}
    for item in items:
        if item["state"] != "pending":
            seen.setdefault(item["state"], Counter())[item["reason"] or "changed"] += 1
    assert operation["totals"] == {state: dict(reasons) for state, reasons in seen.items()}
    return operation


async def jobs_by(conn: Conn, column: str) -> dict[Any, int]:
    """How many jobs there are for each value of a column of awa.jobs."""
    found = await rows(conn, "SELECT to_jsonb(j) AS job FROM awa.jobs j")
    return dict(Counter(row["job"][column] for row in found))
