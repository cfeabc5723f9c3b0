"""A callback has one end: answer against time-out, cancel, another answer, the handler's return and its rescue, in both orders."""

from uuid import UUID

import pytest

from awa.storage import callbacks
from awa.storage.claim import ClaimedJob
from awa.storage.new_job import NewJob
from tests.proofs.stage import Actor, Stage

GONE_S = -1.0  # seconds without a heartbeat after which a runtime counts as dead: already


async def registered(actor: Actor, timeout_s: float = 60.0) -> tuple[ClaimedJob, UUID]:
    """An attempt that runs and has a callback."""
    await actor.enqueue()
    (job,) = await actor.claim()
    return job, await actor.register(job, timeout_s)


async def resolution_of(actor: Actor, callback: UUID) -> str | None:
    """How the callback was answered."""
    found = await callbacks.get(actor.conn, callback)
    assert found is not None
    return None if found["resolution"] is None else str(found["resolution"])


async def test_a_time_out_leaves_a_callback_that_is_being_answered_alone(stage: Stage) -> None:
    worker, bank, leader = await stage.actors(3)
    job, callback = await worker.waiting()
    late = await leader.now(later_s=3600)
    async with bank.stopped_at("callback.after_lock", bank.answer(callback, "complete")) as answer:
        assert await leader.time_out(late) == 0
    assert answer.result().outcome == "applied"
    assert await leader.time_out(late) == 0
    assert await worker.state(job) == "completed"


async def test_an_answer_waits_for_a_time_out_and_comes_too_late(stage: Stage) -> None:
    worker, bank, leader = await stage.actors(3)
    job, callback = await worker.waiting()
    late = await leader.now(later_s=3600)
    async with stage.until_end() as go_on, leader.conn.transaction():
        assert await leader.time_out(late) == 1
        answer = await go_on.enter_async_context(bank.blocked(bank.answer(callback, "complete")))
    came = answer.result()
    assert (came.outcome, came.resolution, came.job_state) == ("resolved", "time_out", "retryable")
    assert await worker.state(job) == "retryable"


@pytest.mark.parametrize("first", ["complete", "fail", "retry", "resume"])
@pytest.mark.parametrize("second", ["complete", "resume"])
async def test_the_second_of_two_answers_waits_and_changes_nothing(
    stage: Stage, first: callbacks.Resolution, second: callbacks.Resolution
) -> None:
    worker, bank, thief = await stage.actors(3)
    job, callback = await worker.waiting()
    async with stage.until_end() as go_on, bank.conn.transaction():
        assert (await bank.answer(callback, first)).outcome == "applied"
        late = await go_on.enter_async_context(thief.blocked(thief.answer(callback, second)))
    came = late.result()
    assert (came.outcome, came.resolution) == ("resolved", first)
    state = {"complete": "completed", "fail": "failed", "retry": "retryable", "resume": "available"}
    assert await worker.state(job) == state[first]
    assert await worker.claim_ids() == ([job] if first == "resume" else [])


async def two_answers(stage: Stage) -> None:
    """The script of one pair, for the mutations."""
    await test_the_second_of_two_answers_waits_and_changes_nothing(stage, "complete", "resume")


async def test_the_second_answer_counts_when_the_first_is_given_up(stage: Stage) -> None:
    worker, bank, other = await stage.actors(3)
    job, callback = await worker.waiting()
    async with stage.until_end() as go_on, bank.rolled_back():
        await bank.answer(callback, "complete")
        late = await go_on.enter_async_context(other.blocked(other.answer(callback, "resume")))
    assert late.result().outcome == "applied"
    assert await worker.claim_ids() == [job]


async def test_an_answer_waits_for_a_cancel_and_finds_nothing(stage: Stage) -> None:
    worker, bank, operator = await stage.actors(3)
    job, callback = await worker.waiting()
    async with stage.until_end() as go_on, operator.conn.transaction():
        assert await operator.cancel([job]) == [job]
        late = await go_on.enter_async_context(bank.blocked(bank.answer(callback, "complete")))
    came = late.result()
    assert (came.outcome, came.job_state, came.resolution) == ("over", "cancelled", None)
    assert await worker.state(job) == "cancelled"


async def test_an_answer_counts_when_a_cancel_is_given_up(stage: Stage) -> None:
    worker, bank, operator = await stage.actors(3)
    job, callback = await worker.waiting()
    async with stage.until_end() as go_on, operator.rolled_back():
        await operator.cancel([job])
        late = await go_on.enter_async_context(bank.blocked(bank.answer(callback, "complete")))
    assert late.result().outcome == "applied"
    assert await worker.state(job) == "completed"


