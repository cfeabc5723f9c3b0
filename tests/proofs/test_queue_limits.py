"""Claims of a queue with a limit: however two of them meet, together they take no more than the limit leaves."""

from typing import Any

import pytest

from awa.storage.claim import Claimed
from tests.proofs.stage import Stage

LIMITS: tuple[dict[str, Any], ...] = (
    {"max_running": 3},
    {"rate_limit": 3, "rate_period_seconds": 3600},
)
LONG_AGO = """
    WITH ended AS (UPDATE awa.attempt_closures SET closed_at = '-infinity' RETURNING claim_no)
    UPDATE awa.lane_claims c SET claimed_at = '-infinity' FROM ended e WHERE c.claim_no = e.claim_no
"""
limits = pytest.mark.parametrize("limit", LIMITS, ids=["max_running", "rate"])


def why(claimed: Claimed) -> str | None:
    """Which limit cut the claim."""
    return claimed.held and claimed.held.why


async def test_of_two_claims_at_once_one_counts_and_the_other_comes_again(stage: Stage) -> None:
    await of_two_claims_at_once_one_counts(stage, LIMITS[0])


async def test_the_same_for_a_rate(stage: Stage) -> None:
    await of_two_claims_at_once_one_counts(stage, LIMITS[1])


async def of_two_claims_at_once_one_counts(stage: Stage, limit: dict[str, Any]) -> None:
    """The first has counted and not claimed yet when the second comes."""
    first, second = await stage.actors(2)
    await first.enqueue(10)
    await first.limit(**limit)
    async with first.stopped_at("limit.after_lock", first.claim_call()) as claiming:
        busy = await second.claim_call()
        assert (busy.jobs, why(busy)) == ([], "busy")
    assert len(claiming.result().jobs) == 3
    assert (await second.claim_call()).jobs == []
    await stage.audit()


@limits
async def test_a_claim_that_is_not_committed_yet_is_not_overlooked(
    stage: Stage, limit: dict[str, Any]
) -> None:
    first, second = await stage.actors(2)
    await first.enqueue(10)
    await first.limit(**limit)
    async with first.stopped_at("claim.before_alive", first.claim_call()) as claiming:
        busy = await second.claim_call()
        assert (busy.jobs, why(busy)) == ([], "busy")
    assert len(claiming.result().jobs) == 3
    assert (await second.claim_call()).jobs == []
    await stage.audit()


async def test_a_claim_that_began_before_another_was_committed_counts_it(stage: Stage) -> None:
    """The count is a new statement after the lock: the snapshot of the call knows nothing of the other claim."""
    first, second = await stage.actors(2)
    await first.enqueue(10)
    await first.limit(max_running=3)
    async with second.stopped_at("limit.before_lock", second.claim_call()) as claiming:
        assert len((await first.claim_call(limit=2)).jobs) == 2
    assert len(claiming.result().jobs) == 1
    assert why(claiming.result()) == "max_running"
    await stage.audit()


@limits
async def test_a_claim_that_is_rolled_back_takes_nothing_from_the_limit(
    stage: Stage, limit: dict[str, Any]
) -> None:
    first, second = await stage.actors(2)
    await first.enqueue(10)
    await first.limit(**limit)
    async with first.rolled_back():
        assert len(await first.claim()) == 3
        assert why(await second.claim_call()) == "busy"
    assert len(await second.claim()) == 3
    await stage.audit()


@limits
async def test_claims_in_one_transaction_count_each_other(
    stage: Stage, limit: dict[str, Any]
) -> None:
    claimer = await stage.actor()
    await claimer.enqueue(10)
    await claimer.limit(**limit)
    async with claimer.conn.transaction():
        assert len(await claimer.claim(limit=2)) == 2
        assert len(await claimer.claim()) == 1
        assert await claimer.claim() == []
    await stage.audit()


async def test_a_limit_that_was_set_while_a_claim_waited_for_its_turn_counts(stage: Stage) -> None:
    first, second = await stage.actors(2)
    await first.enqueue(10)
    await first.limit(max_running=5)
    async with second.stopped_at("limit.before_lock", second.claim_call()) as claiming:
        await first.limit(max_running=2)
    assert len(claiming.result().jobs) == 2
    await stage.audit()


async def test_an_end_that_is_not_committed_makes_no_room(stage: Stage) -> None:
    first, second = await stage.actors(2)
    await first.enqueue(10)
    await first.limit(max_running=1)
    jobs = await first.claim()
    async with first.conn.transaction():
        await first.finish(jobs)
        assert why(await second.claim_call()) == "max_running"
    assert len(await second.claim()) == 1
    await stage.audit()


async def test_a_finisher_and_a_rescue_make_room_once(stage: Stage) -> None:
    worker, leader, other = await stage.actors(3)
    await worker.enqueue(10)
    await worker.limit(max_running=2)
    (job,) = await worker.claim(limit=1)
    await worker.conn.execute(
        "UPDATE awa.runtimes SET heartbeat_at = '-infinity' WHERE id = %s", [worker.runtime_id]
    )
    async with leader.stopped_at("rescue.before_finish", leader.rescue()) as rescuing:
        assert await worker.finish([job]) == {job.job_id: "completed"}
        assert len(await other.claim()) == 2
    assert rescuing.result().attempts_rescued == 0
    assert await other.claim() == []
    await stage.audit()


@pytest.mark.lanes
async def test_claims_follow_each_other_in_time(stage: Stage) -> None:
    """Also when the one that began first claims last: the rate is counted by halves."""
    first, second = await stage.actors(2)
    await first.enqueue(10)
    await first.limit(max_running=5)
    async with second.stopped_at("limit.before_lock", second.claim_call(limit=1)):
        assert len(await first.claim(limit=1)) == 1
    disorder = """
        SELECT count(*), count(*) FILTER (WHERE later.claimed_at <= c.claimed_at) FROM awa.lane_claims c
          JOIN awa.lane_claims later ON later.lane_id = c.lane_id AND later.claim_no > c.claim_no
    """
    assert await stage.fetch(disorder) == (1, 0)


@pytest.mark.lanes
async def test_a_slot_that_a_rate_still_counts_is_not_emptied(stage: Stage) -> None:
    claimer = await stage.actor()
    await claimer.enqueue(3)
    await claimer.limit(rate_limit=4, rate_period_seconds=3600)
    await claimer.finish(await claimer.claim())
    assert await claimer.rotate() == "rotated"
    assert await claimer.prune() == "young"
    await claimer.enqueue(3)
    assert len(await claimer.claim()) == 1


@pytest.mark.lanes
async def test_a_claim_that_is_carried_keeps_its_place_in_the_count(stage: Stage) -> None:
    """The newest claim of a lane is that of a late job in an old slot; it goes on with the job in the current one."""
    claimer, producer = await stage.actors(2)
    await claimer.enqueue()  # makes the lane
    await claimer.finish(await claimer.claim())
    await claimer.limit(rate_limit=4, rate_period_seconds=3600)
    async with producer.conn.transaction():
        await producer.enqueue()
        await claimer.enqueue()
        await claimer.finish(await claimer.claim())
        assert await claimer.rotate() == "rotated"
        await claimer.enqueue()
        assert len(await claimer.claim()) == 1
    assert len(await claimer.claim()) == 1  # the late one
    await claimer.conn.execute(LONG_AGO)
    assert await claimer.prune() == "pruned"
    await claimer.enqueue(3)
    assert len(await claimer.claim()) == 2
    await stage.audit()
