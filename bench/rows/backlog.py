"""Ten million jobs: does a claim cost what it costs with 100,000, and is one job found at once?"""

import asyncio
import random
import time
from functools import partial

import awa
from bench.arena import Arena
from bench.figures import in_turns, median, rate
from bench.peers import AWA
from bench.rows.engine import claim, complete, enqueue, register
from bench.statements import statement
from bench.wanted import Figure

QUEUE = "bench"
CLAIM_JOBS = 500
LOOK_UPS = 200


def measure(arena: Arena) -> dict[str, Figure]:
    """Claims of both backlogs in turns, then look-ups by id in the large one."""
    small, large = arena.scaled(100_000, 2_000), arena.scaled(10_000_000, 20_000)
    taken = small // 10
    with arena.fresh(AWA) as url, arena.fresh(AWA, "beside") as beside:
        _load(arena, url, large)
        _load(arena, beside, small)
        seen = in_turns(
            arena.rounds,
            {
                "large": partial(_claim_rate, arena, url, taken),
                "small": partial(_claim_rate, arena, beside, taken),
            },
        )
        look_ups_ms = asyncio.run(_look_ups(url, _ids(arena, url, large)))
    return {
        "backlog": Figure(median(seen["large"]), "jobs/s", median(seen["small"])),
        "get-job": Figure(
            median(look_ups_ms), "ms", note=f"slowest of {LOOK_UPS}: {max(look_ups_ms):.1f} ms"
        ),
    }


def _load(arena: Arena, url: str, jobs: int) -> None:
    with arena.connect(url) as connection:
        enqueue(connection, QUEUE, jobs)
        connection.execute(statement("analyze").encode())
    arena.say(f"{jobs:,} jobs stored")


def _claim_rate(arena: Arena, url: str, jobs: int) -> float:
    """Jobs a second of the claims alone; what was claimed is completed in between, as a worker would."""
    with arena.connect(url) as connection:
        runtime_id = register(connection)
        seconds, seen = 0.0, 0
        while seen < jobs:
            found, took = claim(connection, QUEUE, CLAIM_JOBS, runtime_id)
            complete(connection, found, runtime_id)
            seconds, seen = seconds + took, seen + len(found)
    return rate(seen, seconds)


def _ids(arena: Arena, url: str, jobs: int) -> list[int]:
    """Ids from all over the table, completed ones among them."""
    newest = int(arena.value(url, "newest_job"))
    return [newest - random.randrange(jobs) for _ in range(LOOK_UPS)]


async def _look_ups(url: str, ids: list[int]) -> list[float]:
    """Milliseconds of each look-up through the client."""
    seen = []
    async with awa.AsyncClient(url) as client:
        await client.get_job(ids[0])
        for job_id in ids:
            began = time.monotonic()
            await client.get_job(job_id)
            seen.append((time.monotonic() - began) * 1000)
    return seen
