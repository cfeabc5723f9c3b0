"""Operations that ended are deleted in chunks when their time has come; active ones never."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from awa.db.pool import Pool
from awa.model.errors import NotFound, ValidationError
from awa.operations import control, read, retention
from awa.operations.runner import Runner
from awa.operations.submit import submit
from tests.operations.kit import Conn, Row, add_jobs, new_runner, operate, value

LEFT = """
    SELECT (SELECT count(*) FROM awa.batch_operations), (SELECT count(*) FROM awa.batch_operation_items),
           (SELECT count(*) FROM awa.batch_operation_totals), (SELECT count(*) FROM awa.batch_operation_events)
"""


async def left(conn: Conn) -> tuple[Any, ...]:
    """How many operations, items, totals and events there are."""
    found = await (await conn.execute(LEFT)).fetchone()
    assert found is not None
    return tuple(found)


async def done(conn: Conn, runner: Runner, jobs: int, queue: str) -> Row:
    """An operation that ended, with so many items."""
    await add_jobs(conn, jobs, queue=queue)
    return await operate(conn, runner, "set_priority", {"priority": 1}, {"queue": queue})


async def test_what_has_not_expired_stays(conn: Conn, runner: Runner) -> None:
    operation = await done(conn, runner, 3, "a")
    almost = operation["retention_until"] - timedelta(seconds=1)
    assert await retention.run_once(conn, almost) == 0
    assert (await left(conn))[:2] == (1, 3)


async def test_what_has_expired_goes_with_all_that_belongs_to_it(
    conn: Conn, runner: Runner
) -> None:
    operation = await done(conn, runner, 3, "a")
    await done(conn, runner, 2, "b")
    assert await retention.run_once(conn, operation["retention_until"] + timedelta(days=1)) == 7
    assert await left(conn) == (0, 0, 0, 0)
    with pytest.raises(NotFound):
        await read.get(conn, operation["id"])


async def test_deletion_goes_in_chunks_and_is_gone_on_with(
    conn: Conn, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "CHUNK_ITEMS", 4)
    operation = await done(conn, runner, 10, "a")
    expired = operation["retention_until"]
    assert await retention.run_once(conn, expired) == 4
    assert (await left(conn))[:2] == (1, 6)
    assert await retention.run_once(conn, expired) == 4
    assert (await left(conn))[:2] == (1, 2)
    assert await retention.run_once(conn, expired) == 3
    assert await left(conn) == (0, 0, 0, 0)
    assert await retention.run_once(conn, expired) == 0


async def test_the_retention_is_a_setting(conn: Conn, pool: Pool) -> None:
    runner = await new_runner(conn, pool, batch_op_retention_days=2.5)
    operation = await done(conn, runner, 1, "a")
    assert operation["retention_until"] - operation["finalized_at"] == timedelta(days=2.5)


async def test_a_purge_takes_what_ended_before(conn: Conn, runner: Runner) -> None:
    old = await done(conn, runner, 3, "a")
    new = await done(conn, runner, 3, "b")
    now = datetime.now(UTC) + timedelta(hours=1)
    assert await retention.purge(conn, old["finalized_at"], now=now) == 0
    assert await retention.purge(conn, new["finalized_at"], now=now) == 1
    assert await value(conn, "SELECT id FROM awa.batch_operations") == new["id"]
    assert await retention.purge(conn, now, now=now) == 1
    assert await left(conn) == (0, 0, 0, 0)


@pytest.mark.parametrize("steps", [0, 1, 2, 3])
async def test_active_operations_are_never_deleted(conn: Conn, runner: Runner, steps: int) -> None:
    await add_jobs(conn, 300)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    for _ in range(steps):
        await runner.step()
    before = await left(conn)
    far = datetime.now(UTC) + timedelta(days=36_500)
    assert await retention.run_once(conn, far) == 0
    assert await retention.purge(conn, far, now=far) == 0
    if steps:
        await control.cancel(conn, submitted["id"])
        assert await retention.run_once(conn, far) == 0
        assert await retention.purge(conn, far, now=far) == 0
        before = (*before[:3], before[3] + 1)
    assert await left(conn) == before


async def test_a_time_without_offset_or_in_the_future_is_refused(conn: Conn) -> None:
    with pytest.raises(ValidationError, match="before"):
        await retention.purge(conn, datetime(2026, 1, 1))  # noqa: DTZ001
    with pytest.raises(ValidationError, match="future"):
        await retention.purge(conn, datetime.now(UTC) + timedelta(days=1))
