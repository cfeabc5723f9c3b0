"""Awa through its public client, as a program of its users would be written."""

import asyncio
import time
from typing import Any

import sampling
import words

import awa
from awa.events import batch as batch_events
from awa.sql.catalog import Storage

MAX_WORKERS = 2_000
# The statement that counts what is not over, and the storage that is measured; the other runner of ours sets both.
unfinished = "awa_unfinished"
storage: Storage | None = None
CONNECTIONS = 10


def _client(order: words.Order, connections: int = CONNECTIONS) -> awa.AsyncClient:
    return awa.AsyncClient(order.url, pool_max_size=connections, prepare=True)


async def install(order: words.Order) -> dict[str, Any]:
    """The schema."""
    async with _client(order) as client:
        await client.migrate(storage=storage)
    return {}


async def enqueue(order: words.Order) -> dict[str, Any]:
    """Bulk: one statement a batch."""
    arguments = words.arguments(order)
    async with _client(order) as client:
        watch = words.Stopwatch()
        for batch in words.batches(arguments, order.batch):
            await client.insert_many(batch, kind="noop", queue=order.queue)
        return watch.read()


async def singles(order: words.Order) -> dict[str, Any]:
    """One job a call, from several tasks at once."""
    async with _client(order, order.concurrency) as client:
        watch = words.Stopwatch()
        await words.concurrently(
            order.count,
            order.concurrency,
            lambda: client.insert(words.SMALL, kind="noop", queue=order.queue),
        )
        return watch.read()


async def drain(order: words.Order) -> dict[str, Any]:
    """One worker, all features on, until every attempt is closed in the database."""
    tally = words.Tally(order.count)
    sampler = sampling.Sampler()
    client = _client(order)

    @client.task(dict, kind="noop", queue=order.queue)
    async def handle(job: awa.Job[dict[str, Any]]) -> None:
        assert job.args  # read, so that nobody gains by leaving them unread
        tally.one()

    await client.open()
    watch = words.Stopwatch()
    if order.sample:
        sampler.start()
    await client.start([(order.queue, MAX_WORKERS)])
    await tally.wait()
    await words.until_none_left(lambda: _unfinished(client))
    seen: dict[str, Any] = watch.read()
    return seen | ({"shares": sampler.stop()} if order.sample else {})


async def listen(order: words.Order) -> dict[str, Any]:
    """One worker that notes how long each job took to reach its handler."""
    tally = words.Tally(order.count)
    client = _client(order)

    @client.task(dict, kind="stamped", queue=order.queue)
    async def handle(job: awa.Job[dict[str, Any]]) -> None:
        tally.picked_up(job.args["sent"])

    await client.start([(order.queue, 50)], roles={"worker"} if order.worker_only else None)
    await asyncio.sleep(1)
    words.say("ready")
    await tally.wait()
    return {"latencies_ms": tally.latencies_ms}


async def produce(order: words.Order) -> dict[str, Any]:
    """A steady stream of single jobs."""
    async with _client(order, 4) as client:

        async def one(sent: float) -> None:
            await client.insert({"sent": sent}, kind="stamped", queue=order.queue)

        await words.at_rate(order.count, order.rate, one)
    return {}


async def attend(order: words.Order) -> dict[str, Any]:
    """One worker that takes away whatever comes, until the harness closes this program's standard input."""
    client = _client(order)

    @client.task(dict, kind="noop", queue=order.queue)
    async def handle(job: awa.Job[dict[str, Any]]) -> None: ...

    await client.start([(order.queue, 50)])
    await asyncio.sleep(1)
    words.say("ready")
    await words.until_input_ends()
    return {}


async def maintain(order: words.Order) -> dict[str, Any]:
    """The maintenance leader alone, until the input ends; answers when chunks ended and how long they took."""
    ends_s: list[float] = []
    chunks_ms: list[float] = []

    def chunk_took(op_kind: str, seconds: float) -> None:
        ends_s.append(time.monotonic())
        chunks_ms.append(seconds * 1000)

    # The product tells its metrics here how long a chunk took; a histogram's buckets would be too coarse.
    batch_events.chunk_took = chunk_took
    async with _client(order) as client:
        await client.start([], roles={"maintenance"})
        words.say("ready")
        await words.until_input_ends()
    return {"ends_s": ends_s, "chunks_ms": chunks_ms}


async def move(order: words.Order) -> dict[str, Any]:
    """Submit a move of every waiting job of the queue and wait for its end."""
    async with _client(order) as client:
        if order.lead:
            await client.start([], roles={"maintenance"})
        operation = await client.move_queue(order.target, filter={"queue": order.queue})
        words.say("submitted")
        ended = await client.wait_batch_operation(operation["id"], timeout=words.DRAIN_TIMEOUT_S)
    took = ended["finalized_at"] - ended["started_at"]
    names = ("state", "total_matched", "processed", "skipped", "errored", "last_error")
    return {"seconds": took.total_seconds()} | {name: ended[name] for name in names}


async def stir(order: words.Order) -> dict[str, Any]:
    """One operation after the other over every waiting job but the busy queue's, until the input ends."""
    operations = 0
    async with _client(order) as client:
        ended = asyncio.create_task(words.until_input_ends())
        while not ended.done():
            wanted = {"state": "available", "kind_prefix": "kind_"}
            operation = await client.set_priority(1 + operations % 4, filter=wanted)
            words.say("submitted")
            while not ended.done():
                seen = await client.get_batch_operation(operation["id"])
                if seen["finalized_at"] is not None:
                    operations += 1
                    break
                await asyncio.sleep(0.1)
    return {"operations": operations}


async def _unfinished(client: awa.AsyncClient) -> int:
    async with client.transaction() as tx:
        found = await tx.fetch_one(words.statement(unfinished))
    return int(found["unfinished"]) if found else 0


COMMANDS = {
    "install": install,
    "enqueue": enqueue,
    "singles": singles,
    "drain": drain,
    "listen": listen,
    "produce": produce,
    "attend": attend,
    "maintain": maintain,
    "move": move,
    "stir": stir,
}

if __name__ == "__main__":
    words.run(COMMANDS)
