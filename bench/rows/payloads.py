"""The real payloads: webhook deliveries of 1 to 27 KB, through each client in bulk and through one worker.

So many that a drain lasts seconds: of one of 5,100 the start of the worker is a quarter.
"""

from functools import partial

from bench.arena import Arena
from bench.figures import in_turns, median
from bench.peers import AWA, AWA_PG, PGQUEUER
from bench.rows.steps import fill_and_drain, real_payloads
from bench.wanted import Figure


def measure(arena: Arena) -> dict[str, Figure]:
    """Ours against both peers, in turns; the better peer counts, for each way by itself."""
    count = arena.scaled(255 * 80, 255)
    payloads = real_payloads()
    seen = in_turns(
        arena.rounds,
        {
            s.name: partial(fill_and_drain, arena, s, count, payloads)
            for s in (AWA, PGQUEUER, AWA_PG)
        },
    )
    enqueued = {name: median([run.enqueued for run in runs]) for name, runs in seen.items()}
    drained = {name: median([run.drained for run in runs]) for name, runs in seen.items()}
    return {"real-enqueue": _against_best(enqueued), "real-drain": _against_best(drained)}


def _against_best(rates: dict[str, float]) -> Figure:
    own = rates.pop("awa")
    best = max(rates, key=lambda name: rates[name])
    others = ", ".join(f"{name} {value:,.0f}" for name, value in rates.items())
    return Figure(own, "jobs/s", rates[best], note=others)
