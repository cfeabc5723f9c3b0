"""Bulk enqueue of small jobs through each client, and one plain INSERT … SELECT as what the server can do at most."""

import time
from functools import partial

from bench.arena import Arena
from bench.figures import in_turns, median, rate
from bench.peers import AWA, AWA_PG, PGQUEUER, System
from bench.rows.steps import fill
from bench.statements import statement
from bench.wanted import Figure


def measure(arena: Arena) -> dict[str, Figure]:
    """Ours, both peers and plain SQL, in turns."""
    count = arena.scaled(100_000, 2_000)
    systems = (AWA, AWA_PG, PGQUEUER)
    measurements = {s.name: partial(_through_client, arena, s, count) for s in systems}
    measurements["plain"] = partial(_plain_insert, arena, count)
    rates = {name: median(runs) for name, runs in in_turns(arena.rounds, measurements).items()}
    return {
        "bulk-awa-pg": Figure(rates["awa"], "jobs/s", rates["awa-pg"]),
        "bulk-pgqueuer": Figure(rates["awa"], "jobs/s", rates["PgQueuer"]),
        "bulk-insert": Figure(rates["awa"], "jobs/s", rates["plain"]),
    }


def _through_client(arena: Arena, system: System, count: int) -> float:
    with arena.fresh(system) as url:
        return rate(count, fill(url, system, count)["seconds"])


def _plain_insert(arena: Arena, count: int) -> float:
    """Rows of the same columns into a plain table with two indexes, in one statement."""
    with arena.fresh(AWA) as url, arena.connect(url) as connection:
        connection.execute(statement("plain_jobs").encode())
        began = time.monotonic()
        connection.execute(statement("plain_insert").encode(), {"jobs": count})
        return rate(count, time.monotonic() - began)
