"""Pickup latency: from the moment a producer sets out to enqueue a job to the first line of its handler.

One worker, one producer in a process of its own, 100 jobs a second at an even pace, one job a call.
"""

from functools import partial

from bench.arena import Arena
from bench.figures import in_turns, median, percentile
from bench.peers import AWA, AWA_PG, PGQUEUER, System, run, running
from bench.wanted import Figure

RATE = 100
WARM_UP_JOBS = 20
OBAN = "Oban, an Elixir program, is not to be had here"


def measure(arena: Arena) -> dict[str, Figure]:
    """Ours and both peers, in turns; medians over the rounds of each percentile."""
    count = arena.scaled(1_500, 30) + WARM_UP_JOBS
    systems = (AWA, PGQUEUER, AWA_PG)
    seen = in_turns(arena.rounds, {s.name: partial(pickups, arena, s, count) for s in systems})
    figures = {}
    for key, share in (("pickup-p50", 0.5), ("pickup-p99", 0.99)):
        ms = {name: median([percentile(r, share) for r in runs]) for name, runs in seen.items()}
        note = f"awa-pg {ms['awa-pg']:.1f} ms; {OBAN}"
        figures[key] = Figure(ms["awa"], "ms", ms["PgQueuer"], note)
    return figures


def pickups(arena: Arena, system: System, count: int) -> list[float]:
    """The latencies in ms of `count` jobs less those of the warm-up."""
    with arena.fresh(system) as url, running(system, "listen", url, count=count) as worker:
        worker.event("ready")
        run(system, "produce", url, count=count, rate=RATE)
        seen: list[float] = worker.result()["latencies_ms"]
    return seen[WARM_UP_JOBS:]
