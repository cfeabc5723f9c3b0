"""Unique keys: whoever wants one and whoever lets it go, in both orders; nobody has it twice, and nobody waits in a circle."""

from typing import Any

import pytest

from awa.model.errors import UniqueConflict
from awa.storage.enqueue import Inserted, NewJob, enqueue_many, enqueue_one
from tests.proofs.stage import Actor, Stage
from tests.storage.world import World

WAITS_ONLY = ["scheduled", "available", "retryable"]
NEVER_WAIT = "SET statement_timeout = '10s'"
IN_ORDER = "SELECT awa.held_key(awa.unique_recipe('k', %s, '{}', now()), 'default')"


async def insert(actor: Actor, **opts: Any) -> int | str:
    """The new job, or who kept it out."""
    try:
        return await actor.enqueue_unique(**opts)
    except UniqueConflict as conflict:
        return f"job {conflict.job_id} has it"


async def only_holder(actor: World, job: int | None, **opts: Any) -> None:
    """The job has the key, and everybody else has what is theirs."""
    assert await actor.holder(**opts) == job
    await actor.audit()


async def test_an_insert_waits_for_a_completion_and_has_the_key_then(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    job = await producer.enqueue_unique()
    attempts = await worker.claim()
    async with stage.until_end() as inserting, worker.conn.transaction():
        assert await worker.finish(attempts) == {job: "completed"}
        new = await inserting.enter_async_context(producer.blocked(insert(producer)))
    assert new.result() not in (job, f"job {job} has it")
    await only_holder(producer, int(new.result()))


async def test_an_insert_meets_the_holder_again_whose_completion_is_rolled_back(
    stage: Stage,
) -> None:
    worker, producer = await stage.actors(2)
    job = await producer.enqueue_unique()
    attempts = await worker.claim()
    async with stage.until_end() as inserting, worker.rolled_back():
        await worker.finish(attempts)
        new = await inserting.enter_async_context(producer.blocked(insert(producer)))
    assert new.result() == f"job {job} has it"
    await only_holder(producer, job)


async def test_an_insert_that_came_first_meets_the_running_job(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    job = await producer.enqueue_unique()
    attempts = await worker.claim()
    assert await insert(producer) == f"job {job} has it"
    assert await worker.finish(attempts) == {job: "completed"}
    await only_holder(producer, None)


async def test_a_holder_that_completes_between_two_looks_left_the_key_free(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    job = await producer.enqueue_unique()
    attempts = await worker.claim()
    async with producer.stopped_at("unique.after_take", insert(producer)) as new:
        assert await worker.finish(attempts) == {job: "completed"}
    await only_holder(producer, int(new.result()))


async def test_of_a_set_each_is_tried_again_whose_holder_completes_between_two_looks(
    stage: Stage,
) -> None:
    worker, producer = await stage.actors(2)
    job = await producer.enqueue_unique()
    attempts = await worker.claim()
    jobs = [NewJob("k", text, unique_opts={}) for text in ("{}", '{"a": 1}')]
    deed = enqueue_many(producer.conn, "default", jobs)
    async with producer.stopped_at("unique.after_take", deed) as inserting:
        assert await worker.finish(attempts) == {job: "completed"}
    first, second = (done.job_id for done in inserting.result())
    await only_holder(producer, first)
    await only_holder(producer, second, args={"a": 1})


async def test_an_insert_waits_for_a_cancel_and_has_the_key_then(stage: Stage) -> None:
    operator, producer = await stage.actors(2)
    job = await producer.enqueue_unique()
    async with stage.until_end() as inserting, operator.conn.transaction():
        assert await operator.cancel([job]) == [job]
        new = await inserting.enter_async_context(producer.blocked(insert(producer)))
    await only_holder(producer, int(new.result()))


async def test_a_cancel_after_an_insert_was_kept_out_frees_the_key(stage: Stage) -> None:
    operator, producer = await stage.actors(2)
    job = await producer.enqueue_unique()
    async with producer.conn.transaction():
        assert await insert(producer) == f"job {job} has it"
        assert await operator.cancel([job]) == [job]
    await only_holder(producer, None)


@pytest.mark.parametrize("commit", [True, False])
async def test_of_two_inserts_the_second_waits_for_the_first(stage: Stage, commit: bool) -> None:
    first, second = await stage.actors(2)
    ending = first.conn.transaction() if commit else first.rolled_back()
    async with stage.until_end() as inserting, ending:
        job = await first.enqueue_unique()
        new = await inserting.enter_async_context(second.blocked(insert(second)))
    if commit:
        assert new.result() == f"job {job} has it"
        await only_holder(second, job)
    else:
        await only_holder(second, int(new.result()))


async def texts_in_order_of_keys(actor: Actor) -> list[str]:
    """Arguments of three jobs, in the order in which their keys are taken."""
    texts = [f'{{"n": {n}}}' for n in range(3)]
    keys = {text: (await actor.fetch(IN_ORDER, text))[0] for text in texts}
    return sorted(texts, key=lambda text: bytes(keys[text]))


async def test_sets_with_the_same_keys_in_opposite_order_wait_in_one_line(stage: Stage) -> None:
    """One stands in the middle: the third set, whose key both want after their first."""
    one, other, middle = await stage.actors(3)
    texts = await texts_in_order_of_keys(one)
    opts = {"on_conflict": "ignore"}

    async def insert_all(actor: Actor, order: list[str]) -> list[Inserted]:
        jobs = [NewJob("k", text, unique_opts=opts) for text in order]
        return await enqueue_many(actor.conn, "default", jobs)

    async with stage.until_end() as waiting, middle.rolled_back():
        await enqueue_one(middle.conn, "default", NewJob("k", texts[1], unique_opts=opts))
        forwards = await waiting.enter_async_context(one.blocked(insert_all(one, texts)))
        backwards = await waiting.enter_async_context(other.blocked(insert_all(other, texts[::-1])))
    assert [done.insertion for done in forwards.result()] == ["inserted"] * 3
    assert [done.insertion for done in backwards.result()] == ["ignored"] * 3
    assert len(await one.audit()) == 3


@pytest.mark.parametrize("commit", [True, False])
async def test_an_insert_waits_for_a_claim_that_lets_the_key_go(stage: Stage, commit: bool) -> None:
    worker, producer = await stage.actors(2)
    opts = {"by_states": WAITS_ONLY}
    job = await producer.enqueue_unique(None, "default", **opts)
    ending = worker.conn.transaction() if commit else worker.rolled_back()
    async with stage.until_end() as inserting, ending:
        assert await worker.claim_ids() == [job]
        new = await inserting.enter_async_context(producer.blocked(insert(producer, **opts)))
    if commit:
        await only_holder(producer, int(new.result()))
    else:
        assert new.result() == f"job {job} has it"
        await only_holder(producer, job)


async def test_an_insert_before_such_a_claim_is_kept_out(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    opts = {"by_states": WAITS_ONLY}
    job = await producer.enqueue_unique(None, "default", **opts)
    assert await insert(producer, **opts) == f"job {job} has it"
    assert await worker.claim_ids() == [job]
    await only_holder(producer, None)


async def test_an_attempts_end_waits_for_no_insert(stage: Stage) -> None:
    """A program's transaction may stay open for hours; the job goes on without its key."""
    worker, producer = await stage.actors(2)
    opts = {"by_states": WAITS_ONLY}
    jobs = [await producer.enqueue_unique({"n": n}, "default", **opts) for n in range(4)]
    attempts = await worker.claim()
    await worker.conn.execute(NEVER_WAIT)
    async with producer.conn.transaction():
        new = await producer.enqueue_unique({"n": 2}, "default", **opts)
        ended = await worker.finish(attempts, "returned")
    assert ended == dict.fromkeys(jobs, "available")
    holders = [await worker.holder({"n": n}) for n in range(4)]
    assert holders == [jobs[0], jobs[1], new, jobs[3]]
    await worker.audit()


async def move(actor: Actor, job: int) -> str:
    """Moves the job to the other queue; says what came of it."""
    return (await actor.move([job], "other"))[job]


@pytest.mark.parametrize("commit", [True, False])
async def test_an_insert_waits_for_a_move_into_its_queue(stage: Stage, commit: bool) -> None:
    mover, producer = await stage.actors(2)
    job = await producer.enqueue_unique(by_queue=True)
    ending = mover.conn.transaction() if commit else mover.rolled_back()
    async with stage.until_end() as inserting, ending:
        assert await move(mover, job) == "moved"
        deed = insert(producer, queue="other", by_queue=True)
        new = await inserting.enter_async_context(producer.blocked(deed))
    if commit:
        assert new.result() == f"job {job} has it"
        await only_holder(producer, job, queue="other", by_queue=True)
    else:
        await only_holder(producer, int(new.result()), queue="other", by_queue=True)
        await only_holder(producer, job, by_queue=True)


async def test_an_insert_into_the_queue_that_a_job_leaves_has_the_key_after_it(
    stage: Stage,
) -> None:
    mover, producer = await stage.actors(2)
    job = await producer.enqueue_unique(by_queue=True)
    async with stage.until_end() as inserting, mover.conn.transaction():
        assert await move(mover, job) == "moved"
        new = await inserting.enter_async_context(producer.blocked(insert(producer, by_queue=True)))
    await only_holder(producer, int(new.result()), by_queue=True)
    await only_holder(producer, job, queue="other", by_queue=True)


@pytest.mark.parametrize("commit", [True, False])
async def test_a_move_doesnt_wait_for_an_insert_and_is_tried_again(
    stage: Stage, commit: bool
) -> None:
    """As long as it is open nobody knows who has the key, so the job neither moves nor is given up."""
    mover, producer = await stage.actors(2)
    job = await producer.enqueue_unique(by_queue=True)
    await mover.conn.execute(NEVER_WAIT)
    async with producer.conn.transaction() if commit else producer.rolled_back():
        new = await producer.enqueue_unique(queue="other", by_queue=True)
        assert await move(mover, job) == "locked"
    assert await move(mover, job) == ("unique_conflict" if commit else "moved")
    await only_holder(mover, new if commit else job, queue="other", by_queue=True)
    await only_holder(mover, job if commit else None, by_queue=True)


async def test_a_rescue_frees_the_key_once_and_a_late_finish_not_again(stage: Stage) -> None:
    worker, leader, producer = await stage.actors(3)
    opts = {"by_states": ["available", "running"]}
    job = await producer.enqueue_unique(None, "default", **opts)
    attempts = await worker.claim()
    async with stage.until_end() as finishing, leader.conn.transaction():
        assert (await leader.rescue(stale_after_s=-1.0)).attempts_rescued == 1
        late = await finishing.enter_async_context(worker.blocked(worker.finish(attempts)))
    assert late.result() == {}
    new = await producer.enqueue_unique(None, "default", **opts)
    assert await worker.finish(attempts) == {}
    assert await leader.state(job) == "retryable"
    await only_holder(producer, new, **opts)


async def test_a_finish_that_came_first_leaves_a_rescue_no_key(stage: Stage) -> None:
    worker, leader, producer = await stage.actors(3)
    job = await producer.enqueue_unique()
    attempts = await worker.claim()
    async with leader.stopped_at("rescue.before_finish", leader.rescue(stale_after_s=-1.0)):
        assert await worker.finish(attempts) == {job: "completed"}
        new = await producer.enqueue_unique()
    assert await leader.states([job, new]) == ["completed", "available"]
    await only_holder(producer, new)


async def test_a_job_that_lost_its_key_takes_no_others_along(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    opts = {"by_states": WAITS_ONLY}
    job = await producer.enqueue_unique(None, "default", **opts)
    attempts = await worker.claim()
    new = await producer.enqueue_unique(None, "default", **opts)
    await worker.finish(attempts, "returned")
    assert await worker.cancel([job]) == [job]
    await only_holder(producer, new)


async def test_the_fast_end_frees_the_keys_that_the_claim_noted(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    job = await producer.enqueue_unique()
    await producer.enqueue(2)
    await worker.finish(await worker.claim())
    assert await worker.state(job) == "completed"
    await only_holder(producer, None)


@pytest.mark.lanes
async def test_the_fast_end_frees_the_key_of_a_job_that_was_carried(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    await producer.enqueue_unique()
    attempts = await worker.claim()
    assert await worker.rotate() == "rotated"
    assert await worker.prune() == "pruned"
    await worker.finish(attempts)
    await only_holder(producer, None)


@pytest.mark.lanes
async def test_a_key_held_beyond_completion_goes_with_the_jobs_row(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    job = await producer.enqueue_unique(by_period=999_999_999)
    await worker.finish(await worker.claim())
    assert await worker.rotate() == "rotated"
    assert await worker.prune() == "pruned"
    await only_holder(producer, job, by_period=999_999_999)
