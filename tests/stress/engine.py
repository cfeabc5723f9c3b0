"""A random stress of the engine's own functions: everything at once, then the books are closed.

    python -m tests.stress.engine URL SECONDS [--seed N]

Producers with short and long transactions, some rolled back; claimers that go through several queues in one
transaction, some with an id taken early, some rolled back; finishers with every outcome; movers, cancellers and
retriers, some rolled back; promotion, rotation and pruning all the while. What must come out: no position and no
attempt served twice, and every committed job in exactly one place, the place the last word about it says.
"""

import argparse
import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from uuid import UUID, uuid4

from psycopg import AsyncConnection

from awa.db.failures import is_transient
from awa.model.errors import AwaError
from awa.storage import change, promote, ring, runtimes
from awa.storage.claim import ClaimedJob, claim
from awa.storage.enqueue import NewJob, enqueue, enqueue_many
from awa.storage.finish import Ending, finish

QUEUES = ("alpha", "beta", "gamma")
STALLED_S = 60.0
LEFT = "SELECT count(*) FROM awa.jobs WHERE state IN ('available', 'running', 'scheduled', 'retryable')"
Connection = AsyncConnection[Any]


class RolledBack(Exception):
    """Ends a transaction that was meant to leave no trace."""


@dataclass
class Books:
    """What was committed, as the workers of the stress saw it."""

    url: str
    until: float
    least: dict[str, int]  # what has to have happened before it ends, however slow the machine is
    rng: random.Random
    enqueued: set[int] = field(default_factory=set)
    served: Counter[int] = field(default_factory=Counter)  # by position
    attempts: Counter[tuple[int, int]] = field(
        default_factory=Counter
    )  # by job and attempt, handed back ones apart
    completed: Counter[int] = field(default_factory=Counter)  # by job
    counts: Counter[str] = field(default_factory=Counter)
    producing: bool = True
    working: bool = True

    @property
    def goes_on(self) -> bool:
        """Whether there is more to be done to the engine."""
        return monotonic() < self.until or any(
            self.counts[what] < n for what, n in self.least.items()
        )

    async def connect(self) -> Connection:
        return await AsyncConnection.connect(self.url, autocommit=True)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    async def breathe(self, most_s: float) -> None:
        await asyncio.sleep(self.rng.random() * most_s)


async def stress(
    url: str, seconds: float, *, seed: int = 0, least: dict[str, int] | None = None
) -> Books:
    """Runs the stress for so long, and until `least` of some counts has come about; then closes the books.

    Raises AssertionError when they don't add up.
    """
    books = Books(url, monotonic() + seconds, least or {}, random.Random(seed))
    runtime_id = uuid4()
    async with await books.connect() as conn:
        await runtimes.register(conn, runtime_id, ["worker"], {})
    roles: list[Callable[[Books, int], Awaitable[None]]] = [
        *([_produce] * 6),
        *([_move] * 2),
        _cancel,
        _retry,
    ]
    house = asyncio.create_task(_keep_house(books))
    workers = [asyncio.create_task(_work(books, runtime_id)) for _ in range(3)]
    await asyncio.gather(*(role(books, n) for n, role in enumerate(roles)))
    books.producing = False
    await asyncio.gather(*workers)
    books.working = False
    await house
    await _close(books)
    return books


async def _produce(books: Books, number: int) -> None:
    """Half begin their transaction early; two of six keep theirs open for up to a second."""
    conn = await books.connect()
    while books.goes_on:
        made: list[int] = []
        try:
            async with conn.transaction():
                if books.chance(0.5):
                    await conn.execute("SELECT pg_current_xact_id()")
                    await books.breathe(0.004)
                for _ in range(books.rng.choice([1, 1, 1, 5, 30])):
                    made += await _enqueue_some(books, conn)
                    if books.chance(0.2):
                        await books.breathe(0.05)
                if number < 2:
                    await books.breathe(1.0)
                if books.chance(0.25):
                    raise RolledBack
        except RolledBack:
            books.counts["enqueue rolled back"] += 1
            continue
        books.enqueued.update(made)
        books.counts["enqueued"] += len(made)
        await books.breathe(0.01)
    await conn.close()


async def _enqueue_some(books: Books, conn: Connection) -> list[int]:
    queue = books.rng.choice(QUEUES)
    job = NewJob("k", "{}", priority=books.rng.choice([1, 2, 3]), max_attempts=4)
    if books.chance(0.5):
        return [await enqueue(conn, queue, job)]
    inserted = await enqueue_many(conn, queue, [job] * books.rng.choice([1, 2, 10]))
    return [one.job_id for one in inserted]


async def _work(books: Books, runtime_id: UUID) -> None:
    """Until all producers are done and nothing is left, or what is left does not become less."""
    conn = await books.connect()
    left, since_s = -1, monotonic()
    while left != 0 and monotonic() < since_s + STALLED_S:
        taken: list[ClaimedJob] = []
        try:
            async with conn.transaction():
                if books.chance(0.7):
                    await conn.execute("SELECT pg_current_xact_id()")
                    await books.breathe(0.004)
                for queue in books.rng.sample(QUEUES, len(QUEUES)):
                    limit = books.rng.choice([1, 7, 50])
                    taken += (await claim(conn, queue, limit, runtime_id)).jobs
                    if books.chance(0.1):
                        await books.breathe(0.005)
                if books.chance(0.05):
                    raise RolledBack
        except RolledBack:
            books.counts["claim rolled back"] += 1
            continue
        for job in taken:
            books.served[job.lane_seq] += 1
        if books.chance(0.3):
            await books.breathe(0.05)
        await _finish(books, conn, runtime_id, taken)
        if taken or books.producing:
            since_s = monotonic()
        else:
            before, left = left, await _left(conn)
            since_s = since_s if left == before else monotonic()
        if not taken:
            await asyncio.sleep(0.005)
    await conn.close()


