"""What every runner says and hears: one order as JSON in the first argument, events as JSON lines on standard output.

Only the standard library, since this file is imported in the environments of all peers. Clocks are the monotonic one,
which all processes of a machine share; so a job can carry the moment at which its producer set out.
"""

import asyncio
import gzip
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SMALL: dict[str, Any] = {"n": 1}
DONE_POLL_S = 0.005
"""How often a runner asks whether the last completions are in the database."""
DRAIN_TIMEOUT_S = 900


@dataclass(frozen=True, slots=True)
class Order:
    """What the harness asks of a runner."""

    command: str
    url: str
    count: int = 0
    batch: int = 1_000
    concurrency: int = 20
    rate: float = 100.0
    payloads: str | None = None
    """A file of real jobs (NDJSON, gzipped); None means the small argument {"n": 1}."""
    queue: str = "bench"
    target: str = "moved"
    sample: bool = False
    """Take samples of where the process spends its CPU time."""
    worker_only: bool = False
    """Leave maintenance to another process."""
    lead: bool = False
    """Carry out the operation as well, where another process isn't asked to."""


def read_order() -> Order:
    """The order in the first argument; an unknown field is an error, as everywhere."""
    return Order(**json.loads(sys.argv[1]))


def say(event: str, **fields: Any) -> None:
    """One line for the harness."""
    sys.stdout.write(json.dumps({"event": event, **fields}) + "\n")
    sys.stdout.flush()


def arguments(order: Order) -> list[dict[str, Any]]:
    """`count` arguments: the small one repeated, or the real ones over and over."""
    if order.payloads is None:
        return [SMALL] * order.count
    with gzip.open(order.payloads, "rt", encoding="utf-8") as lines:
        real: list[dict[str, Any]] = [json.loads(line)["args"] for line in lines]
    return [real[i % len(real)] for i in range(order.count)]


def batches(items: list[Any], size: int) -> Iterator[list[Any]]:
    """The items in lists of at most `size`."""
    for first in range(0, len(items), size):
        yield items[first : first + size]


class Stopwatch:
    """Wall time and CPU time of this process since it was made."""

    def __init__(self) -> None:
        self._wall = time.monotonic()
        self._cpu = _cpu_s()

    def read(self) -> dict[str, float]:
        """`seconds` of wall time and `cpu_seconds` of this process."""
        return {"seconds": time.monotonic() - self._wall, "cpu_seconds": _cpu_s() - self._cpu}


class Tally:
    """Counts what handlers have done and tells when all of it is done; keeps pickup latencies if jobs carry `sent`."""

    def __init__(self, expected: int) -> None:
        self._expected = expected
        self._seen = 0
        self._loop = asyncio.get_running_loop()
        self._all = asyncio.Event()
        self.latencies_ms: list[float] = []

    def one(self) -> None:
        """A job was handled."""
        self._seen += 1
        if self._seen == self._expected:
            self._loop.call_soon_threadsafe(self._all.set)

    def picked_up(self, sent: float) -> None:
        """A job was handled whose producer set out at `sent`."""
        self.latencies_ms.append((time.monotonic() - sent) * 1000)
        self.one()

    async def wait(self) -> None:
        """Until the expected number was handled; a queue that loses jobs makes this fail, not hang."""
        try:
            await asyncio.wait_for(self._all.wait(), DRAIN_TIMEOUT_S)
        except TimeoutError:
            raise SystemExit(f"{self._seen} of {self._expected} jobs were handled") from None


async def until_none_left(count_left: Callable[[], Awaitable[int]]) -> None:
    """Until the database says that nothing is unfinished: completions are counted, not only handler calls."""
    give_up = time.monotonic() + DRAIN_TIMEOUT_S
    while left := await count_left():
        if time.monotonic() > give_up:
            raise SystemExit(f"{left} jobs were handled but are still unfinished in the database")
        await asyncio.sleep(DONE_POLL_S)


async def concurrently(count: int, concurrency: int, one: Callable[[], Awaitable[Any]]) -> None:
    """`count` calls by `concurrency` tasks, each doing one after the other."""

    async def some(share: int) -> None:
        for _ in range(share):
            await one()

    shares = [count // concurrency + (i < count % concurrency) for i in range(concurrency)]
    await asyncio.gather(*(some(share) for share in shares))


async def at_rate(count: int, rate: float, one: Callable[[float], Awaitable[Any]]) -> None:
    """`count` calls, `rate` a second, none waiting for the one before; each is told the moment it sets out."""
    start = time.monotonic()
    async with asyncio.TaskGroup() as running:
        for i in range(count):
            await asyncio.sleep(max(0.0, start + i / rate - time.monotonic()))
            running.create_task(_sent(one))


async def _sent(one: Callable[[float], Awaitable[Any]]) -> None:
    await one(time.monotonic())


async def until_input_ends() -> None:
    """Until the harness closes our standard input, or is gone."""
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


def run(commands: dict[str, Callable[[Order], Awaitable[dict[str, Any]]]]) -> None:
    """Carry out the order and say its result."""
    order = read_order()

    async def carry_out() -> dict[str, Any]:
        return await commands[order.command](order)

    say("result", **asyncio.run(carry_out()))
    sys.stdout.flush()
    os._exit(0)  # some peers' threads would hold the process for seconds; the result is out


def statement(name: str) -> str:
    """A statement of bench/sql that a runner needs."""
    return (Path(__file__).parent.parent / "sql" / f"{name}.sql").read_text(encoding="utf-8")


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
