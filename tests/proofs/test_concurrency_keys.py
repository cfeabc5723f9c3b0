"""Jobs with a concurrency key: however two deeds meet, no more than may run have a place, and nobody who waits is forgotten."""

import pytest

from awa.storage.finish import complete
from tests.proofs.stage import Actor, Stage

PLACES = """
    SELECT count(*), count(DISTINCT a.job_id), count(*) FILTER (WHERE j.state NOT IN ('available', 'running'))
      FROM awa.concurrency_admissions a LEFT JOIN awa.jobs j ON j.id = a.job_id
"""


async def settled(stage: Stage, actor: Actor, *, left: list[int], limit: int = 1) -> None:
    """What is left is served once, never more than may run at once, whatever was passed by before."""
    await stage.audit()
    served: list[int] = []
    while True:
        await actor.admit()
        used, jobs, wrong = await stage.fetch(PLACES)
        assert used == jobs <= limit
        assert wrong == 0
        batch = await actor.claim()
        if not batch:
            break
        assert len(batch) <= limit
        served += [job.job_id for job in batch]
        await actor.finish(batch)
    assert sorted(served) == sorted(left)
    assert await stage.fetch(PLACES) == (0, 0, 0)
    await stage.audit()


async def test_the_second_of_two_enqueues_finds_the_place_taken(stage: Stage) -> None:
    first, second = await stage.actors(2)
    async with first.stopped_at("admit.before_lock", first.enqueue_keyed()) as enqueueing:
        (quick,) = await second.enqueue_keyed()
    assert await second.claim_ids() == [quick]
    (slow,) = enqueueing.result()
    assert await first.claim_ids() == []
    await second.cancel_running([quick])
    await settled(stage, first, left=[slow])


async def test_an_enqueue_that_stays_open_keeps_one_place_and_delays_nobody(stage: Stage) -> None:
    slow, quick = await stage.actors(2)
    await quick.conn.execute("SET lock_timeout = '10s'")
    async with slow.conn.transaction():
        (first,) = await slow.enqueue_keyed(limit=2)
        second, third = await quick.enqueue_keyed(2, limit=2)
        jobs = await quick.claim()
        assert [job.job_id for job in jobs] == [second]
        await quick.finish(jobs)
        jobs = await quick.claim()
        assert [job.job_id for job in jobs] == [third]
        await quick.finish(jobs)
    await settled(stage, quick, left=[first], limit=2)


async def test_an_admission_that_is_rolled_back_leaves_its_place(stage: Stage) -> None:
    first, second = await stage.actors(2)
    async with first.rolled_back():
        await first.enqueue_keyed()
        (job,) = await second.enqueue_keyed()
        assert await second.claim_ids() == []
    assert await second.admit() == 1
    await settled(stage, second, left=[job])


async def test_a_job_enqueued_while_a_place_is_freed_is_not_forgotten(stage: Stage) -> None:
    """The end has seen nobody waiting, the enqueue has seen the place taken."""
    worker, producer = await stage.actors(2)
    await worker.enqueue_keyed()
    jobs = await worker.claim()
    async with worker.stopped_at("release.before_end", worker.finish(jobs)):
        (job,) = await producer.enqueue_keyed()
    assert await producer.claim_ids() == []
    assert await producer.admit() == 1
    await settled(stage, producer, left=[job])


