"""An attempt ends at most once: finish against finish, rescue, cancel and heartbeat, in both orders."""

from awa.storage.claim import ClaimedJob
from awa.storage.follow_ups import say_on_failed, take_owed
from tests.proofs.stage import Actor, Stage

OPEN_ATTEMPTS = "SELECT count(*) FROM awa.attempts"
GONE_S = -1.0  # seconds without a heartbeat after which a runtime counts as dead: already


async def running(actor: Actor) -> ClaimedJob:
    """A job that the actor has claimed."""
    await actor.enqueue()
    (job,) = await actor.claim()
    return job


async def test_the_second_of_two_finishers_waits_and_changes_nothing(stage: Stage) -> None:
    worker, again = await stage.actors(2)
    again.runtime_id = worker.runtime_id
    job = await running(worker)
    async with stage.until_end() as go_on, worker.conn.transaction():
        assert await worker.finish([job]) == {job.job_id: "completed"}
        late = await go_on.enter_async_context(again.blocked(again.finish([job], "failed")))
    assert late.result() == {}
    assert await worker.state(job.job_id) == "completed"


async def test_the_second_finisher_has_it_when_the_first_rolls_back(stage: Stage) -> None:
    worker, again = await stage.actors(2)
    again.runtime_id = worker.runtime_id
    job = await running(worker)
    async with stage.until_end() as go_on, worker.rolled_back():
        assert await worker.finish([job]) == {job.job_id: "completed"}
        late = await go_on.enter_async_context(again.blocked(again.finish([job], "failed")))
    assert late.result() == {job.job_id: "failed"}
    assert await worker.state(job.job_id) == "failed"


async def test_only_the_positions_that_ended_are_dropped_not_the_batch(stage: Stage) -> None:
    worker, again = await stage.actors(2)
    again.runtime_id = worker.runtime_id
    await worker.enqueue(3)
    first, second, third = await worker.claim()
    async with stage.until_end() as go_on, worker.conn.transaction():
        await worker.finish([second], "failed")
        batch = again.finish([first, second, third], "retried")
        late = await go_on.enter_async_context(again.blocked(batch))
    assert late.result() == {first.job_id: "retryable", third.job_id: "retryable"}
    assert await worker.states([first.job_id, second.job_id]) == ["retryable", "failed"]


async def test_a_rescue_that_came_first_leaves_nothing_to_a_late_finisher(stage: Stage) -> None:
    worker, leader = await stage.actors(2)
    job = await running(worker)
    async with stage.until_end() as go_on, leader.conn.transaction():
        assert (await leader.rescue(stale_after_s=GONE_S)).attempts_rescued == 1
        late = await go_on.enter_async_context(worker.blocked(worker.finish([job])))
    assert late.result() == {}
    row = await worker.job(job.job_id)
    assert (row["state"], row["attempt"], len(row["errors"])) == ("retryable", 1, 1)
    await stage.audit()


async def test_a_finisher_that_came_first_leaves_nothing_to_rescue(stage: Stage) -> None:
    worker, leader = await stage.actors(2)
    job = await running(worker)
    rescue = leader.rescue(stale_after_s=GONE_S)
    async with leader.stopped_at("rescue.before_finish", rescue) as rescuing:
        assert await worker.finish([job]) == {job.job_id: "completed"}
    assert rescuing.result().attempts_rescued == 0
    row = await worker.job(job.job_id)
    assert (row["state"], row["errors"]) == ("completed", [])
    await stage.audit()


async def test_a_worker_that_failed_the_job_itself_first_leaves_nothing_owed(stage: Stage) -> None:
    """It has brought what is to follow in the transaction of its own end."""
    worker, leader = await stage.actors(2)
    await say_on_failed(worker.conn, worker.runtime_id, ["k"])
    await worker.enqueue(2, max_attempts=1)
    first, second = await worker.claim()
    rescue = leader.rescue(stale_after_s=GONE_S)
    async with leader.stopped_at("rescue.before_finish", rescue):
        assert await worker.finish([first], "failed") == {first.job_id: "failed"}
    owed = await take_owed(leader.conn, ["k"], max_rows=9)
    assert [row["id"] for row in owed] == [second.job_id]
    await stage.audit()


