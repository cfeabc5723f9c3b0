"""Each duty once, with the clock stopped where the test wants it."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from psycopg import AsyncConnection

from awa.config import Settings
from awa.events import batch as events
from awa.events import upkeep
from awa.maintenance import ageing, callbacks, gauges, promotion, rescuing, restore, retention, ring
from awa.maintenance.duties import duties
from awa.operations import retention as operation_retention
from awa.operations import switch
from awa.operations.submit import submit
from awa.storage import runtimes
from awa.storage.claim import claim
from awa.storage.finish import Ending, finish
from awa.storage.rescue import rescue
from tests.storage.world import World

HOUR = timedelta(hours=1)


@pytest.fixture
def now() -> datetime:
    return datetime.now(UTC)


async def one(conn: AsyncConnection[Any], query: str) -> Any:
    found = await (await conn.execute(query)).fetchone()
    return found[0] if found else None


async def claimed_by(conn: AsyncConnection[Any], runtime_id: UUID) -> list[Ending]:
    await runtimes.register(conn, runtime_id, ["worker"], {"default": 1})
    taken = await claim(conn, "default", 100, runtime_id)
    return [Ending(job.lane_id, job.claim_no, job.lane_seq, "completed") for job in taken.jobs]


async def test_promotion_takes_what_is_due_and_nothing_else(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    for hours in (1, 2, 3):
        await conn.execute("SELECT awa.enqueue('a', run_at => %s)", (now + hours * HOUR,))
    assert await promotion.run_once(conn, now) == 0
    assert await promotion.run_once(conn, now + 2 * HOUR) == 2
    assert await promotion.run_once(conn, now + 2 * HOUR) == 0
    assert await one(conn, "SELECT count(*) FROM awa.jobs WHERE state = 'scheduled'") == 1


async def test_promotion_is_bounded_and_says_that_there_is_more(
    conn: AsyncConnection[Any], now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(promotion, "BOUND_JOBS", 10)
    await conn.execute(
        "SELECT awa.enqueue('a', run_at => %s) FROM generate_series(1, 15)", (now + HOUR,)
    )
    assert await promotion.run_once(conn, now + HOUR) == 10
    assert await promotion.run_once(conn, now + HOUR) == 5


async def test_a_look_that_finds_nothing_due_costs_no_transaction_id(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    await conn.execute("SELECT awa.enqueue('a', run_at => %s)", (now + HOUR,))
    async with conn.transaction():
        await promotion.run_once(conn, now)
        assert await one(conn, "SELECT pg_current_xact_id_if_assigned()") is None


async def test_rescue_takes_attempts_of_a_silent_runtime_back(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    await conn.execute("SELECT awa.enqueue('a'), awa.enqueue('b')")
    await claimed_by(conn, uuid4())
    rescue = rescuing.rescuer(Settings(runtime_stale_s=30))
    assert await rescue(conn, now + timedelta(seconds=20)) == 0
    assert await rescue(conn, now + timedelta(seconds=60)) == 2
    assert await rescue(conn, now + timedelta(seconds=60)) == 0
    assert await one(conn, "SELECT count(*) FROM awa.jobs WHERE state = 'retryable'") == 2
    assert await one(conn, "SELECT state FROM awa.runtimes") == "dead"


async def test_ageing_raises_a_lane_that_waits_and_lowers_it_again(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    await conn.execute("SELECT awa.enqueue('a', priority => 4)")
    age = ageing.ager(Settings(ageing_step_s=60))
    effective = "SELECT effective_priority FROM awa.lanes"
    assert await age(conn, now + timedelta(seconds=130)) == 1
    assert await one(conn, effective) == 2
    assert await age(conn, now) == 1
    assert await one(conn, effective) == 4


async def test_without_a_step_nothing_ages(conn: AsyncConnection[Any], now: datetime) -> None:
    await conn.execute("SELECT awa.enqueue('a', priority => 4)")
    assert await ageing.ager(Settings(ageing_step_s=0))(conn, now + 100 * HOUR) == 0


@pytest.mark.lanes
async def test_the_ring_moves_on_by_age_and_gives_space_back_after_the_retention(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    settings = Settings(completed_retention_hours=6)
    rotate, prune = ring.rotator(settings), ring.pruner(settings)
    await conn.execute("SELECT awa.enqueue('a')")
    runtime_id = uuid4()
    await finish(conn, runtime_id, await claimed_by(conn, runtime_id))
    assert await rotate(conn, now + 0.5 * HOUR) == 0
    assert await rotate(conn, now + 1.5 * HOUR) == 1
    assert await prune(conn, now + 5 * HOUR) == 0
    assert await one(conn, "SELECT count(*) FROM awa.jobs") == 1
    assert [await prune(conn, now + 7 * HOUR) for _step in ("retire", "see")] == [1, 1]
    assert await one(conn, "SELECT count(*) FROM awa.jobs") == 1
    assert await prune(conn, now + 7 * HOUR) == 1
    assert await one(conn, "SELECT count(*) FROM awa.jobs") == 0
    assert await prune(conn, now + 7 * HOUR) == 0


async def test_failed_jobs_are_deleted_when_their_retention_is_over(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    await conn.execute("SELECT awa.enqueue('a')")
    runtime_id = uuid4()
    (ending,) = await claimed_by(conn, runtime_id)
    await finish(conn, runtime_id, [ending._replace(outcome="failed")])
    retain = retention.job_retainer(
        Settings(failed_retention_hours=10, completed_retention_hours=1)
    )
    assert await retain(conn, now + 9 * HOUR) == 0
    assert await retain(conn, now + 11 * HOUR) == 1
    assert await one(conn, "SELECT count(*) FROM awa.finished_jobs") == 0


async def test_waits_for_callbacks_end_when_their_time_is_over(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    world = await World.on(conn)
    job_id, _ = await world.waiting(timeout_s=60.0)
    assert await callbacks.run_once(conn, now) == 0
    assert await callbacks.run_once(conn, now + HOUR) == 1
    assert await world.state(job_id) == "retryable"


async def test_answered_callbacks_are_deleted_when_their_retention_is_over(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    world = await World.on(conn)
    _, callback = await world.waiting()
    await world.answer(callback, "complete")
    retain = retention.callback_retainer(Settings(callback_retention_hours=10))
    assert await retain(conn, now + 9 * HOUR) == 0
    assert await retain(conn, now + 11 * HOUR) == 1
    assert await one(conn, "SELECT count(*) FROM awa.callbacks") == 0


async def test_a_runtime_is_forgotten_a_day_after_its_end(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    ended, alive = uuid4(), uuid4()
    for runtime_id in (ended, alive):
        await runtimes.register(conn, runtime_id, ["worker"], {})
    await runtimes.stop(conn, ended)
    await rescue(conn, stale_after_s=3600.0)
    assert await retention.forget_runtimes(conn, now + 23 * HOUR) == 0
    assert await retention.forget_runtimes(conn, now + 25 * HOUR) == 1
    assert await one(conn, "SELECT id FROM awa.runtimes") == alive


async def test_a_runtime_that_still_owns_an_attempt_is_not_forgotten(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    await conn.execute("SELECT awa.enqueue('a')")
    runtime_id = uuid4()
    await claimed_by(conn, runtime_id)
    await runtimes.stop(conn, runtime_id)
    assert await retention.forget_runtimes(conn, now + 25 * HOUR) == 0


async def test_an_operation_goes_when_its_retention_is_over(
    conn: AsyncConnection[Any], now: datetime
) -> None:
    await submit(conn, "set_priority", {"queue": "q"}, {"priority": 1}, actor="tester")
    assert await operation_retention.run_once(conn, now + 10_000 * HOUR) == 0
    await conn.execute(
        "UPDATE awa.batch_operations SET state = 'completed', finalized_at = %s, retention_until = %s",
        (now, now + HOUR),
    )
    assert await operation_retention.run_once(conn, now) == 0
    assert await operation_retention.run_once(conn, now + 2 * HOUR) == 1


async def test_gauges_tell_how_many_operations_are_active(
    conn: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, int] = {}
    monkeypatch.setattr(events, "active", told.__setitem__)
    await submit(conn, "set_priority", {"queue": "q"}, {"priority": 1}, actor="tester")
    assert await gauges.run_once(conn) == 1
    assert told == {"pending": 1, "scanning": 0, "running": 0, "paused": 0, "cancelling": 0}


async def test_a_gauge_tells_that_all_are_held(
    conn: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[bool] = []
    monkeypatch.setattr(events, "held", told.append)
    await gauges.run_once(conn)
    await switch.hold(conn, actor="tester")
    await gauges.run_once(conn)
    assert told == [False, True]


async def test_owed_follow_ups_are_told_and_given_up_after_a_failed_jobs_time(
    conn: AsyncConnection[Any], now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, int]] = []
    for event in ("owing_follow_ups", "gave_up_follow_ups"):
        monkeypatch.setattr(upkeep, event, lambda count, event=event: told.append((event, count)))
    await conn.execute(
        """INSERT INTO awa.owed_follow_ups
                  (owed_at, job_id, kind, queue, priority, attempt, max_attempts, args, tags, metadata, errors, run_at, created_at)
           VALUES (%s, 1, 'k', 'q', 2, 1, 1, '{}', '{}', '{}', '[]', now(), now())""",
        [now],
    )
    give_up = retention.follow_up_retainer(Settings(failed_retention_hours=2))
    await gauges.run_once(conn)
    assert await give_up(conn, now + HOUR) == 0
    assert await give_up(conn, now + 3 * HOUR) == 1
    await gauges.run_once(conn)
    owing, gave_up = "owing_follow_ups", "gave_up_follow_ups"
    assert told == [(owing, 1), (gave_up, 0), (gave_up, 1), (owing, 0)]


async def test_a_store_that_was_not_restored_is_left_alone(conn: AsyncConnection[Any]) -> None:
    assert await restore.run_once(conn) == 0


async def test_a_restored_store_is_made_fit(conn: AsyncConnection[Any]) -> None:
    await conn.execute("SELECT awa.enqueue('a')")
    await conn.execute("UPDATE awa.ring SET system_identifier = 1")
    assert await restore.run_once(conn) == 1
    assert await restore.run_once(conn) == 0


async def test_every_duty_of_the_table_runs_on_an_empty_store(conn: AsyncConnection[Any]) -> None:
    table = duties(Settings())
    assert len({duty.name for duty in table}) == len(table)
    for duty in table:
        assert duty.interval_s > 0
        async with conn.transaction():
            assert await duty.run_once(conn, None) == 0
