"""The books: what must hold at every moment of a siege, and what must have come out at its end."""

from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from tests.storage.world import World

Connection = AsyncConnection[Any]
NOBODY = UUID(int=0)

EFFECTS = """
    CREATE TABLE effects (job_id bigint, attempt int, times int NOT NULL DEFAULT 1, PRIMARY KEY (job_id, attempt))
"""
# Counters against item rows, for operations that have any; and the totals by reason.
WRONG_SUMS = """
    WITH items AS (
        SELECT operation_id AS id, count(*) AS listed, count(*) FILTER (WHERE state = 'pending') AS pending,
               count(*) FILTER (WHERE state = 'processed') AS processed,
               count(*) FILTER (WHERE state = 'skipped') AS skipped, count(*) FILTER (WHERE state = 'errored') AS errored
          FROM awa.batch_operation_items GROUP BY 1
    ), totals AS (
        SELECT operation_id AS id, sum(items) AS accounted FROM awa.batch_operation_totals GROUP BY 1
    )
    SELECT o.id, o.state, o.total_matched, o.processed, o.skipped, o.errored, i.listed, i.pending, i.processed,
           i.skipped, i.errored, t.accounted
      FROM awa.batch_operations o LEFT JOIN items i ON i.id = o.id LEFT JOIN totals t ON t.id = o.id
     WHERE (coalesce(o.total_matched, 0), o.processed, o.skipped, o.errored)
           IS DISTINCT FROM (coalesce(i.listed, 0), coalesce(i.processed, 0), coalesce(i.skipped, 0), coalesce(i.errored, 0))
        OR o.processed + o.skipped + o.errored <> coalesce(t.accounted, 0)
        OR coalesce(i.listed, 0) <> coalesce(i.pending, 0) + o.processed + o.skipped + o.errored
"""
# An operation here changes available jobs only, so each change left one tombstoned position behind.
CHANGES = """
    SELECT (SELECT coalesce(sum(last_seq - first_seq + 1), 0) FROM awa.ready_tombstones WHERE reason = 'moved'),
           (SELECT coalesce(sum(processed), 0) FROM awa.batch_operations)
"""
BEGUN_TWICE = "SELECT job_id, attempt, times FROM effects WHERE times > 1"
# A job that completed in its n-th attempt did its work in that attempt, and no attempt came after it.
WITHOUT_EFFECT = """
    SELECT j.id, j.state, j.attempt, max(e.attempt)
      FROM awa.jobs j LEFT JOIN effects e ON e.job_id = j.id
     GROUP BY 1, 2, 3 HAVING j.state <> 'completed' OR max(e.attempt) IS DISTINCT FROM j.attempt
"""
# Each event goes on from the one before, and only a pause leads back to where an operation was.
EVENTS_ASTRAY = """
    SELECT o.id, o.state, array_agg(e.to_state ORDER BY e.id)
      FROM awa.batch_operations o
      JOIN (SELECT *, lag(to_state) OVER (PARTITION BY operation_id ORDER BY id) AS before,
                   lag(to_state, 2) OVER (PARTITION BY operation_id ORDER BY id) AS before_that
              FROM awa.batch_operation_events) e ON e.operation_id = o.id
     GROUP BY 1, 2
    HAVING count(*) FILTER (WHERE 'paused' NOT IN (e.to_state, coalesce(e.from_state, '')))
           <> count(DISTINCT e.to_state) FILTER (WHERE 'paused' NOT IN (e.to_state, coalesce(e.from_state, '')))
        OR bool_or(e.from_state IS DISTINCT FROM e.before)
        OR bool_or(e.before = 'paused' AND e.to_state NOT IN (e.before_that, 'cancelled'))
        OR (array_agg(e.to_state ORDER BY e.id DESC))[1] <> o.state
"""


async def check_sums(conn: Connection) -> None:
    """True at every commit: each item is accounted once, in the transaction that changed its job."""
    await nothing(conn, WRONG_SUMS, "operations whose sums are wrong")
    changed, accounted = await World(conn, NOBODY).fetch(CHANGES)
    assert changed == accounted, f"{changed} changes, {accounted} accounted as processed"


async def check_end(conn: Connection, enqueued: set[int]) -> None:
    """After all is done: nothing lost, nothing begun or accounted twice."""
    await check_sums(conn)
    await nothing(conn, BEGUN_TWICE, "attempts that were begun twice")
    await nothing(conn, EVENTS_ASTRAY, "operations that went astray")
    places = await World(conn, NOBODY).audit()
    assert places.keys() == enqueued, f"lost {sorted(enqueued - places.keys())[:10]}"
    await nothing(conn, WITHOUT_EFFECT, "jobs that are not done, or were called done and weren't")


async def nothing(conn: Connection, query: str, what: str) -> None:
    """The query must find nothing."""
    cursor = await conn.execute(query.encode())
    found = await cursor.fetchmany(5)
    assert not found, f"{what}: {found}"
