"""Enqueues that end late, or never: each is served once when its transaction has ended, and nobody waits for it.

What a claim may have missed is decided by the one snapshot it took: the script moves a commit to either side of it.
"""

import pytest

from awa.storage.claim import claim
from tests.proofs.scenes import cursor_of, pass_by, served_once, wait_late
from tests.proofs.stage import Actor, Stage

PASSED_AND_YOUNGER = """
    SELECT h.cursor > %s, pg_current_xact_id() >= pg_snapshot_xmax(h.seen) FROM awa.lane_heads h
"""
COMMITTED_SINCE = "SELECT pg_current_xact_id() < pg_snapshot_xmax(pg_current_snapshot())"


@pytest.mark.lanes
async def test_a_job_of_a_transaction_known_to_run_comes_late(stage: Stage) -> None:
    """Its id is in the list of the snapshot that passed it by, since a younger transaction has ended."""
    claimer, producer = await stage.actors(2)
    await pass_by(claimer)
    async with producer.conn.transaction():
        (job,) = await producer.enqueue()
        await pass_by(claimer)
        assert await cursor_of(claimer) > job
        assert await claimer.claim_ids() == []
    await served_once(job, claimer, producer, queues=("default",))
    await stage.audit()


@pytest.mark.lanes
async def test_a_job_of_a_transaction_younger_than_the_snapshot_comes_late(stage: Stage) -> None:
    """Its id is beyond the snapshot's end: no younger transaction had ended when the cursor passed it."""
    claimer, producer = await stage.actors(2)
    await pass_by(claimer)
    (waiting,) = await claimer.enqueue()
    async with producer.conn.transaction():
        (job,) = await producer.enqueue()
        assert await claimer.claim_ids() == [waiting]
        assert await producer.fetch(PASSED_AND_YOUNGER, job) == (True, True)
    await served_once(job, claimer, producer, queues=("default",))
    await stage.audit()


async def test_many_late_jobs_are_served_in_order_and_once(stage: Stage) -> None:
    claimer, producer = await stage.actors(2)
    ids = await wait_late(claimer, producer, jobs=5)
    assert await claimer.claim_ids(limit=2) == ids[:2]
    assert await claimer.claim_ids(limit=2) == ids[2:4]
    assert await claimer.claim_ids(limit=2) == ids[4:]
    assert await claimer.claim_ids() == []
    await stage.audit()


async def test_a_rolled_back_enqueue_leaves_no_trace(stage: Stage) -> None:
    claimer, producer = await stage.actors(2)
    await pass_by(claimer)
    async with producer.rolled_back():
        (job,) = await producer.enqueue()
        await pass_by(claimer)
    assert await claimer.claim_ids() == []
    await pass_by(claimer)
    assert job not in await claimer.audit()


@pytest.mark.lanes
async def test_a_job_that_commits_after_the_claims_snapshot_is_served_once(stage: Stage) -> None:
    """The claim's later statements can see it; the snapshot it decides by does not."""
    claimer, producer = await stage.actors(2)
    await pass_by(claimer)
    async with claimer.stopped_at("claim.after_snapshot", claimer.claim_ids()) as claiming:
        (job,) = await producer.enqueue()
    served = [*claiming.result(), *await claimer.claim_ids(), *await claimer.claim_ids()]
    assert served == [job]
    await stage.audit()


@pytest.mark.lanes
async def test_a_late_job_that_commits_after_the_claims_snapshot_is_served_once(
    stage: Stage,
) -> None:
    claimer, producer = await stage.actors(2)
    await pass_by(claimer)
    async with stage.until_end() as go_on, producer.conn.transaction():
        (job,) = await producer.enqueue()
        await pass_by(claimer)
        (other,) = await claimer.enqueue()
        claiming = await go_on.enter_async_context(
            claimer.stopped_at("claim.after_snapshot", claimer.claim_ids())
        )
    served = [*claiming.result(), *await claimer.claim_ids(), *await claimer.claim_ids()]
    assert sorted(served) == [job, other]
    await stage.audit()


@pytest.mark.lanes
async def test_a_job_that_commits_while_the_claim_holds_its_locks_comes_late(stage: Stage) -> None:
    claimer, producer = await stage.actors(2)
    await pass_by(claimer)
    async with stage.until_end() as go_on, producer.conn.transaction():
        (job,) = await producer.enqueue()
        (other,) = await claimer.enqueue()
        claiming = await go_on.enter_async_context(
            claimer.stopped_at("claim.before_tombstones", claimer.claim_ids())
        )
    assert claiming.result() == [other]
    await served_once(job, claimer, queues=("default",))
    await stage.audit()


async def test_jobs_that_came_since_the_last_claim_are_served_once_in_parts(stage: Stage) -> None:
    """They lie beyond the cursor: the window serves them. To look at them as late ones too would serve some twice."""
    (claimer,) = await stage.actors(1)
    await pass_by(claimer)
    ids = await claimer.enqueue(3)
    assert await claimer.claim_ids(limit=2) == ids[:2]
    assert await claimer.claim_ids(limit=2) == ids[2:]
    await stage.audit()


