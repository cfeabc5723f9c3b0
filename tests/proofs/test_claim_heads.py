"""The head of a lane: one claimer at a time writes it, from what it read after it had the lane's lock."""

import pytest

from awa.storage import queues
from tests.proofs.scenes import cursor_of
from tests.proofs.stage import Stage

pytestmark = pytest.mark.lanes


async def test_a_lane_in_another_claimers_hands_is_passed_by(stage: Stage) -> None:
    first, second = await stage.actors(2)
    (job,) = await first.enqueue()
    async with first.stopped_at("claim.after_snapshot", first.claim_ids()) as claiming:
        assert await second.claim_ids() == []
    assert claiming.result() == [job]
    assert await second.claim_ids() == []
    await stage.audit()


async def test_a_head_is_read_in_a_later_statement_than_the_lanes_lock(stage: Stage) -> None:
    """A statement that took its snapshot before the lock would read a head that is no longer the newest."""
    first, second = await stage.actors(2)
    (job,) = await first.enqueue()
    async with first.stopped_at("claim.before_snapshot", first.claim_ids()) as claiming:
        assert await second.claim_ids() == []
    assert claiming.result() == [job]
    assert await second.claim_ids() == []
    await stage.audit()


async def test_a_claim_holds_its_lane_until_it_commits(stage: Stage) -> None:
    """The next head builds on this one, so nobody may build on the one before."""
    first, second = await stage.actors(2)
    one, two = await first.enqueue(2)
    async with first.conn.transaction():
        assert await first.claim_ids(limit=1) == [one]
        assert await second.claim_ids() == []
    assert await second.claim_ids() == [two]
    await stage.audit()


async def test_a_busy_lane_does_not_keep_a_claimer_from_others(stage: Stage) -> None:
    first, second = await stage.actors(2)
    (urgent,) = await first.enqueue(priority=1)
    (normal,) = await first.enqueue(priority=2)
    async with first.rolled_back():
        assert await first.claim_ids(limit=1) == [urgent]
        assert await second.claim_ids() == [normal]
    assert await second.claim_ids() == [urgent]
    await stage.audit()


async def test_claims_of_several_lanes_in_opposite_order_both_end(stage: Stage) -> None:
    """Each has one lane and asks for the other's: a busy lane is passed by, never waited for."""
    first, second = await stage.actors(2)
    (here,) = await first.enqueue(queue="here")
    (there,) = await first.enqueue(queue="there")
    async with first.conn.transaction(), second.conn.transaction():
        assert await first.claim_ids(queue="here") == [here]
        assert await second.claim_ids(queue="there") == [there]
        assert await first.claim_ids(queue="there") == []
        assert await second.claim_ids(queue="here") == []
    await stage.audit()


async def test_no_head_is_carried_while_a_claimer_works_on_the_lane(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    await claimer.enqueue()
    await claimer.finish(await claimer.claim())
    assert await keeper.rotate() == "rotated"
    async with claimer.stopped_at("claim.before_snapshot", claimer.claim_ids()):
        assert await keeper.prune() == "busy"
    assert await keeper.prune() == "pruned"
    (job,) = await claimer.enqueue()
    assert await claimer.claim_ids() == [job]
    assert await claimer.claim_ids() == []
    await stage.audit()


async def test_the_cursor_never_passes_a_position_that_is_still_to_be_drawn(stage: Stage) -> None:
    (claimer,) = await stage.actors(1)
    (job,) = await claimer.enqueue()
    assert await claimer.claim_ids() == [job]
    drawn, cursor = job, await cursor_of(claimer)
    assert cursor == drawn + 1


async def test_a_pause_that_comes_during_a_claim_leaves_that_claim_alone(stage: Stage) -> None:
    claimer, operator = await stage.actors(2)
    (job,) = await claimer.enqueue()
    async with claimer.stopped_at("claim.after_snapshot", claimer.claim_ids()) as claiming:
        await operator.pause()
        (next_job,) = await operator.enqueue()
    assert claiming.result() == [job]
    assert await claimer.claim_ids() == []
    await queues.resume(operator.conn, "default")
    assert await claimer.claim_ids() == [next_job]
    await stage.audit()
