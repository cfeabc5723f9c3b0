"""awa-pg 0.6.9 at its best setting: COPY for bulk enqueue, several claimers with large batches, queue storage."""

import asyncio
from importlib import import_module
from typing import Any

import words

# Its package has our name; which of the two this is, the environment decides.
awa_pg: Any = import_module("awa")

# The best of a sweep over 64 to 2,000 workers, 1 to 4 claimers and batches of 128 and 512.
MAX_WORKERS = 2_000
CLAIMERS = 2
CLAIM_BATCH = 512
CONNECTIONS = 20
OPERATION_POLL_S = 0.1
MOVE_MAX_S = 30


def _client(order: words.Order) -> Any:
    return awa_pg.AsyncClient(order.url, CONNECTIONS)


async def install(order: words.Order) -> dict[str, Any]:
    """Its migrations and its queue storage, which otherwise becomes active with the first worker only."""
    client = _client(order)
    await client.migrate()
    await client.install_queue_storage()
    return {}


async def enqueue(order: words.Order) -> dict[str, Any]:
    """Bulk: COPY straight into the queue storage, a batch at a time."""
    client = _client(order)
    arguments = words.arguments(order)
    watch = words.Stopwatch()
    for batch in words.batches(arguments, order.batch):
        await client.enqueue_many_copy(batch, kind="noop", queue=order.queue)
    return watch.read()


async def singles(order: words.Order) -> dict[str, Any]:
    """One job a call, from several tasks at once."""
    client = _client(order)
    watch = words.Stopwatch()
    await words.concurrently(
        order.count,
        order.concurrency,
        lambda: client.insert(words.SMALL, kind="noop", queue=order.queue),
    )
    return watch.read()


async def drain(order: words.Order) -> dict[str, Any]:
    """One worker until no job is left available or running."""
    tally = words.Tally(order.count)
    client = _client(order)

    async def handle(job: Any) -> None:
        assert job.args
        tally.one()

    client.task(dict, kind="noop", queue=order.queue)(handle)
    watch = words.Stopwatch()
    await client.start([_queue(order)])
    await tally.wait()
    await words.until_none_left(lambda: _unfinished(client, order))
    return watch.read()


async def listen(order: words.Order) -> dict[str, Any]:
    """One worker that notes how long each job took to reach its handler."""
    tally = words.Tally(order.count)
    client = _client(order)

    async def handle(job: Any) -> None:
        tally.picked_up(job.args["sent"])

    client.task(dict, kind="stamped", queue=order.queue)(handle)
    await client.start([_queue(order)])
    await asyncio.sleep(1)
    words.say("ready")
    await tally.wait()
    return {"latencies_ms": tally.latencies_ms}


async def produce(order: words.Order) -> dict[str, Any]:
    """A steady stream of single jobs."""
    client = _client(order)

    async def one(sent: float) -> None:
        await client.insert({"sent": sent}, kind="stamped", queue=order.queue)

    await words.at_rate(order.count, order.rate, one)
    return {}


async def move(order: words.Order) -> dict[str, Any]:
    """Its own batch operation: every waiting job of one queue to another, with nothing else going on.

    It is left alone after 30 seconds: the rate up to then says enough.
    """
    client = _client(order)

    async def handle(job: Any) -> None: ...

    client.task(dict, kind="idle", queue="idle")(handle)
    await client.start([("idle", 1)])
    await asyncio.sleep(1)
    watch = words.Stopwatch()
    operation = await client.move_queue(order.target, filter={"queue": order.queue})
    while operation["state"] not in ("completed", "cancelled", "failed"):
        await asyncio.sleep(OPERATION_POLL_S)
        operation = await client.get_batch_operation(operation["id"])
        if watch.read()["seconds"] > MOVE_MAX_S:
            break
    return watch.read() | {"processed": operation["processed"]}


def _queue(order: words.Order) -> dict[str, Any]:
    return {
        "name": order.queue,
        "max_workers": MAX_WORKERS,
        "claimers": CLAIMERS,
        "claim_batch_size": CLAIM_BATCH,
    }


async def _unfinished(client: Any, order: words.Order) -> int:
    """Jobs of the queue that are neither completed nor failed."""
    states = ("available", "running")
    return sum([len(await client.list_jobs(state=s, queue=order.queue, limit=1)) for s in states])


if __name__ == "__main__":
    words.run(
        {
            "install": install,
            "enqueue": enqueue,
            "singles": singles,
            "drain": drain,
            "listen": listen,
            "produce": produce,
            "move": move,
        }
    )