async def test_a_cancel_does_not_take_what_is_being_answered(stage: Stage) -> None:
    worker, bank, operator = await stage.actors(3)
    job, callback = await worker.waiting()
    async with bank.stopped_at("callback.after_job", bank.answer(callback, "complete")) as answer:
        assert await operator.cancel([job]) == []
        assert await operator.explain([job]) == {job: "locked"}
    assert answer.result().outcome == "applied"
    assert await worker.state(job) == "completed"


async def test_an_attempt_that_comes_to_wait_meets_the_answer_that_was_first(stage: Stage) -> None:
    worker, bank = await stage.actors(2)
    job, callback = await registered(worker)
    async with stage.until_end() as go_on, bank.conn.transaction():
        assert (await bank.answer(callback, "complete")).outcome == "recorded"
        waits = await go_on.enter_async_context(worker.blocked(worker.wait(job, callback)))
    assert waits.result() == {job.job_id: "completed"}
    assert await worker.state(job.job_id) == "completed"


async def test_an_answer_meets_the_attempt_that_was_about_to_wait(stage: Stage) -> None:
    worker, bank = await stage.actors(2)
    job, callback = await registered(worker)
    async with stage.until_end() as go_on, worker.conn.transaction():
        assert await worker.wait(job, callback) == {job.job_id: "waiting_external"}
        answer = await go_on.enter_async_context(bank.blocked(bank.answer(callback, "complete")))
    assert answer.result().outcome == "applied"
    assert await worker.state(job.job_id) == "completed"


async def test_an_answer_is_recorded_when_the_wait_is_given_up(stage: Stage) -> None:
    worker, bank = await stage.actors(2)
    job, callback = await registered(worker)
    async with stage.until_end() as go_on, worker.rolled_back():
        await worker.wait(job, callback)
        answer = await go_on.enter_async_context(bank.blocked(bank.answer(callback, "resume")))
    assert answer.result().outcome == "recorded"
    assert await worker.wait(job, callback) == {job.job_id: "available"}
    assert await worker.claim_ids() == [job.job_id]


async def test_a_rescue_that_came_first_leaves_nothing_to_wait(stage: Stage) -> None:
    worker, leader, bank = await stage.actors(3)
    job, callback = await registered(worker)
    async with stage.until_end() as go_on, leader.conn.transaction():
        assert (await leader.rescue(stale_after_s=GONE_S)).attempts_rescued == 1
        late = await go_on.enter_async_context(worker.blocked(worker.wait(job, callback)))
    assert late.result() == {}
    assert await worker.state(job.job_id) == "retryable"
    assert (await bank.answer(callback, "complete")).outcome == "over"
    assert await worker.state(job.job_id) == "retryable"


async def test_a_wait_that_came_first_leaves_nothing_to_rescue(stage: Stage) -> None:
    worker, leader = await stage.actors(2)
    job, callback = await registered(worker)
    rescue = leader.rescue(stale_after_s=GONE_S)
    async with leader.stopped_at("rescue.before_finish", rescue) as rescuing:
        assert await worker.wait(job, callback) == {job.job_id: "waiting_external"}
    assert rescuing.result().attempts_rescued == 0
    assert await worker.state(job.job_id) == "waiting_external"


async def test_a_heartbeat_that_is_under_way_keeps_the_time_out_off(stage: Stage) -> None:
    worker, bank, leader = await stage.actors(3)
    job, callback = await worker.waiting()
    late = await leader.now(later_s=120)
    beat = bank.answer(callback, "heartbeat", timeout_s=3600.0)
    async with bank.stopped_at("callback.after_lock", beat):
        assert await leader.time_out(late) == 0
    assert await leader.time_out(late) == 0
    assert await worker.state(job) == "waiting_external"


async def test_an_answer_that_waited_beyond_the_time_out_is_late(stage: Stage) -> None:
    """Its statement began in time; the clock is read when it has the callback to itself."""
    worker, bank, other = await stage.actors(3)
    job, callback = await worker.waiting()
    async with stage.until_end() as go_on, other.conn.transaction():
        came = await other.answer(callback, "heartbeat", timeout_s=0.001)
        assert came.expires_at is not None
        late = await go_on.enter_async_context(bank.blocked(bank.answer(callback, "complete")))
        while await other.now() < came.expires_at:
            pass
    assert late.result().outcome == "late"
    assert await worker.state(job) == "waiting_external"
    assert await resolution_of(worker, callback) is None


