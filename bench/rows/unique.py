"""What a unique key costs: the server's CPU time for jobs that are enqueued, claimed and completed, with a key and without.

Through the engine's functions on one connection, in sets of 500, so that nothing of a client is in it. "Held on" are
keys that completed jobs keep: each of those has a row of its own as well.
"""

from functools import partial

import psycopg

from bench.arena import Arena
from bench.figures import in_turns, median
from bench.peers import AWA
from bench.rows.engine import claim, complete, register
from bench.statements import statement
from bench.wanted import Figure

SET_JOBS = 500
HELD_ON = '{"by_states": ["scheduled", "available", "running", "completed"]}'


def measure(arena: Arena) -> dict[str, Figure]:
    """Plain jobs, unique ones, and unique ones whose keys are held on, in turns."""
    count = arena.scaled(50_000, 1_000)
    seen = in_turns(
        arena.rounds,
        {
            "plain": partial(_cpu_us, arena, count, None),
            "unique": partial(_cpu_us, arena, count, "{}"),
            "held on": partial(_cpu_us, arena, count, HELD_ON),
        },
    )
    cpu_us = {name: median(runs) for name, runs in seen.items()}
    return {
        "unique-cpu": Figure(cpu_us["unique"], "µs/job", cpu_us["plain"]),
        "unique-held-on": Figure(cpu_us["held on"], "µs/job", cpu_us["plain"]),
    }


def _cpu_us(arena: Arena, count: int, opts: str | None) -> float:
    with arena.fresh(AWA) as url:
        before_s = arena.server_cpu_s(url)
        with arena.connect(url) as connection:
            _work(connection, count, opts)
        return (arena.server_cpu_s(url) - before_s) / count * 1e6


def _work(connection: psycopg.Connection[tuple[object, ...]], count: int, opts: str | None) -> None:
    name = "enqueue_numbered" if opts is None else "enqueue_unique"
    runtime_id = register(connection)
    for first in range(0, count, SET_JOBS):
        params = {"queue": "default", "first": first, "jobs": SET_JOBS, "opts": opts}
        connection.execute(statement(name).encode(), params)
        claimed, _ = claim(connection, "default", SET_JOBS, runtime_id)
        complete(connection, claimed, runtime_id)
