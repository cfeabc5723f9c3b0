"""PgQueuer 1.x at its best setting: asyncpg, uvloop, a pool, large batches, its own autovacuum tuning.

Durability stays at its default ("durable"): unlogged tables would be faster, but they lose the queue in a crash, and
that is not the promise it is compared with.
"""

import asyncio
import json
from datetime import timedelta
from typing import Any

import asyncpg
import uvloop
import words
from pgqueuer import PgQueuer, Queries
from pgqueuer.models import Job

ENTRYPOINT = "noop"
POOL_SIZE = 8
DEQUEUE_BATCH = 2_000
"""Tried, in jobs/s drained on a quiet machine: 100: 8,800, 500: 16,500, 1,000: 22,000, 2,000: 23,500, 4,000: 21,000."""
LATENCY_BATCH = 10


async def install(order: words.Order) -> dict[str, Any]:
    """Its schema, and the autovacuum settings it recommends."""
    connection = await asyncpg.connect(order.url)
    queries = Queries.from_asyncpg_connection(connection)
    await queries.install()
    await queries.optimize_autovacuum()
    await connection.close()
    return {}


async def enqueue(order: words.Order) -> dict[str, Any]:
    """Bulk: lists of payloads, one statement a batch."""
    connection = await asyncpg.connect(order.url)
    queries = Queries.from_asyncpg_connection(connection)
    arguments = words.arguments(order)
    watch = words.Stopwatch()
    for batch in words.batches(arguments, order.batch):
        size = len(batch)
        payloads: list[bytes | None] = [json.dumps(args).encode() for args in batch]
        await queries.enqueue([ENTRYPOINT] * size, payloads, [0] * size)
    return watch.read()


async def singles(order: words.Order) -> dict[str, Any]:
    """One job a statement, from several tasks at once."""
    pool = await _pool(order, order.concurrency)
    queries = Queries.from_asyncpg_pool(pool)
    payload = json.dumps(words.SMALL).encode()
    watch = words.Stopwatch()
    await words.concurrently(
        order.count, order.concurrency, lambda: queries.enqueue(ENTRYPOINT, payload)
    )
    return watch.read()


async def drain(order: words.Order) -> dict[str, Any]:
    """One worker until the queue's table is empty."""
    tally = words.Tally(order.count)
    pool = await _pool(order, POOL_SIZE)
    pgq = PgQueuer.from_asyncpg_pool(pool)

    @pgq.entrypoint(ENTRYPOINT)
    async def handle(job: Job) -> None:
        json.loads(job.payload or b"{}")
        tally.one()

    watch = words.Stopwatch()
    worker = asyncio.create_task(pgq.run(batch_size=DEQUEUE_BATCH))
    await tally.wait()
    await words.until_none_left(lambda: pool.fetchval(words.statement("pgqueuer_unfinished")))
    seen = watch.read()
    worker.cancel()
    return seen


async def listen(order: words.Order) -> dict[str, Any]:
    """One worker that notes how long each job took to reach its handler."""
    tally = words.Tally(order.count)
    pgq = PgQueuer.from_asyncpg_pool(await _pool(order, POOL_SIZE))

    @pgq.entrypoint(ENTRYPOINT)
    async def handle(job: Job) -> None:
        tally.picked_up(json.loads(job.payload or b"{}")["sent"])

    worker = asyncio.create_task(
        pgq.run(batch_size=LATENCY_BATCH, dequeue_timeout=timedelta(seconds=30))
    )
    await asyncio.sleep(1)
    words.say("ready")
    await tally.wait()
    worker.cancel()
    return {"latencies_ms": tally.latencies_ms}


async def produce(order: words.Order) -> dict[str, Any]:
    """A steady stream of single jobs."""
    queries = Queries.from_asyncpg_pool(await _pool(order, 4))

    async def one(sent: float) -> None:
        await queries.enqueue(ENTRYPOINT, json.dumps({"sent": sent}).encode())

    await words.at_rate(order.count, order.rate, one)
    return {}


async def _pool(order: words.Order, size: int) -> Any:
    return await asyncpg.create_pool(order.url, min_size=size, max_size=size)


if __name__ == "__main__":
    uvloop.install()
    words.run(
        {
            "install": install,
            "enqueue": enqueue,
            "singles": singles,
            "drain": drain,
            "listen": listen,
            "produce": produce,
        }
    )
