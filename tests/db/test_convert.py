"""From canonical to lanes: everything is brought over and counted, or nothing has changed."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from psycopg import AsyncConnection

from awa.db.convert import Converted, convert_to_lanes
from awa.db.migrate import check_schema, migrate, storage_of
from awa.model.errors import Conflict, DatabaseError
from awa.storage import queues
from tests.storage.world import World

ALL = "SELECT id, state, queue, priority, kind, attempt, args::text, tags, metadata, errors FROM awa.jobs ORDER BY id"
STALE_S = 30.0
GONE = "UPDATE awa.runtimes SET state = 'stopped', ended_at = clock_timestamp()"


@pytest.fixture
async def canonical(empty_database_url: str) -> AsyncIterator[World]:
    async with await AsyncConnection.connect(empty_database_url, autocommit=True) as conn:
        await migrate(conn, "canonical")
        yield await World.on(conn)


async def fill(world: World) -> None:
    """Jobs in every place that nobody works on."""
    await world.enqueue(12)
    await world.enqueue(3, queue="other", priority=1)
    await world.enqueue(run_at=await world.now(later_s=3600))
    jobs = await world.claim(limit=8)
    await world.finish(jobs[:3])
    await world.finish(jobs[3:4], "failed")
    await world.finish(jobs[4:5], "retried", delay_s=60.0)
    await world.finish(jobs[5:], "returned")
    await world.conn.execute(GONE)


async def rows(world: World, statement: str = ALL) -> list[Any]:
    return await (await world.conn.execute(statement)).fetchall()


async def test_every_job_is_where_it_was(canonical: World) -> None:
    await fill(canonical)
    before = await rows(canonical)
    done = await convert_to_lanes(canonical.conn, stale_s=STALE_S)
    states = {"available": 10, "completed": 3, "failed": 1, "retryable": 1, "scheduled": 1}
    assert done == Converted(16, states)
    assert await rows(canonical) == before
    assert await storage_of(canonical.conn) == "lanes"
    await check_schema(canonical.conn)
    assert await rows(canonical, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'awa%'") == [
        ("awa",)
    ]


async def test_the_sums_of_queues_are_what_they_were(canonical: World) -> None:
    await fill(canonical)

    async def sums() -> list[dict[str, Any]]:
        rows = await queues.stats(canonical.conn)
        return [{k: row[k] for k in ("queue", "completed", "failed", "available")} for row in rows]

    before = await sums()
    assert [row["completed"] for row in before] == [3, 0]
    await convert_to_lanes(canonical.conn, stale_s=STALE_S)
    assert await sums() == before


async def test_work_goes_on_there_in_the_old_order(canonical: World) -> None:
    await fill(canonical)
    waiting = [
        id_
        for (id_,) in await rows(
            canonical,
            "SELECT job_id FROM awa.ready_entries r JOIN awa.lanes l USING (lane_id)"
            " WHERE claim_id IS NULL AND queue = 'default' ORDER BY lane_seq",
        )
    ]
    await convert_to_lanes(canonical.conn, stale_s=STALE_S)
    there = await World.on(canonical.conn)
    (new,) = await there.enqueue()
    claimed = await there.claim()
    assert [job.job_id for job in claimed] == [*waiting, new]
    await there.finish(claimed)
    await there.move(await there.enqueue(2), "other")
    assert len(await there.claim(queue="other")) == 5


async def test_nobody_may_be_at_work(canonical: World) -> None:
    await canonical.enqueue(2)
    with pytest.raises(Conflict, match="1 runtimes that live"):
        await convert_to_lanes(canonical.conn, stale_s=STALE_S)
    await canonical.claim(limit=1)
    await canonical.conn.execute(GONE)
    with pytest.raises(Conflict, match="1 jobs that run"):
        await convert_to_lanes(canonical.conn, stale_s=STALE_S)
    assert await storage_of(canonical.conn) == "canonical"


async def test_a_schema_with_lanes_is_left_alone(empty_database_url: str) -> None:
    async with await AsyncConnection.connect(empty_database_url, autocommit=True) as conn:
        await migrate(conn, "lanes")
        with pytest.raises(Conflict, match="has lanes already"):
            await convert_to_lanes(conn, stale_s=STALE_S)


async def test_counts_that_differ_leave_everything_as_it_was(
    canonical: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from awa.db import run

    await fill(canonical)
    before = await rows(canonical)
    script = run.script

    async def lose_one(conn: Any, name: str) -> None:
        await script(conn, name)
        if name == "convert/carry_over":
            await conn.execute("DELETE FROM awa.deferred_jobs WHERE state = 'retryable'")

    monkeypatch.setattr(run, "script", lose_one)
    with pytest.raises(DatabaseError, match="retryable/default/k: 1 before, 0 after"):
        await convert_to_lanes(canonical.conn, stale_s=STALE_S)
    assert await rows(canonical) == before
    assert await storage_of(canonical.conn) == "canonical"
    await check_schema(canonical.conn)