async def test_two_rescues_at_once_take_an_attempt_back_once(stage: Stage) -> None:
    worker, leader, old_leader = await stage.actors(3)
    job = await running(worker)
    old_rescue = old_leader.rescue(stale_after_s=GONE_S)
    async with old_leader.stopped_at("rescue.before_finish", old_rescue) as late:
        pass
    assert late.result().attempts_rescued == 1
    assert (await leader.rescue(stale_after_s=GONE_S)).attempts_rescued == 0
    row = await worker.job(job.job_id)
    assert (row["state"], row["attempt"], len(row["errors"])) == ("retryable", 1, 1)


async def test_a_cancel_that_came_first_silences_the_finisher(stage: Stage) -> None:
    worker, operator = await stage.actors(2)
    job = await running(worker)
    async with stage.until_end() as go_on, operator.conn.transaction():
        assert await operator.cancel_running([job.job_id]) == [job.job_id]
        late = await go_on.enter_async_context(worker.blocked(worker.finish([job])))
    assert late.result() == {}
    assert await worker.state(job.job_id) == "cancelled"


async def test_a_finisher_that_came_first_leaves_nothing_to_cancel(stage: Stage) -> None:
    worker, operator = await stage.actors(2)
    job = await running(worker)
    async with stage.until_end() as go_on, worker.conn.transaction():
        await worker.finish([job])
        cancel = operator.blocked(operator.cancel_running([job.job_id]))
        late = await go_on.enter_async_context(cancel)
    assert late.result() == []
    assert await worker.state(job.job_id) == "completed"


async def test_a_heartbeat_writes_no_attempt_down_that_is_ending(stage: Stage) -> None:
    worker, heart = await stage.actors(2)
    heart.runtime_id = worker.runtime_id
    job = await running(worker)
    async with stage.until_end() as go_on, worker.conn.transaction():
        await worker.finish([job])
        beating = await go_on.enter_async_context(heart.blocked(heart.heartbeat([job])))
    assert beating.result().lost == [job.lane_seq]
    assert await heart.fetch(OPEN_ATTEMPTS) == (0,)


async def test_a_finisher_takes_along_what_a_heartbeat_has_just_written(stage: Stage) -> None:
    worker, heart = await stage.actors(2)
    heart.runtime_id = worker.runtime_id
    job = await running(worker)
    async with stage.until_end() as go_on, heart.conn.transaction():
        assert (await heart.heartbeat([job])).lost == []
        ending = await go_on.enter_async_context(worker.blocked(worker.finish([job])))
    assert ending.result() == {job.job_id: "completed"}
    assert await heart.fetch(OPEN_ATTEMPTS) == (0,)


async def test_a_heartbeat_during_a_rescue_learns_that_it_is_dead(stage: Stage) -> None:
    worker, leader = await stage.actors(2)
    job = await running(worker)
    async with stage.until_end() as go_on, leader.conn.transaction():
        assert (await leader.rescue(stale_after_s=GONE_S)).runtimes_declared_dead == 2
        beating = await go_on.enter_async_context(worker.blocked(worker.heartbeat([job])))
    assert not beating.result().alive


async def test_a_heartbeat_that_came_first_keeps_its_runtime_alive(stage: Stage) -> None:
    worker, leader = await stage.actors(2)
    job = await running(worker)
    long_after = await leader.now(later_s=3600)
    async with worker.rolled_back():
        assert (await worker.heartbeat([job])).alive
        rescued = await leader.rescue(stale_after_s=60.0, now=long_after)
        assert rescued.attempts_rescued == 0
    assert await worker.finish([job]) == {job.job_id: "completed"}


async def test_a_claim_that_lands_after_its_runtime_was_declared_dead_is_taken_back(
    stage: Stage,
) -> None:
    worker, leader = await stage.actors(2)
    (job,) = await worker.enqueue()
    async with worker.conn.transaction():
        (claimed,) = await worker.claim()
        assert await leader.rescue(stale_after_s=GONE_S) == (2, 0, 0)
    assert (await leader.rescue(stale_after_s=GONE_S)).attempts_rescued == 1
    assert await worker.finish([claimed]) == {}
    assert await worker.state(job) == "retryable"
