"""A hostile neighbour: a transaction that wrote into the lane and stays open, and 10,000 enqueues that were rolled back."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from bench.arena import Arena
from bench.figures import in_turns, median, rate
from bench.peers import AWA, run
from bench.rows.steps import fill
from bench.statements import statement
from bench.wanted import Figure

QUEUE = {"queue": "bench"}
USED_BEFORE_JOBS = 100


def measure(arena: Arena) -> dict[str, Figure]:
    """Drain with and without, in turns."""
    count = arena.scaled(100_000, 2_000)
    abandoned = arena.scaled(10_000, 200)
    seen = in_turns(
        arena.rounds,
        {
            "without": partial(_drain, arena, count, 0, open_writer=False),
            "with": partial(_drain, arena, count, abandoned, open_writer=True),
        },
    )
    return {"open-writer": Figure(median(seen["with"]), "jobs/s", median(seen["without"]))}


def _drain(arena: Arena, count: int, abandoned: int, *, open_writer: bool) -> float:
    """The queue is in use; the open transaction begins first, half of the abandoned enqueues lie before the jobs."""
    with arena.fresh(AWA) as url:
        fill(url, AWA, USED_BEFORE_JOBS)
        with _open_writer(arena, url, wanted=open_writer):
            _abandon(arena, url, abandoned // 2)
            fill(url, AWA, count)
            _abandon(arena, url, abandoned // 2)
            drained = run(AWA, "drain", url, count=count + USED_BEFORE_JOBS)
    return rate(count + USED_BEFORE_JOBS, drained["seconds"])


@contextmanager
def _open_writer(arena: Arena, url: str, *, wanted: bool) -> Iterator[None]:
    """A job enqueued by a transaction that neither commits nor rolls back until the block ends."""
    with arena.connect(url) as connection:
        if not wanted:
            yield
            return
        with connection.transaction(force_rollback=True):
            connection.execute(statement("enqueue_one").encode(), QUEUE)
            yield


def _abandon(arena: Arena, url: str, enqueues: int) -> None:
    """Single enqueues, each in a transaction that is rolled back."""
    with arena.connect(url) as connection, connection.pipeline():
        for _ in range(enqueues):
            with connection.transaction(force_rollback=True):
                connection.execute(statement("enqueue_one").encode(), QUEUE)
