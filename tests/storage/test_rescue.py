"""Rescue: what a runtime that is gone had in its hands becomes jobs again, once."""

import pytest

from awa.model.errors import AwaError
from awa.storage import rescue, runtimes
from tests.conftest import Connect
from tests.storage.world import World

HOUR_S = 3600.0
GONE_S = -1.0


async def test_a_runtime_that_speaks_is_left_alone(world: World) -> None:
    (job,) = await world.enqueue()
    await world.claim()
    assert await world.rescue(stale_after_s=30.0) == (0, 0, 0)
    assert await world.state(job) == "running"


async def test_a_silent_runtime_is_declared_dead_and_its_attempts_are_retried(world: World) -> None:
    done, lost = await world.enqueue(2)
    await world.finish(await world.claim(limit=1))
    await world.claim(limit=1)
    assert await world.rescue(now=await world.now(later_s=31)) == (1, 1, 0)
    assert await world.states([done, lost]) == ["completed", "retryable"]
    row = await world.job(lost)
    assert (row["attempt"], row["errors"][0]["kind"]) == (1, "RuntimeLost")
    assert (await world.fetch("SELECT state FROM awa.runtimes"))[0] == "dead"


async def test_only_the_silent_one_is_declared_dead(world: World, connect: Connect) -> None:
    alive = await World.on(await connect())
    ours, theirs = await world.enqueue(2)
    await world.claim(limit=1)
    await alive.claim(limit=1)
    await world.conn.execute(
        "UPDATE awa.runtimes SET heartbeat_at = heartbeat_at - interval '1 min' WHERE id = %s",
        [world.runtime_id],
    )
    assert await alive.rescue() == (1, 1, 0)
    assert await world.states([ours, theirs]) == ["retryable", "running"]


async def test_a_rescued_attempt_was_the_last_one_if_it_was_the_last_one(world: World) -> None:
    (job,) = await world.enqueue(max_attempts=1)
    await world.claim()
    await world.rescue(stale_after_s=GONE_S)
    assert await world.state(job) == "failed"


async def test_a_late_finisher_changes_nothing(world: World) -> None:
    (job,) = await world.enqueue()
    claimed = await world.claim()
    await world.rescue(stale_after_s=GONE_S)
    for outcome in ("completed", "failed", "returned"):
        assert await world.finish(claimed, outcome) == {}
    row = await world.job(job)
    assert (row["state"], len(row["errors"])) == ("retryable", 1)


async def test_while_all_is_well_nobody_looks_through_what_is_open(world: World) -> None:
    """That costs milliseconds, once a second, of what pickups wait for."""
    await world.enqueue(2)
    await world.claim(limit=1, deadline_s=60)
    await world.claim(limit=1)
    await world.conn.execute("""
        CREATE OR REPLACE FUNCTION awa.rescue_attempts(p_limit int, p_now timestamptz, p_by_deadline boolean) RETURNS int
        LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'looked'; END $$""")
    assert await world.rescue() == (0, 0, 0)
    with pytest.raises(AwaError, match="looked"):
        await world.rescue(stale_after_s=1e6, now=await world.now(later_s=61))
    with pytest.raises(AwaError, match="looked"):
        await world.rescue(stale_after_s=0.0, now=await world.now(later_s=30))


async def test_a_second_rescue_finds_nothing(world: World) -> None:
    await world.enqueue()
    await world.claim()
    assert await world.rescue(stale_after_s=GONE_S) == (1, 1, 0)
    assert await world.rescue(stale_after_s=GONE_S) == (0, 0, 0)


async def test_long_attempts_that_were_written_down_are_rescued_too(world: World) -> None:
    """The runtime said that everything before a moment is closed but these."""
    (old,) = await world.enqueue()
    long_one = await world.claim()
    later = await world.now(later_s=10)
    await world.heartbeat(long_one, open_since=later)
    assert (await world.rescue(stale_after_s=GONE_S)).attempts_rescued == 1
    assert await world.state(old) == "retryable"
    assert await world.fetch("SELECT count(*) FROM awa.attempts") == (0,)


async def test_what_was_closed_before_that_moment_is_not_looked_at(world: World) -> None:
    await world.enqueue(2)
    await world.finish(await world.claim())
    await world.heartbeat((), open_since=await world.now(later_s=10))
    assert await world.rescue(stale_after_s=GONE_S) == (1, 0, 0)


async def test_a_stopped_runtime_leaves_nothing_running(world: World) -> None:
    (job,) = await world.enqueue()
    await world.claim()
    await runtimes.stop(world.conn, world.runtime_id)
    assert await world.rescue(stale_after_s=HOUR_S) == (0, 1, 0)
    assert await world.state(job) == "retryable"


async def test_a_rescue_that_comes_days_late_still_finds_everything(world: World) -> None:
    """Nobody kept house for a while: that must not leave a job running for ever."""
    (job,) = await world.enqueue()
    await world.claim()
    await runtimes.stop(world.conn, world.runtime_id)
    rescued = await world.rescue(stale_after_s=HOUR_S, now=await world.now(later_s=72 * HOUR_S))
    assert rescued.attempts_rescued == 1
    assert await world.state(job) == "retryable"


async def test_no_more_than_asked_for_and_the_rest_next_time(world: World) -> None:
    ids = await world.enqueue(5)
    await world.claim()
    counts = [
        (await rescue.rescue(world.conn, stale_after_s=GONE_S, max_attempts=2)).attempts_rescued
        for _ in range(4)
    ]
    assert counts == [2, 2, 1, 0]
    assert await world.states(ids) == ["retryable"] * 5


async def test_attempts_of_many_lanes_are_rescued_together(world: World) -> None:
    ids = [(await world.enqueue(queue=q, priority=p))[0] for q in "ab" for p in (1, 2, 3)]
    for queue in "ab":
        await world.claim(queue=queue)
    assert (await world.rescue(stale_after_s=GONE_S)).attempts_rescued == 6
    assert await world.states(ids) == ["retryable"] * 6
