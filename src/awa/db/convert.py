"""Turns a schema with the canonical storage into one with lanes, with workers stopped.

The old schema is set aside, a new one is made as for an empty database, and everything is brought over and counted,
all in one transaction: whatever goes wrong, the schema is as it was. Jobs keep their ids, positions, attempts and errors.
Rights that were granted on the old schema's tables go with them and have to be granted anew.
"""

from collections.abc import Callable
from typing import NamedTuple

from awa.db import run
from awa.db.migrate import check_schema, migrate, storage_of
from awa.db.run import Connection, Row
from awa.model.errors import Conflict, DatabaseError
from awa.sql.catalog import CANONICAL, LANES

Say = Callable[[str], None]


class Converted(NamedTuple):
    """What was brought over."""

    jobs: int
    by_state: dict[str, int]


async def convert_to_lanes(
    conn: Connection, *, stale_s: float, say: Say = lambda words: None
) -> Converted:
    """Convert the schema and answer how many jobs it holds, by state, counted before and after.

    `say` is told what is being done. Raises `Conflict` if the storage isn't canonical, or if a runtime lives, a job runs or
    a batch operation is under way; `DatabaseError` if the counts differ, and then nothing has changed.
    """
    await check_schema(conn)
    if await storage_of(conn) != CANONICAL:
        raise Conflict(
            "this database's schema has lanes already", hint="There is nothing to convert."
        )
    async with conn.transaction():
        await run.script(conn, "convert/lock")
        await _refuse_if_at_work(conn, stale_s)
        say("counting jobs")
        before = await run.rows(conn, "convert/counts")
        say("making the new schema")
        await run.script(conn, "convert/set_aside")
        await migrate(conn, LANES)
        say("bringing jobs over")
        await run.script(conn, "convert/carry_over")
        say("counting them again")
        after = await run.rows(conn, "convert/counts")
        if after != before:
            raise DatabaseError(
                f"the jobs after the conversion are not those before it: {_differing(before, after)}",
                hint="Nothing was changed. Please report this with the numbers.",
            )
        await run.script(conn, "convert/drop_aside")
    return _summary(after)


async def _refuse_if_at_work(conn: Connection, stale_s: float) -> None:
    found = await run.row(conn, "convert/in_the_way", {"stale_s": stale_s})
    assert found is not None
    words = {
        "runtimes": "runtimes that live (stop every worker and awa maintenance run)",
        "running": "jobs that run (wait for their rescue, or cancel them)",
        "operations": "batch operations under way (wait for them, or cancel them)",
    }
    for name, what in words.items():
        if found[name]:
            raise Conflict(f"there are {found[name]} {what}", hint="Then run: awa storage convert")


def _differing(before: list[Row], after: list[Row]) -> str:
    def key(row: Row) -> tuple[str, str, str]:
        return row["state"], row["queue"], row["kind"]

    old, new = ({key(row): row["jobs"] for row in rows} for rows in (before, after))
    wrong = sorted(k for k in old.keys() | new.keys() if old.get(k) != new.get(k))
    return "; ".join(
        f"{'/'.join(k)}: {old.get(k, 0)} before, {new.get(k, 0)} after" for k in wrong[:5]
    )


def _summary(rows: list[Row]) -> Converted:
    by_state: dict[str, int] = {}
    for row in rows:
        by_state[row["state"]] = by_state.get(row["state"], 0) + row["jobs"]
    return Converted(sum(by_state.values()), by_state)
