"""Drain: no-op jobs through one worker process, from the start of the worker to the last completion in the database."""

from functools import partial

from bench.arena import Arena
from bench.figures import in_turns, median
from bench.peers import AWA, AWA_PG, PGQUEUER
from bench.rows.steps import fill_and_drain
from bench.wanted import Figure


def measure(arena: Arena) -> dict[str, Figure]:
    """Ours against both peers, in turns."""
    count = arena.scaled(100_000, 2_000)
    systems = (AWA, PGQUEUER, AWA_PG)
    seen = in_turns(
        arena.rounds, {s.name: partial(fill_and_drain, arena, s, count) for s in systems}
    )
    rates = {name: median([run.drained for run in runs]) for name, runs in seen.items()}
    cpu_us = {name: median([run.cpu_us for run in runs]) for name, runs in seen.items()}
    return {
        "drain-cpu": Figure(cpu_us["awa"], "µs/job", cpu_us["PgQueuer"]),
        "drain-pgqueuer": Figure(rates["awa"], "jobs/s", rates["PgQueuer"]),
        "drain-awa-pg": Figure(rates["awa"], "jobs/s", rates["awa-pg"]),
    }
