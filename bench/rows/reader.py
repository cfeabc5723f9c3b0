"""A hostile neighbour: a reader that looked at the jobs once and then sits in its transaction, its snapshot kept alive."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from psycopg import IsolationLevel

from bench.arena import Arena
from bench.figures import in_turns, median, rate
from bench.peers import AWA, run
from bench.rows.steps import fill
from bench.statements import statement
from bench.wanted import Figure


def measure(arena: Arena) -> dict[str, Figure]:
    """Drain with and without the reader, in turns."""
    count = arena.scaled(100_000, 2_000)
    seen = in_turns(
        arena.rounds,
        {
            "without": partial(_drain, arena, count, reader=False),
            "with": partial(_drain, arena, count, reader=True),
        },
    )
    return {"reader": Figure(median(seen["with"]), "jobs/s", median(seen["without"]))}


def _drain(arena: Arena, count: int, *, reader: bool) -> float:
    with arena.fresh(AWA) as url, _reader(arena, url, wanted=reader):
        fill(url, AWA, count)
        return rate(count, run(AWA, "drain", url, count=count)["seconds"])


@contextmanager
def _reader(arena: Arena, url: str, *, wanted: bool) -> Iterator[None]:
    with arena.connect(url) as connection:
        if not wanted:
            yield
            return
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        with connection.transaction():
            connection.execute(statement("count_jobs").encode())
            yield
