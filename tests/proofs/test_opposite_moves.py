"""Two opposite moves over the same 10,000 jobs while eight claimers take them: no deadlock reaches anyone."""

import asyncio
import random
from collections import Counter

from tests.conftest import STORAGE
from tests.proofs.stage import Actor, Stage

JOBS = 10_000
CLAIMERS = 8
CHUNK = 250
QUEUES = ("here", "there")


async def test_opposite_moves_and_eight_claimers_never_wait_for_each_other(stage: Stage) -> None:
    keeper, *actors = await stage.actors(3 + CLAIMERS)
    movers, claimers = actors[:2], actors[2:]
    ids = [*await keeper.enqueue(JOBS // 2, "here"), *await keeper.enqueue(JOBS // 2, "there")]
    left = set(ids)
    served: Counter[int] = Counter()
    moves = [move_all(mover, ids, left, queue) for mover, queue in zip(movers, QUEUES, strict=True)]
    moved, _ = await asyncio.gather(
        asyncio.gather(*moves),
        asyncio.gather(*(serve(claimer, left, served, n) for n, claimer in enumerate(claimers))),
    )
    assert served == Counter(ids)
    # On the canonical storage one of them may find everything in the others' hands.
    assert (min if STORAGE == "lanes" else max)(moved) > 0
    assert {place.state for place in (await keeper.audit()).values()} == {"completed"}


async def move_all(mover: Actor, ids: list[int], left: set[int], queue: str) -> int:
    """Moves everything that still waits into the queue, chunk by chunk, again and again; answers how much it moved."""
    moved = 0
    while left:
        for first in range(0, len(ids), CHUNK):
            chunk = [id_ for id_ in ids[first : first + CHUNK] if id_ in left]
            done = await mover.move(chunk, queue)
            moved += list(done.values()).count("moved")
    return moved


async def serve(claimer: Actor, left: set[int], served: Counter[int], number: int) -> None:
    """Claims from both queues and finishes, until every job was served by somebody."""
    rng = random.Random(number)
    while left:
        jobs = [
            job
            for queue in rng.sample(QUEUES, 2)
            for job in await claimer.claim(rng.choice([1, 5, 20]), queue)
        ]
        served.update(job.job_id for job in jobs)
        assert len(await claimer.finish(jobs)) == len(jobs)
        left -= {job.job_id for job in jobs}