async def test_a_place_is_handed_to_who_was_enqueued_before_the_end_looked(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    await worker.enqueue_keyed()
    jobs = await worker.claim()
    async with worker.stopped_at("finish.after_locks", worker.finish(jobs)):
        (job,) = await producer.enqueue_keyed()
    assert await producer.claim_ids() == [job]
    await producer.cancel_running([job])
    await settled(stage, producer, left=[])


async def test_an_enqueue_that_looks_after_the_end_goes_on_at_once(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    await worker.enqueue_keyed()
    jobs = await worker.claim()
    async with producer.stopped_at(
        "enqueue.before_admission", producer.enqueue_keyed()
    ) as enqueueing:
        await worker.finish(jobs)
    assert await worker.claim_ids() == enqueueing.result()
    await worker.cancel_running(enqueueing.result())
    await settled(stage, worker, left=[])


async def test_two_ends_let_one_waiting_job_in_once(stage: Stage) -> None:
    first, second, producer = await stage.actors(3)
    *_, job = await producer.enqueue_keyed(3, limit=2)
    one, other = await first.claim(limit=1), await second.claim(limit=1)
    async with first.stopped_at("release.after_parked", first.finish(one)):
        await second.finish(other)
    assert await stage.fetch(PLACES) == (1, 1, 0)
    await settled(stage, producer, left=[job], limit=2)


async def test_two_who_fill_places_let_one_waiting_job_in_once(stage: Stage) -> None:
    """The duty and an enqueue; nobody has a place at the time, as after a rollback."""
    duty, producer = await stage.actors(2)
    async with duty.rolled_back():
        for _ in range(3):
            await duty.enqueue_keyed(limit=3)
        (parked,) = await producer.enqueue_keyed(limit=3)
    async with duty.stopped_at("admit.after_parked", duty.admit()):
        (late,) = await producer.enqueue_keyed(limit=3)
    assert await stage.fetch(PLACES) == (2, 2, 0)
    await settled(stage, producer, left=[parked, late], limit=3)


async def test_a_promoted_job_waits_for_its_place(stage: Stage) -> None:
    leader, producer = await stage.actors(2)
    (later,) = await producer.enqueue_keyed(run_at=await producer.now(later_s=1))
    soon = await producer.now(later_s=2)
    async with leader.stopped_at("promote.after_locks", leader.promote(soon)) as promoting:
        (now,) = await producer.enqueue_keyed()
    assert promoting.result() == 1
    assert await producer.claim_ids() == [now]
    assert await leader.promote(soon) == 0
    assert await producer.claim_ids() == []
    await producer.cancel_running([now])
    await settled(stage, producer, left=[later])


async def test_a_promotion_that_was_faster_has_the_place(stage: Stage) -> None:
    leader, producer = await stage.actors(2)
    (later,) = await producer.enqueue_keyed(run_at=await producer.now(later_s=1))
    soon = await producer.now(later_s=2)
    async with producer.stopped_at("admit.before_lock", producer.enqueue_keyed()) as enqueueing:
        assert await leader.promote(soon) == 1
    assert await producer.claim_ids() == [later]
    assert await leader.retry(enqueueing.result()) == []
    assert await producer.claim_ids() == []
    await producer.cancel_running([later])
    await settled(stage, producer, left=enqueueing.result())


async def test_a_cancel_hands_the_place_on_when_it_commits(stage: Stage) -> None:
    canceller, claimer = await stage.actors(2)
    first, second = await claimer.enqueue_keyed(2)
    async with canceller.conn.transaction():
        assert await canceller.cancel([first]) == [first]
        assert await claimer.claim_ids() == []
    assert await claimer.claim_ids() == [second]
    await claimer.cancel_running([second])
    await settled(stage, claimer, left=[])


async def test_a_cancel_that_is_rolled_back_leaves_everybody_where_they_were(stage: Stage) -> None:
    canceller, claimer = await stage.actors(2)
    first, second = await claimer.enqueue_keyed(2)
    async with canceller.rolled_back():
        assert await canceller.cancel([first]) == [first]
    await settled(stage, claimer, left=[first, second])


async def test_an_end_that_is_rolled_back_keeps_its_place(stage: Stage) -> None:
    worker, other = await stage.actors(2)
    first, second = await worker.enqueue_keyed(2)
    jobs = await worker.claim()
    async with worker.rolled_back():
        await worker.finish(jobs)
        assert await other.admit() == 0
        assert await other.claim_ids() == []
    assert await other.claim_ids() == []
    await worker.finish(jobs)
    assert await other.state(first) == "completed"
    await settled(stage, other, left=[second])


async def test_a_rescue_and_a_finisher_give_one_place_away(stage: Stage) -> None:
    worker, leader, other = await stage.actors(3)
    *_, second, third = await worker.enqueue_keyed(3)
    jobs = await worker.claim()
    await worker.conn.execute(
        "UPDATE awa.runtimes SET heartbeat_at = '-infinity' WHERE id = %s", [worker.runtime_id]
    )
    async with leader.stopped_at("rescue.before_finish", leader.rescue()):
        await worker.finish(jobs)
    assert await stage.fetch(PLACES) == (1, 1, 0)
    await settled(stage, other, left=[second, third])


async def test_what_is_cancelled_together_is_not_let_in(stage: Stage) -> None:
    actor = await stage.actor()
    ids = await actor.enqueue_keyed(4)
    assert await actor.cancel(ids[:3]) == ids[:3]
    await settled(stage, actor, left=ids[3:])


async def test_a_job_that_is_handed_back_keeps_its_place(stage: Stage) -> None:
    actor = await stage.actor()
    first, second = await actor.enqueue_keyed(2)
    await actor.finish(await actor.claim(), "returned")
    assert await actor.claim_ids() == [first]
    await actor.cancel_running([first])
    await settled(stage, actor, left=[second])


async def test_a_plain_completion_hands_the_place_on(stage: Stage) -> None:
    actor = await stage.actor()
    _first, second = await actor.enqueue_keyed(2)
    (job,) = await actor.claim()
    await complete(actor.conn, actor.runtime_id, [job.lane_id], [job.claim_no], [job.lane_seq])
    assert await actor.claim_ids() == [second]
    await actor.cancel_running([second])
    await settled(stage, actor, left=[])


async def test_a_job_with_a_lower_limit_waits_until_fewer_run(stage: Stage) -> None:
    actor = await stage.actor()
    await actor.enqueue_keyed(3, limit=3)
    (strict,) = await actor.enqueue_keyed(1, limit=1)
    first, second, third = await actor.claim()
    await actor.finish([third])
    await actor.finish([first])
    assert await actor.claim_ids() == []
    await actor.finish([second])
    assert await actor.claim_ids() == [strict]
    await actor.cancel_running([strict])
    await settled(stage, actor, left=[])


@pytest.mark.lanes
async def test_a_running_job_keeps_its_place_when_its_slot_is_emptied(stage: Stage) -> None:
    worker, leader = await stage.actors(2)
    _first, second = await worker.enqueue_keyed(2)
    jobs = await worker.claim()
    assert await leader.rotate() == "rotated"
    assert await leader.prune() == "pruned"
    assert await leader.admit() == 0
    await complete(
        worker.conn, worker.runtime_id, [jobs[0].lane_id], [jobs[0].claim_no], [jobs[0].lane_seq]
    )
    await settled(stage, leader, left=[second])
