"""Follow-ups that are owed: of jobs that failed with no worker there that could have asked their task."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from awa.db import run
from awa.db.run import Connection, Row

MAX_OWED = 1_000
COUNT_MAX = 10_000


async def take_owed(conn: Connection, kinds: Sequence[str], *, max_rows: int) -> list[Row]:
    """Takes the oldest that are owed for these kinds, each the job as it failed (args a text), settled if the transaction commits."""
    taken = await run.rows(conn, "storage/take_owed", {"kinds": list(kinds), "limit": max_rows})
    return sorted(taken, key=lambda row: int(row["owed_id"]))


async def say_on_failed(conn: Connection, runtime_id: UUID, kinds: Sequence[str]) -> None:
    """Writes down for which kinds the runtime's program wants something to follow a failure."""
    await run.count(conn, "storage/say_on_failed", {"id": runtime_id, "kinds": list(kinds)})


async def give_up(
    conn: Connection, *, keep_s: float, max_rows: int = MAX_OWED, now: datetime | None = None
) -> int:
    """Forgets those that have been owed for `keep_s`; answers how many."""
    params = {"keep_s": keep_s, "limit": max_rows, "now": now}
    return await run.count(conn, "storage/give_up_owed", params)


async def count_owed(conn: Connection) -> int:
    """How many are owed, up to `COUNT_MAX`."""
    return int(await run.value(conn, "storage/count_owed", {"limit": COUNT_MAX}))
