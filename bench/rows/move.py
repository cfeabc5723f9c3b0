"""A batch operation that moves every waiting job of a queue: how fast, how evenly, and what others feel of it.

The rate counts from the operation's start, scan included, to its end. The maintenance leader runs in a process of its
own, as does the worker of the other queue whose pickups are timed.
"""

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from bench.arena import Arena
from bench.figures import median, percentile, rate
from bench.peers import AWA, AWA_PG, BenchError, run, running
from bench.rows.engine import enqueue
from bench.rows.latency import RATE, WARM_UP_JOBS
from bench.rows.steps import fill
from bench.statements import statement
from bench.wanted import Figure

QUEUE = "bench"
OTHER = "other"
SCAN_MAX_S = 120
LOOK_S = 0.05


@dataclass(frozen=True, slots=True)
class Moved:
    """What a move came to."""

    rows_a_second: float
    chunks_ms: list[float]


@dataclass(frozen=True, slots=True)
class UnderLoad:
    """Pickups of the other queue without and with the operation, and how the operation fared under that load."""

    alone_ms: float
    scanning_ms: float
    moving_ms: float
    rows_a_second: float
    longest_pause_ms: float


def measure(arena: Arena) -> dict[str, Figure]:
    """Three sizes, one plain UPDATE, a move under load, and awa-pg's."""
    few, many = arena.scaled(10_000, 300), arena.scaled(100_000, 600)
    million = arena.scaled(1_000_000, 1_200)
    small = median([_move(arena, few).rows_a_second for _ in range(arena.rounds)])
    middle = _move(arena, many)
    large = _move(arena, million)
    loaded = _under_load(arena, million)
    by_size = f"{few:,}: {small:,.0f}, {many:,}: {middle.rows_a_second:,.0f} rows/s"
    chunks = large.chunks_ms
    spread = f"median {median(chunks):.0f}, longest {max(chunks):.0f} ms, {len(chunks)} chunks"
    return {
        "move-rate": Figure(large.rows_a_second, "rows/s", _update_rate(arena, million), by_size),
        "move-flat": Figure(large.rows_a_second, "rows/s", small),
        "move-chunk": Figure(percentile(chunks, 0.99), "ms", note=spread),
        "move-pickup": Figure(
            max(loaded.scanning_ms, loaded.moving_ms),
            "ms",
            loaded.alone_ms,
            f"{loaded.scanning_ms:.1f} during the scan, {loaded.moving_ms:.1f} during the chunks",
        ),
        "move-pause": Figure(loaded.longest_pause_ms, "ms"),
        "move-awa-pg": Figure(loaded.rows_a_second, "rows/s", _peer_rate(arena)),
    }


def _move(arena: Arena, jobs: int) -> Moved:
    with arena.fresh(AWA) as url:
        _load(arena, url, jobs)
        with running(AWA, "maintain", url) as leader:
            leader.event("ready")
            moved = _complete(run(AWA, "move", url), jobs)
            chunks_ms: list[float] = leader.finish()["chunks_ms"]
    arena.say(f"{jobs:,} jobs moved")
    return Moved(rate(jobs, moved["seconds"]), chunks_ms)


def _under_load(arena: Arena, jobs: int) -> UnderLoad:
    """Pickups of another queue alone, then while an operation scans, then while it changes; the worse of these counts."""
    count = arena.scaled(1_000, 40) + WARM_UP_JOBS
    with arena.fresh(AWA) as url:
        _load(arena, url, jobs)
        with running(AWA, "maintain", url) as leader:
            leader.event("ready")
            alone = percentile(_pickups(url, count), 0.99)
            with running(AWA, "move", url) as operation:
                operation.event("submitted")
                scanning = percentile(_pickups(url, count // 2 + WARM_UP_JOBS), 0.99)
                _wait_until_it_moves(arena, url)
                began_s, before = time.monotonic(), arena.value(url, "items_processed")
                changing = percentile(_pickups(url, count), 0.99)
                moved = arena.value(url, "items_processed") - before
                seconds = time.monotonic() - began_s
            ends_s = leader.finish()["ends_s"]
    arena.say(f"pickup p99 alone {alone:.1f}, scanning {scanning:.1f}, moving {changing:.1f} ms")
    return UnderLoad(
        alone,
        scanning,
        changing,
        rate(moved, seconds),
        max((after - before for before, after in pairwise(ends_s)), default=0.0) * 1000,
    )


def _wait_until_it_moves(arena: Arena, url: str) -> None:
    give_up = time.monotonic() + SCAN_MAX_S
    while not arena.value(url, "items_processed"):
        if time.monotonic() > give_up:
            raise BenchError(f"the operation has moved nothing after {SCAN_MAX_S} s")
        time.sleep(LOOK_S)


def _pickups(url: str, count: int) -> list[float]:
    with running(AWA, "listen", url, count=count, queue=OTHER, worker_only=True) as worker:
        worker.event("ready")
        run(AWA, "produce", url, count=count, rate=RATE, queue=OTHER)
        seen: list[float] = worker.result()["latencies_ms"]
    return seen[WARM_UP_JOBS:]


def _load(arena: Arena, url: str, jobs: int) -> None:
    with arena.connect(url) as connection:
        enqueue(connection, QUEUE, jobs)
        connection.execute(statement("analyze").encode())
    arena.settle()


def _complete(moved: dict[str, Any], jobs: int) -> dict[str, Any]:
    """The result, if every job was moved: a fast operation that leaves jobs behind is no figure."""
    if moved["processed"] != jobs:
        raise BenchError(f"the move of {jobs:,} jobs ended so: {moved}")
    return moved


def _update_rate(arena: Arena, rows: int) -> float:
    with arena.fresh(AWA) as url, arena.connect(url) as connection:
        connection.execute(statement("plain_jobs").encode())
        connection.execute(statement("plain_insert").encode(), {"jobs": rows})
        connection.execute(statement("analyze").encode())
        began = time.monotonic()
        connection.execute(statement("plain_update").encode())
        return rate(rows, time.monotonic() - began)


def _peer_rate(arena: Arena) -> float:
    jobs = arena.scaled(2_000, 50)
    with arena.fresh(AWA_PG) as url:
        fill(url, AWA_PG, jobs)
        moved = run(AWA_PG, "move", url, lead=True)
    arena.say(f"awa-pg moved {moved['processed']:,} of {jobs:,} in {moved['seconds']:.0f} s")
    return rate(moved["processed"], moved["seconds"])
