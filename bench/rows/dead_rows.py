"""Dead rows that the hot path leaves in the tables of the ring: counted exactly, by pgstattuple."""

from bench.arena import Arena
from bench.peers import AWA, run
from bench.rows.steps import fill
from bench.statements import statement
from bench.wanted import Figure


def measure(arena: Arena) -> dict[str, Figure]:
    """After one bulk enqueue and one drain."""
    count = arena.scaled(100_000, 2_000)
    with arena.fresh(AWA) as url:
        fill(url, AWA, count)
        run(AWA, "drain", url, count=count)
        with arena.connect(url) as connection:
            connection.execute(statement("create_pgstattuple").encode())
        dead = arena.value(url, "dead_rows")
    return {"dead-rows": Figure(float(dead), "rows")}
