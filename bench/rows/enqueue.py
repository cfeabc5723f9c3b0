"""Bulk enqueue of small jobs through each client, and one plain INSERT … SELECT as what the server can do at most."""

import time
from dataclasses import dataclass
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
    seen = in_turns(arena.rounds, measurements)
    rates = {name: median([run.rate for run in runs]) for name, runs in seen.items()}
    cpu_us = {name: median([run.cpu_us for run in runs]) for name, runs in seen.items()}
    return {
        "bulk-cpu": Figure(cpu_us["awa"], "µs/job", cpu_us["awa-pg"]),
        "bulk-awa-pg": Figure(rates["awa"], "jobs/s", rates["awa-pg"]),
        "bulk-pgqueuer": Figure(rates["awa"], "jobs/s", rates["PgQueuer"]),
        "bulk-insert": Figure(rates["awa"], "jobs/s", rates["plain"]),
    }


@dataclass(frozen=True, slots=True)
class Filled:
    """Jobs a second, and the CPU time of client and server a job."""

    rate: float
    cpu_us: float


def _through_client(arena: Arena, system: System, count: int) -> Filled:
    with arena.fresh(system) as url:
        before_s = arena.server_cpu_s(url)
        filled = fill(url, system, count)
        cpu_s = arena.server_cpu_s(url) - before_s + filled["cpu_seconds"]
    return Filled(rate(count, filled["seconds"]), cpu_s / count * 1e6)


def _plain_insert(arena: Arena, count: int) -> Filled:
    """Rows of the same columns into a plain table with two indexes, in one statement."""
    with arena.fresh(AWA) as url, arena.connect(url) as connection:
        connection.execute(statement("plain_jobs").encode())
        began = time.monotonic()
        connection.execute(statement("plain_insert").encode(), {"jobs": count})
        return Filled(rate(count, time.monotonic() - began), 0.0)