async def test_a_job_enqueued_after_a_claim_in_one_transaction_is_served(stage: Stage) -> None:
    """A transaction counts as ended in its own snapshot, so the cursor must stay below what it may still draw.

    Positions that a session had drawn in advance (a sequence with a cache) would lie below.
    """
    claimer, other = await stage.actors(2)
    await pass_by(claimer)
    (waiting,) = await other.enqueue()
    async with claimer.conn.transaction():
        await claimer.fetch("SELECT pg_current_xact_id()")
        await other.enqueue(queue="elsewhere")
        assert await claimer.fetch(COMMITTED_SINCE) == (True,)
        assert await claimer.claim_ids() == [waiting]
        (job,) = await claimer.enqueue()
    await served_once(job, other, claimer, queues=("default",))
    await stage.audit()


async def test_a_transaction_has_its_id_before_it_holds_a_position(stage: Stage) -> None:
    (producer,) = await stage.actors(1)
    deed = producer.fetch("SELECT awa.enqueue('k')")
    async with producer.stopped_at("enqueue.before_position", deed):
        drawn, has_id = await stage.fetch(
            "SELECT is_called, (SELECT backend_xid IS NOT NULL FROM pg_stat_activity WHERE pid = %s)"
            "  FROM awa.job_positions",
            producer.pid,
        )
        assert (drawn, has_id) == (False, True)
    await stage.audit()


async def test_claims_of_two_lanes_share_a_transaction_with_an_early_id(stage: Stage) -> None:
    """The id is older than the second lane's snapshot; what was enqueued in between is neither lost nor doubled."""
    claimer, producer = await stage.actors(2)
    await pass_by(claimer)
    async with claimer.conn.transaction():
        await claimer.fetch("SELECT pg_current_xact_id()")
        (job,) = await producer.enqueue()
        (elsewhere,) = await producer.enqueue(queue="elsewhere")
        assert await claimer.claim_ids() == [job]
        (second,) = await producer.enqueue()
        assert await claimer.claim_ids(queue="elsewhere") == [elsewhere]
        assert await claimer.claim_ids() == [second]
    assert await claimer.claim_ids() == []
    assert await claimer.claim_ids(queue="elsewhere") == []
    await stage.audit()


async def test_a_claim_that_was_rolled_back_leaves_everything_to_the_next(stage: Stage) -> None:
    claimer, other = await stage.actors(2)
    ids = await claimer.enqueue(3)
    async with claimer.rolled_back():
        assert await claimer.claim_ids() == ids
        assert await other.claim_ids() == []
    assert await other.claim_ids() == ids
    await stage.audit()


async def test_a_prepared_transaction_counts_as_running(stage: Stage) -> None:
    claimer, producer = await stage.actors(2)
    await pass_by(claimer)
    await producer.conn.execute("BEGIN")
    (job,) = await producer.enqueue()
    await producer.conn.execute("PREPARE TRANSACTION 'left_open'")
    await pass_by(claimer)
    assert await claimer.claim_ids() == []
    await producer.conn.execute("COMMIT PREPARED 'left_open'")
    await served_once(job, claimer, queues=("default",))
    await stage.audit()


async def test_a_job_of_a_subtransaction_goes_by_the_whole_transaction(stage: Stage) -> None:
    claimer, producer = await stage.actors(2)
    await pass_by(claimer)
    async with producer.conn.transaction():
        async with producer.conn.transaction():
            (job,) = await producer.enqueue()
        async with producer.rolled_back():
            await producer.enqueue()
        await pass_by(claimer)
        assert await claimer.claim_ids() == []
    await served_once(job, claimer, queues=("default",))
    await stage.audit()


async def test_an_open_enqueue_holds_up_nobody(stage: Stage) -> None:
    """Not even the one that makes the lane: whoever comes meanwhile makes another of the same meaning."""
    claimer, producer, other = await stage.actors(3)
    async with producer.conn.transaction():
        (slow,) = await producer.enqueue()
        (quick,) = await other.enqueue()
        assert await claimer.claim_ids() == [quick]
    assert await claimer.claim_ids() == [slow]
    found = await claim(claimer.conn, "default", 10, claimer.runtime_id)
    assert not found.jobs
    assert not found.more
    await stage.audit()


@pytest.mark.lanes
async def test_a_late_job_is_seen_waiting(stage: Stage) -> None:
    claimer, producer = await stage.actors(2)
    (job,) = await wait_late(claimer, producer)
    assert await cursor_of(claimer) > job
    assert await claimer.state(job) == "available"


@pytest.mark.lanes
async def test_jobs_owed_as_one_range_around_an_open_enqueue_are_served_once(stage: Stage) -> None:
    """Many late ranges are joined where the lane has no row between them; one of an open transaction can't be seen."""
    claimer, slow, slower = await stage.actors(3)
    await pass_by(claimer)
    async with stage.until_end() as ending:
        async with slow.conn.transaction():
            late = [id_ for _ in range(40) for id_ in await apart(slow)]
            await ending.enter_async_context(slower.conn.transaction())
            (between,) = await slower.enqueue()
            late += [id_ for _ in range(40) for id_ in await apart(slow)]
            await pass_by(claimer)
        assert await claimer.claim_ids(limit=1) == late[:1]
        (owed,) = await claimer.fetch(
            "SELECT owed::text FROM awa.lane_heads WHERE queue = 'default'"
        )
        assert owed == f"{{[{late[0] + 1},{late[-1] + 1})}}"
        await claimer.audit()
    assert await claimer.state(between) == "available"
    assert await claimer.claim_ids(limit=200) == sorted([*late[1:], between])
    assert await claimer.claim_ids() == []
    await stage.audit()


async def apart(producer: Actor) -> list[int]:
    """A job whose position has no neighbour."""
    await producer.fetch("SELECT nextval('awa.job_positions')")
    return await producer.enqueue()
