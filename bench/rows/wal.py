"""WAL that a job costs on its whole way, enqueued in bulk and completed by one worker, small arguments."""

from functools import partial

from bench.arena import Arena
from bench.figures import in_turns, median
from bench.peers import AWA, AWA_PG, PGQUEUER, System, run
from bench.rows.steps import fill
from bench.wanted import Figure


def measure(arena: Arena) -> dict[str, Figure]:
    """Bytes a job for ours and both peers."""
    count = arena.scaled(50_000, 2_000)
    systems = (AWA, PGQUEUER, AWA_PG)
    rounds = min(arena.rounds, 2)
    seen = in_turns(rounds, {s.name: partial(_bytes_a_job, arena, s, count) for s in systems})
    cost = {name: median(runs) for name, runs in seen.items()}
    note = f"awa-pg {cost['awa-pg']:,.0f}, PgQueuer {cost['PgQueuer']:,.0f}"
    return {"wal": Figure(cost["awa"], "bytes", cost["awa-pg"], note)}


def _bytes_a_job(arena: Arena, system: System, count: int) -> float:
    with arena.fresh(system) as url:
        before = arena.value(url, "wal_position")
        fill(url, system, count)
        run(system, "drain", url, count=count)
        return float(arena.value(url, "wal_position") - before) / count
