"""Dead letters: failed jobs of queues that ask for it, kept until they are retried or purged."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from awa.db import run
from awa.db.run import Connection, Row
from awa.storage.change import Retried

MAX_ROWS = 1_000
MAX_GROUPS = 200


@dataclass(frozen=True, slots=True)
class Which:
    """Which dead letters; all that is given must hold. `before`: dead since before this time."""

    queue: str | None = None
    kind: str | None = None
    fingerprint: str | None = None
    reason: str | None = None
    before: datetime | None = None


async def page(
    conn: Connection,
    which: Which,
    *,
    after: tuple[datetime, int] | None = None,
    max_rows: int,
) -> list[Row]:
    """Dead letters with their jobs, newest first."""
    at, job_id = after or (None, None)
    more = {"after_at": at, "after_id": job_id, "max_rows": max_rows}
    return await run.rows(conn, "dead_letters/list", {**asdict(which), **more})


async def ids(
    conn: Connection, which: Which, *, above: int = 0, max_rows: int = MAX_ROWS
) -> list[int]:
    """Ids of dead letters, ascending, above an id."""
    params = {**asdict(which), "above": above, "max_rows": max_rows}
    return [row["id"] for row in await run.rows(conn, "dead_letters/ids", params)]


async def count(conn: Connection, which: Which) -> int:
    """How many there are."""
    return int(await run.value(conn, "dead_letters/count", asdict(which)))


async def depth(conn: Connection) -> list[Row]:
    """Each queue with dead letters, or that would have some: depth, oldest_at, newest_at, enabled."""
    return await run.rows(conn, "dead_letters/depth")


async def groups(conn: Connection, *, queue: str | None = None) -> list[Row]:
    """Dead letters by kind and cause, the largest group first, at most 200."""
    return await run.rows(conn, "dead_letters/groups", {"queue": queue, "max_rows": MAX_GROUPS})


async def retry(
    conn: Connection,
    job_ids: Sequence[int],
    *,
    queue: str | None = None,
    priority: int | None = None,
    run_at: datetime | None = None,
) -> list[Retried]:
    """Gives them all their attempts again; answers what came of those that were dead letters."""
    params = {"ids": list(job_ids), "queue": queue, "priority": priority, "run_at": run_at}
    return [Retried(*row) for row in await run.tuples(conn, "dead_letters/retry", params)]


async def purge(conn: Connection, job_ids: Sequence[int]) -> int:
    """Deletes them for good; answers how many there were."""
    return len(await run.rows(conn, "dead_letters/purge", {"ids": list(job_ids)}))


async def retain(
    conn: Connection, *, keep_s: float, max_rows: int = MAX_ROWS, now: datetime | None = None
) -> int:
    """Deletes up to `max_rows` that were kept long enough; answers how many."""
    params = {"keep_s": keep_s, "max_rows": max_rows, "now": now}
    return int(await run.value(conn, "dead_letters/retain", params))


async def enable(conn: Connection, queue: str, enabled: bool) -> Row:
    """Says whether the queue's failed jobs become dead letters: queue, dlq_enabled."""
    found = await run.row(conn, "dead_letters/enable", {"queue": queue, "enabled": enabled})
    assert found is not None
    return found
