"""A runtime that ended is settled when nothing of it can appear any more, whatever clocks say."""

import pytest

from awa.db.failures import RuntimeGone
from awa.storage import runtimes
from tests.proofs.stage import Actor, Stage

HOUR_S = 3600.0
DAYS_LATER_S = 72 * HOUR_S


async def settled(leader: Actor, worker: Actor) -> bool:
    """Whether the rescue looks at it no more."""
    (seen,) = await leader.fetch(
        "SELECT settled FROM awa.runtimes WHERE id = %s", worker.runtime_id
    )
    return bool(seen)


async def end(leader: Actor, worker: Actor) -> None:
    """The worker's runtime ends, and the rescue has every reason to settle it."""
    await runtimes.stop(leader.conn, worker.runtime_id)
    for later_s in (0.0, DAYS_LATER_S, DAYS_LATER_S):
        await leader.rescue(stale_after_s=2 * DAYS_LATER_S, now=await leader.now(later_s=later_s))


async def test_it_is_settled_at_once_when_nobody_is_under_way(stage: Stage) -> None:
    worker, leader = await stage.actors(2)
    await worker.enqueue()
    await worker.finish(await worker.claim())
    await runtimes.stop(leader.conn, worker.runtime_id)
    await leader.rescue(stale_after_s=HOUR_S)
    assert await settled(leader, worker)


async def test_a_claim_that_commits_days_after_its_runtime_ended_is_rescued(stage: Stage) -> None:
    worker, leader = await stage.actors(2)
    (job,) = await worker.enqueue()
    async with worker.conn.transaction():
        assert await worker.claim_ids() == [job]
        await end(leader, worker)
        assert not await settled(leader, worker)
    rescued = await leader.rescue(stale_after_s=HOUR_S)
    assert rescued.attempts_rescued == 1
    assert await leader.state(job) == "retryable"
    await leader.rescue(stale_after_s=HOUR_S)
    assert await settled(leader, worker)


async def test_a_claim_that_looked_before_the_end_and_has_its_id_after_it_is_refused(
    stage: Stage,
) -> None:
    worker, leader = await stage.actors(2)
    (job,) = await worker.enqueue()

    async def refused() -> None:
        with pytest.raises(RuntimeGone):
            await worker.claim()

    async with worker.stopped_at("claim.before_snapshot", refused()):
        await end(leader, worker)
        assert await settled(leader, worker)
    assert await leader.state(job) == "available"


async def test_an_id_beyond_the_end_of_the_rescues_snapshot_is_waited_for(stage: Stage) -> None:
    """A snapshot ends behind the last id that has ended, so the claim's, which still runs, lies beyond it."""
    worker, leader, ender = await stage.actors(3)
    (job,) = await worker.enqueue()
    async with stage.until_end() as claiming:
        async with ender.conn.transaction():
            await ender.fetch(
                "SELECT pg_current_xact_id()"
            )  # the end's id is older than the claim's
            await claiming.enter_async_context(worker.conn.transaction())
            assert await worker.claim_ids() == [job]
            await runtimes.stop(ender.conn, worker.runtime_id)
        await leader.rescue(stale_after_s=HOUR_S)
        await leader.rescue(stale_after_s=HOUR_S)
        assert not await settled(leader, worker)
    assert (await leader.rescue(stale_after_s=HOUR_S)).attempts_rescued == 1
    assert await leader.state(job) == "retryable"