async def _left(conn: Connection) -> int:
    """Jobs that wait or run."""
    ((left,),) = await (await conn.execute(LEFT)).fetchall()
    return int(left)


async def _finish(books: Books, conn: Connection, runtime_id: UUID, jobs: list[ClaimedJob]) -> None:
    weights = [80, 6, 4, 4, 3, 3] if books.producing else [1, 0, 0, 0, 0, 0]
    outcomes = ["completed", "retried", "failed", "cancelled", "snoozed", "returned"]
    endings = [
        Ending(
            j.lane_id,
            j.claim_no,
            j.lane_seq,
            outcome,
            0.01,
            {"error": "x"} if outcome == "retried" else None,
        )
        for j, outcome in zip(jobs, books.rng.choices(outcomes, weights, k=len(jobs)), strict=True)
    ]
    owned = await finish(conn, runtime_id, endings)
    for job, ending in zip(jobs, endings, strict=True):
        if job.lane_seq in owned and ending.outcome not in ("snoozed", "returned"):
            books.attempts[job.job_id, job.attempt] += 1
            books.completed[job.job_id] += ending.outcome == "completed"
    books.counts.update(f"ended {e.outcome}" for e in endings if e.lane_seq in owned)
    if books.chance(0.1):
        again = await finish(conn, runtime_id, endings)
        assert not again, f"ended twice: {again}"


async def _move(books: Books, number: int) -> None:
    conn = await books.connect()
    while books.goes_on:
        some = _some(books, 50)
        queue, priority = books.rng.choice([*QUEUES, None]), books.rng.choice([1, 2, 3, None])
        try:
            async with conn.transaction():
                locked = await change.lock_waiting(conn, some)
                if books.chance(0.2):
                    await books.breathe(0.03)
                done = await change.relocate(conn, locked, queue=queue, priority=priority)
                if books.chance(0.1):
                    raise RolledBack
        except RolledBack:
            continue
        except AwaError as error:
            if not is_transient(error):
                raise
            books.counts["move retried"] += 1
            continue
        books.counts.update(f"move {one.outcome}" for one in done)
        await books.breathe(0.01)
    await conn.close()


async def _cancel(books: Books, number: int) -> None:
    conn = await books.connect()
    while books.goes_on:
        some = _some(books, 3)
        async with conn.transaction():
            waiting = await change.cancel_waiting(conn, await change.lock_waiting(conn, some))
        running = await change.cancel_running(conn, [id_ for id_ in some if id_ not in waiting])
        books.counts["cancelled waiting"] += len(waiting)
        books.counts["cancelled running"] += len(running)
        await books.breathe(0.05)
    await conn.close()


async def _retry(books: Books, number: int) -> None:
    conn = await books.connect()
    while books.goes_on:
        books.counts["retried by hand"] += len(
            change.moved(await change.retry_jobs(conn, _some(books, 10)))
        )
        await books.breathe(0.05)
    await conn.close()


async def _keep_house(books: Books) -> None:
    """Promotion, rotation at any age and pruning with nothing kept, until no worker has anything left."""
    conn = await books.connect()
    while books.working:
        books.counts["promoted"] += await promote.promote(conn, max_jobs=100)
        books.counts[f"ring {await ring.rotate(conn, max_age_s=0.2, max_bytes=1 << 40)}"] += 1
        slot = books.rng.randrange(8)
        books.counts[f"slot {await ring.prune_slot(conn, slot, keep_s=0.5, carry_limit=200)}"] += 1
        await books.breathe(0.02)
    await conn.close()


def _some(books: Books, most: int) -> list[int]:
    known = sorted(books.enqueued)[-2000:]
    return books.rng.sample(known, min(most, len(known)))


async def _close(books: Books) -> None:
    async with await books.connect() as conn:
        await promote.promote(conn, max_jobs=100_000)
        cursor = await conn.execute("SELECT id, state FROM awa.jobs")
        places = await cursor.fetchall()
    ids = Counter(id_ for id_, _ in places)
    twice = {id_: n for id_, n in ids.items() if n > 1}
    assert not twice, f"in two places: {twice}"
    assert not (set(ids) - books.enqueued), "a rolled-back job is there"
    doubled = {seq for seq, n in books.served.items() if n > 1}
    assert not doubled, f"positions served twice: {doubled}"
    repeated = {key for key, n in books.attempts.items() if n > 1}
    assert not repeated, f"attempts run twice: {repeated}"
    over = {id_ for id_, n in books.completed.items() if n > 1}
    assert not over, f"completed twice: {over}"
    waiting = [
        id_ for id_, state in places if state in ("available", "running", "scheduled", "retryable")
    ]
    assert not waiting, f"left behind: {waiting[:20]} of {len(waiting)}"
    # Completed jobs may be pruned; everything else must be there.
    missing = books.enqueued - set(ids) - {id_ for id_, _ in books.attempts}
    assert not missing, f"lost: {sorted(missing)[:20]} of {len(missing)}"
    books.counts.update(served=len(books.served))


def main() -> None:
    """Runs the stress against a migrated database and prints what happened."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("url")
    parser.add_argument("seconds", type=float)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    books = asyncio.run(stress(given.url, given.seconds, seed=given.seed))
    for name, count in sorted(books.counts.items()):
        print(f"{count:>9,}  {name}")


if __name__ == "__main__":
    main()
