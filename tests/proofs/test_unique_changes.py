"""Unique keys where somebody orders something: a job is replaced, retried, or taken out of the dead letters."""

from typing import Any

import pytest

from awa.model.errors import UniqueConflict
from awa.operations import dead_letters
from awa.storage import dead_letters as storage
from awa.storage.change import Retried
from awa.storage.enqueue import NewJob, enqueue_one
from tests.proofs.stage import Actor, Stage
from tests.proofs.test_unique_races import NEVER_WAIT, insert, only_holder


async def replace(actor: Actor, **opts: Any) -> str:
    """What comes of an insert that replaces who holds the key."""
    new = NewJob(
        "k", '{"new": 1}', unique_opts={"by_args": False, "on_conflict": "replace", **opts}
    )
    try:
        done = await enqueue_one(actor.conn, "default", new)
    except UniqueConflict as conflict:
        return f"job {conflict.job_id} has it"
    return f"{done.insertion} {done.job_id}"


async def test_a_job_that_is_claimed_before_it_is_locked_is_not_replaced(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    job = await producer.enqueue_unique(by_args=False)
    async with producer.stopped_at("unique.before_lock", replace(producer)) as replacing:
        (claimed,) = await worker.claim()
    assert replacing.result() == f"job {job} has it"
    assert claimed.args == "{}"
    await only_holder(producer, job, by_args=False)


async def test_a_job_that_is_replaced_is_claimed_with_its_new_arguments(stage: Stage) -> None:
    worker, producer = await stage.actors(2)
    job = await producer.enqueue_unique(by_args=False)
    async with producer.conn.transaction():
        assert await replace(producer) == f"replaced {job}"
        assert await worker.claim_ids() == []
    (claimed,) = await worker.claim()
    assert (claimed.job_id, claimed.args) == (job, '{"new": 1}')
    await only_holder(producer, job, by_args=False)


async def test_a_job_that_moved_away_before_it_is_locked_left_its_key(stage: Stage) -> None:
    """By then the key that the insert wants is free; the job that had it keeps its arguments."""
    mover, producer = await stage.actors(2)
    job = await producer.enqueue_unique(by_args=False, by_queue=True)
    deed = replace(producer, by_queue=True)
    async with producer.stopped_at("unique.before_lock", deed) as replacing:
        assert await mover.move([job], "other") == {job: "moved"}
    outcome, _, new = replacing.result().partition(" ")
    assert outcome == "inserted"
    assert (await producer.job(job))["args"] == {}
    await only_holder(producer, int(new), by_args=False, by_queue=True)
    await only_holder(producer, job, queue="other", by_args=False, by_queue=True)


async def test_a_job_that_is_cancelled_before_it_is_locked_left_its_key(stage: Stage) -> None:
    operator, producer = await stage.actors(2)
    job = await producer.enqueue_unique(by_args=False)
    async with producer.stopped_at("unique.before_lock", replace(producer)) as replacing:
        assert await operator.cancel([job]) == [job]
    outcome, _, new = replacing.result().partition(" ")
    assert outcome == "inserted"
    await only_holder(producer, int(new), by_args=False)


async def test_two_that_replace_one_job_do_so_one_after_the_other(stage: Stage) -> None:
    first, second = await stage.actors(2)
    job = await first.enqueue_unique(by_args=False)
    async with second.stopped_at("unique.before_replace", replace(second)) as replacing:
        pass
    assert replacing.result() == f"replaced {job}"
    async with first.conn.transaction():
        assert await replace(first) == f"replaced {job}"
    assert await first.claim_ids() == [job]
    await first.audit()


async def test_a_table_that_is_being_vacuumed_is_waited_for_however_long_it_takes(
    stage: Stage,
) -> None:
    """Else the move would say that somebody has the key in their hands, and leave the job where it is."""
    keeper, mover = await stage.actors(2)
    job = await mover.enqueue_unique(by_queue=True)
    await keeper.conn.execute("BEGIN")
    await keeper.conn.execute("LOCK TABLE awa.unique_keys IN ACCESS EXCLUSIVE MODE")
    async with mover.blocked(mover.move([job], "other")) as move:
        # Longer than a key is waited for, by the clock of the server that counts it.
        await keeper.conn.execute("SELECT pg_sleep(0.1)")
        await keeper.conn.execute("COMMIT")
    assert move.result() == {job: "moved"}
    await only_holder(mover, job, queue="other", by_queue=True)


async def dead_letter(actor: Actor, **opts: Any) -> int:
    """A unique job that failed for good."""
    await dead_letters.enable(actor.conn, "default", True)
    job = await actor.enqueue_unique(**opts)
    await actor.finish(await actor.claim(), "failed", error={"error": "boom"})
    return job


async def test_a_purge_that_came_first_leaves_the_retry_no_key(stage: Stage) -> None:
    purger, retrier = await stage.actors(2)
    job = await dead_letter(purger)
    async with stage.until_end() as retrying, purger.conn.transaction():
        assert await storage.purge(purger.conn, [job]) == 1
        retry = await retrying.enter_async_context(
            retrier.blocked(storage.retry(retrier.conn, [job]))
        )
    assert retry.result() == []
    assert await retrier.audit() == {}
    await only_holder(retrier, None)


async def test_a_retry_that_came_first_leaves_a_purge_neither_job_nor_key(stage: Stage) -> None:
    purger, retrier = await stage.actors(2)
    job = await dead_letter(purger)
    async with stage.until_end() as purging, retrier.conn.transaction():
        assert await storage.retry(retrier.conn, [job]) == [Retried(job, "moved", None)]
        purge = await purging.enter_async_context(purger.blocked(storage.purge(purger.conn, [job])))
    assert purge.result() == 0
    assert await retrier.state(job) == "available"
    await only_holder(retrier, job)


@pytest.mark.parametrize("commit", [True, False])
async def test_a_dead_letters_retry_waits_for_no_insert_and_the_books_balance(
    stage: Stage, commit: bool
) -> None:
    retrier, producer = await stage.actors(2)
    job = await dead_letter(retrier)
    await retrier.conn.execute(NEVER_WAIT)
    before = len(await retrier.audit())
    async with producer.conn.transaction() if commit else producer.rolled_back():
        new = await producer.enqueue_unique()
        assert await storage.retry(retrier.conn, [job]) == [Retried(job, "locked", None)]
        assert len(await retrier.audit()) == before
    (again,) = await storage.retry(retrier.conn, [job])
    assert again == Retried(job, *(("unique_conflict", new) if commit else ("moved", None)))
    assert len(await retrier.audit()) == before + commit
    assert await storage.ids(retrier.conn, storage.Which()) == ([job] if commit else [])
    await only_holder(retrier, new if commit else job)


@pytest.mark.parametrize("commit", [True, False])
async def test_an_insert_waits_for_a_dead_letters_retry(stage: Stage, commit: bool) -> None:
    retrier, producer = await stage.actors(2)
    job = await dead_letter(retrier)
    ending = retrier.conn.transaction() if commit else retrier.rolled_back()
    async with stage.until_end() as inserting, ending:
        await storage.retry(retrier.conn, [job])
        new = await inserting.enter_async_context(producer.blocked(insert(producer)))
    if commit:
        assert new.result() == f"job {job} has it"
        await only_holder(producer, job)
    else:
        await only_holder(producer, int(new.result()))


async def test_a_failed_job_that_is_purged_beside_its_retry_by_hand_leaves_no_key(
    stage: Stage,
) -> None:
    purger, retrier = await stage.actors(2)
    job = await dead_letter(purger)
    async with stage.until_end() as retrying, purger.conn.transaction():
        assert await storage.purge(purger.conn, [job]) == 1
        retry = await retrying.enter_async_context(retrier.blocked(retrier.retry([job])))
    assert retry.result() == []
    await only_holder(retrier, None)
