"""Who spends the time of a drain: the database, the driver, or Python.

database    the sum of the execution and planning times of pg_stat_statements, over all connections
driver      samples of the worker process's CPU time whose innermost known frame is psycopg's or its pool's
Python      the other samples: the product, the event loop, the handler
The database works while Python does, on another core, so the parts add up to more than the wall time.
"""

from bench.arena import Arena
from bench.peers import AWA, run
from bench.rows.steps import fill
from bench.statements import statement
from bench.wanted import Figure


def measure(arena: Arena) -> dict[str, Figure]:
    """Microseconds a job, from one drain."""
    count = arena.scaled(100_000, 2_000)
    with arena.fresh(AWA) as url, arena.connect(url) as watcher:
        watcher.execute(statement("create_pg_stat_statements").encode())
        fill(url, AWA, count)
        watcher.execute(statement("reset_statements").encode())
        seen = run(AWA, "drain", url, count=count, sample=True)
        database_s = float(arena.value(url, "execution_ms")) / 1000
    wall_us = seen["seconds"] / count * 1e6
    cpu_us = seen["cpu_seconds"] / count * 1e6
    shares: dict[str, float] = seen["shares"]
    driver = shares.pop("driver", 0.0)
    parts = ", ".join(f"{part} {share * cpu_us:.1f}" for part, share in shares.items())
    return {
        "profile-wall": Figure(wall_us, "µs/job"),
        "profile-database": Figure(database_s / count * 1e6, "µs/job", wall_us),
        "profile-driver": Figure(driver * cpu_us, "µs/job", wall_us),
        "profile-python": Figure((1 - driver) * cpu_us, "µs/job", wall_us, parts),
    }