async def test_what_follows_an_answer_comes_with_it_and_goes_with_it(stage: Stage) -> None:
    worker, bank, other = await stage.actors(3)
    job, callback = await worker.waiting()
    note = [("notes", NewJob("note", "{}"))]
    await callbacks.keep_follow_ups(worker.conn, {callback: (note, [])})
    followed = "SELECT count(*) FROM awa.jobs WHERE kind = 'note'"
    async with stage.until_end() as go_on, bank.rolled_back():
        await bank.answer(callback, "complete")
        assert await bank.fetch(followed) == (1,)
        second = await go_on.enter_async_context(other.blocked(other.answer(callback, "complete")))
    assert second.result().outcome == "applied"
    assert (await bank.answer(callback, "complete")).outcome == "resolved"
    assert await worker.state(job) == "completed"
    assert await worker.fetch(followed) == (1,)


async def test_a_heartbeat_counts_for_the_attempt_that_comes_to_wait(stage: Stage) -> None:
    worker, bank = await stage.actors(2)
    job, callback = await registered(worker)
    async with stage.until_end() as go_on, bank.conn.transaction():
        came = await bank.answer(callback, "heartbeat", timeout_s=7200.0)
        waits = await go_on.enter_async_context(worker.blocked(worker.wait(job, callback)))
    assert waits.result() == {job.job_id: "waiting_external"}
    assert (await worker.job(job.job_id))["run_at"] == came.expires_at


async def test_a_time_out_leaves_a_job_in_the_hands_of_a_cancel_alone(stage: Stage) -> None:
    worker, operator, leader = await stage.actors(3)
    job, callback = await worker.waiting()
    late = await leader.now(later_s=3600)
    async with operator.rolled_back():
        await operator.cancel([job])
        assert await leader.time_out(late) == 0
    assert await leader.time_out(late) == 1
    assert await worker.state(job) == "retryable"
    assert await resolution_of(worker, callback) == "time_out"


async def test_a_time_out_after_a_cancel_changes_nothing(stage: Stage) -> None:
    worker, operator, leader = await stage.actors(3)
    job, callback = await worker.waiting()
    late = await leader.now(later_s=3600)
    async with leader.stopped_at("callbacks.after_locks", leader.time_out(late)):
        assert await operator.cancel([job]) == [job]
    assert await worker.state(job) == "cancelled"
    assert await resolution_of(worker, callback) == "abandoned"


async def test_an_attempt_that_comes_to_wait_meets_the_time_out_that_was_first(
    stage: Stage,
) -> None:
    worker, leader = await stage.actors(2)
    job, callback = await registered(worker, timeout_s=5.0)
    late = await leader.now(later_s=60)
    async with stage.until_end() as go_on, leader.conn.transaction():
        assert await leader.time_out(late) == 1
        waits = await go_on.enter_async_context(worker.blocked(worker.wait(job, callback)))
    assert waits.result() == {job.job_id: "retryable"}
    errors = (await worker.job(job.job_id))["errors"]
    assert [error["kind"] for error in errors] == ["CallbackTimeout"]


async def test_a_time_out_leaves_an_attempt_that_is_about_to_wait_alone(stage: Stage) -> None:
    worker, leader = await stage.actors(2)
    job, callback = await registered(worker, timeout_s=5.0)
    late = await leader.now(later_s=60)
    async with worker.stopped_at("finish.after_locks", worker.wait(job, callback)) as waits:
        assert await leader.time_out(late) == 0
    assert waits.result() == {job.job_id: "waiting_external"}
    assert await leader.time_out(late) == 1
    assert await worker.state(job.job_id) == "retryable"


async def test_an_older_callback_does_not_move_a_job_that_waits_for_another(stage: Stage) -> None:
    worker, bank = await stage.actors(2)
    job_id, old = await worker.waiting()
    await worker.cancel([job_id])
    await worker.retry([job_id])
    (job,) = await worker.claim()
    await worker.wait(job, await worker.register(job))
    assert (await bank.answer(old, "complete")).outcome == "over"
    assert await worker.state(job_id) == "waiting_external"


async def test_only_an_answer_or_a_cancel_takes_a_job_out_of_its_wait(stage: Stage) -> None:
    worker, house = await stage.actors(2)
    job, _ = await worker.waiting()
    assert await house.promote(await house.now(later_s=3600)) == 0
    assert await house.retry([job]) == []
    assert await house.move([job], "other", 1) == {job: "waiting_external"}
    assert (await worker.job(job))["queue"] == "default"
    assert await worker.state(job) == "waiting_external"
