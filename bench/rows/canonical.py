"""The canonical storage against what is built the same way: one table, locked rows, updates."""

from functools import partial

from bench.arena import Arena
from bench.figures import in_turns, median
from bench.peers import AWA_CANONICAL, PGQUEUER, PROCRASTINATE
from bench.rows.steps import fill_and_drain
from bench.wanted import Figure

# Procrastinate ends a few hundred jobs a second: what takes the others seconds would take it minutes.
SLOW_SHARE = 10


def measure(arena: Arena) -> dict[str, Figure]:
    """Bulk enqueue and drain of no-op jobs, in turns."""
    count = arena.scaled(100_000, 2_000)
    counts = {AWA_CANONICAL: count, PGQUEUER: count, PROCRASTINATE: count // SLOW_SHARE}
    seen = in_turns(
        arena.rounds,
        {s.name: partial(fill_and_drain, arena, s, jobs) for s, jobs in counts.items()},
    )
    drained = {name: median([run.drained for run in runs]) for name, runs in seen.items()}
    enqueued = {name: median([run.enqueued for run in runs]) for name, runs in seen.items()}
    ours = AWA_CANONICAL.name
    return {
        f"canonical-{what}-{peer.name.lower()}": Figure(rates[ours], "jobs/s", rates[peer.name])
        for what, rates in (("drain", drained), ("bulk", enqueued))
        for peer in (PGQUEUER, PROCRASTINATE)
    }
