"""What is to follow a job that a rescue fails is noted in the transaction of that failure, and taken once."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from awa.storage import dead_letters, follow_ups, runtimes
from awa.storage.follow_ups import say_on_failed, take_owed
from tests.conftest import Connect
from tests.storage.world import World

GONE_S = -1.0  # seconds without a heartbeat after which a runtime counts as dead: already
LATER = datetime(2040, 1, 2, 3, 4, 5, tzinfo=UTC)
ARGS = '{"n": 123456789012345678901234567890, "a": [1.50]}'
LATER_ID = UUID(int=7)


async def dying(world: World, **details: Any) -> int:
    """A job in its last attempt whose worker wants something to follow, and falls silent."""
    await say_on_failed(world.conn, world.runtime_id, ["k", "other"])
    (job,) = await world.enqueue(**{"max_attempts": 1, "args_json": ARGS, **details})
    await world.claim()
    return job


async def owed(world: World, *kinds: str) -> list[dict[str, Any]]:
    """What is owed, and stays so."""
    async with world.rolled_back():
        return await take_owed(world.conn, kinds or ["k"], max_rows=100)


async def test_a_job_whose_last_worker_died_is_noted_as_it_failed(world: World) -> None:
    job = await dying(world, tags=["t"], metadata={"m": 1}, priority=3)
    assert await owed(world) == []
    await world.rescue(stale_after_s=GONE_S)
    (row,) = await owed(world)
    assert (row["id"], row["kind"], row["queue"], row["state"]) == (job, "k", "default", "failed")
    assert (row["args"], row["tags"], row["metadata"]) == (ARGS, ["t"], {"m": 1})
    assert (row["priority"], row["attempt"], row["max_attempts"]) == (3, 1, 1)
    assert row["errors"][-1]["kind"] == "RuntimeLost"
    failed = await world.job(job)
    assert (failed["state"], failed["finalized_at"]) == ("failed", row["finalized_at"])
    await world.audit()


async def test_so_is_one_that_the_leader_ends_at_its_deadline(world: World) -> None:
    await say_on_failed(world.conn, world.runtime_id, ["k"])
    await world.enqueue(max_attempts=1)
    await world.claim(deadline_s=60)
    assert (await world.rescue(now=LATER, stale_after_s=1e9)).deadlines_passed == 1
    assert [row["errors"][-1]["kind"] for row in await owed(world)] == ["DeadlineExceeded"]


async def test_what_the_attempt_had_written_down_goes_along(world: World) -> None:
    await say_on_failed(world.conn, world.runtime_id, ["k"])
    await world.enqueue(max_attempts=1)
    claimed = await world.claim()
    await world.heartbeat(claimed, progress=[{"percent": 40}], metadata=[{"step": 3}])
    await world.rescue(stale_after_s=GONE_S)
    (row,) = await owed(world)
    assert (row["progress"], row["metadata"]) == ({"percent": 40}, {"step": 3})


@pytest.mark.parametrize(
    ("kinds", "details"),
    [
        (["other"], {}),  # its program wants nothing for this kind
        ([], {}),
        (None, {}),  # it says nothing, as one of another language
        (["k"], {"max_attempts": 2}),  # it is tried again
    ],
)
async def test_otherwise_nothing_is_owed(
    world: World, kinds: list[str] | None, details: dict[str, Any]
) -> None:
    if kinds is not None:
        await say_on_failed(world.conn, world.runtime_id, kinds)
    await world.enqueue(**{"max_attempts": 1, **details})
    await world.claim()
    assert (await world.rescue(stale_after_s=GONE_S)).attempts_rescued == 1
    assert await owed(world, "k", "other") == []


async def test_of_a_set_those_that_fail_for_good(world: World) -> None:
    last = [await dying(world) for _ in range(3)]
    await dying(world, max_attempts=2)
    await dying(world, kind="unasked")
    assert (await world.rescue(stale_after_s=GONE_S)).attempts_rescued == 5
    assert [row["id"] for row in await owed(world, "k", "unasked")] == last


async def test_a_cancelled_job_owes_nothing(world: World) -> None:
    job = await dying(world)
    assert await world.cancel_running([job]) == [job]
    await world.rescue(stale_after_s=GONE_S)
    assert await owed(world) == []


async def test_a_rescue_that_is_rolled_back_owes_nothing(world: World) -> None:
    await dying(world)
    async with world.rolled_back():
        await world.rescue(stale_after_s=GONE_S)
        assert len(await owed(world)) == 1
    assert await owed(world) == []


async def test_what_becomes_of_the_job_changes_nothing_about_it(world: World) -> None:
    await dead_letters.enable(world.conn, "default", True)
    tried_again, purged = await dying(world), await dying(world)
    await world.rescue(stale_after_s=GONE_S)
    before = await owed(world)
    await world.retry([tried_again])
    await world.conn.execute("DELETE FROM awa.finished_jobs WHERE job_id = %s", [purged])
    assert await owed(world) == before
    assert [row["args"] for row in before] == [ARGS, ARGS]


async def test_it_is_taken_once_whoever_asks(world: World, connect: Connect) -> None:
    jobs = [await dying(world) for _ in range(3)]
    await world.rescue(stale_after_s=GONE_S)
    other = await connect()
    async with world.rolled_back():
        assert [row["id"] for row in await take_owed(world.conn, ["k"], max_rows=2)] == jobs[:2]
        assert [row["id"] for row in await take_owed(other, ["k"], max_rows=9)] == jobs[2:]
        assert await take_owed(other, ["k"], max_rows=9) == []
    assert [row["id"] for row in await take_owed(other, ["k"], max_rows=9)] == jobs[:2]
    assert await owed(world) == []


async def test_what_nobody_comes_for_is_given_up(world: World) -> None:
    await dying(world)
    await world.rescue(stale_after_s=GONE_S)
    assert await follow_ups.count_owed(world.conn) == 1
    now = datetime.now(UTC)
    assert await follow_ups.give_up(world.conn, keep_s=3600, now=now + timedelta(minutes=50)) == 0
    assert await follow_ups.give_up(world.conn, keep_s=3600, now=now + timedelta(hours=2)) == 1
    assert await follow_ups.count_owed(world.conn) == 0


async def test_a_runtime_says_so_when_it_registers(world: World) -> None:
    await runtimes.register(world.conn, LATER_ID, ["worker"], {}, on_failed=["a", "b"])
    found = await world.fetch("SELECT on_failed FROM awa.runtimes WHERE id = %s", LATER_ID)
    assert found == (["a", "b"],)
