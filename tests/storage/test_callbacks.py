"""Callbacks: a job leaves its lane to wait, one answer from outside moves it on, and everything later says so."""

from typing import Any
from uuid import uuid4

import pytest
from psycopg import errors

from awa.storage import callbacks, dead_letters
from awa.storage.callbacks import Resolution
from tests.storage.world import World

ANSWERS: tuple[tuple[Resolution, str, int], ...] = (
    ("complete", "completed", 1),
    ("fail", "failed", 1),
    ("retry", "retryable", 1),
    ("resume", "available", 0),
)


async def test_a_job_that_waits_is_in_one_place_and_can_be_found(world: World) -> None:
    job_id, callback = await world.waiting()
    assert await world.state(job_id) == "waiting_external"
    row = await world.job(job_id)
    seen = await callbacks.get(world.conn, callback)
    assert seen is not None
    assert row["attempt"] == 1
    assert row["run_at"] == seen["expires_at"]
    assert (seen["job_id"], seen["waits"], seen["resolution"]) == (job_id, True, None)
    assert seen["waiting_since"] is not None


@pytest.mark.parametrize(("answer", "state", "attempt"), ANSWERS)
async def test_an_answer_moves_the_job_on(
    world: World, answer: Resolution, state: str, attempt: int
) -> None:
    job_id, callback = await world.waiting()
    came = await world.answer(callback, answer, payload={"charged": 7}, by="bank")
    assert (came.outcome, came.job_id, came.job_state) == ("applied", job_id, state)
    row = await world.job(job_id)
    assert (row["state"], row["attempt"]) == (state, attempt)
    kept = {"id": str(callback), "resolution": answer, "payload": {"charged": 7}}
    assert row["metadata"] == {"_awa_callback": kept}
    assert len(row["errors"]) == (answer in {"fail", "retry"})
    await world.audit()


@pytest.mark.parametrize("first", [answer for answer, _, _ in ANSWERS])
@pytest.mark.parametrize("second", ["complete", "fail", "retry", "resume", "heartbeat", "time_out"])
async def test_a_second_answer_changes_nothing_and_says_who_was_first(
    world: World, first: Resolution, second: Resolution
) -> None:
    job_id, callback = await world.waiting()
    await world.answer(callback, first, by="bank")
    before = await world.job(job_id)
    came = await world.answer(callback, second, payload=1, by="thief")
    assert (came.outcome, came.resolution, came.resolved_by) == ("resolved", first, "bank")
    assert await world.job(job_id) == before


async def test_a_resumed_job_runs_as_the_same_attempt_and_has_the_payload(world: World) -> None:
    job_id, callback = await world.waiting()
    await world.answer(callback, "resume", payload=[1, 2])
    (again,) = await world.claim()
    assert (again.job_id, again.attempt) == (job_id, 1)
    assert again.metadata is not None
    assert again.metadata["_awa_callback"]["payload"] == [1, 2]


async def test_the_last_attempt_is_not_tried_again(world: World) -> None:
    job_id, callback = await world.waiting(max_attempts=1)
    came = await world.answer(callback, "retry", error={"error": "try the other bank"})
    assert came.job_state == "failed"
    (error,) = (await world.job(job_id))["errors"]
    assert (error["error"], error["kind"], error["attempt"]) == (
        "try the other bank", "CallbackRetry", 1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("answer", "why"), [("fail", "callback_failed"), ("retry", "attempts_exhausted")]
)
async def test_what_fails_for_good_becomes_a_dead_letter_where_the_queue_has_them(
    world: World, answer: Resolution, why: str
) -> None:
    await dead_letters.enable(world.conn, "default", True)
    job_id, callback = await world.waiting(max_attempts=1)
    await world.answer(callback, answer, error={"error": "no money"})
    (letter,) = await dead_letters.page(world.conn, dead_letters.Which(), max_rows=5)
    assert (letter["id"], letter["reason"], letter["error"]) == (job_id, why, "no money")


async def test_an_unknown_callback_is_not_found(world: World) -> None:
    assert (await world.answer(uuid4(), "complete")).outcome == "not_found"


async def test_an_answer_that_makes_no_sense_is_refused(world: World) -> None:
    with pytest.raises(errors.InvalidParameterValue, match="complete, fail, retry, resume"):
        await world.fetch("SELECT awa.resolve_callback(%s, 'explode')", uuid4())


async def test_the_answer_to_an_attempt_that_runs_is_recorded_and_meets_it_when_it_waits(
    world: World,
) -> None:
    await world.enqueue()
    (job,) = await world.claim()
    callback = await world.register(job)
    came = await world.answer(callback, "complete", payload="soon")
    assert (came.outcome, came.job_state) == ("recorded", "running")
    assert await world.wait(job, callback) == {job.job_id: "completed"}
    row = await world.job(job.job_id)
    assert row["metadata"]["_awa_callback"]["payload"] == "soon"
    assert (await world.answer(callback, "complete")).outcome == "resolved"


@pytest.mark.parametrize(
    "outcome", ["completed", "retried", "snoozed", "returned", "failed", "cancelled"]
)
async def test_the_callback_of_an_attempt_that_ended_otherwise_is_over(
    world: World, outcome: str
) -> None:
    await world.enqueue()
    (job,) = await world.claim()
    callback = await world.register(job)
    await world.finish([job], outcome)
    before = await world.job(job.job_id)
    assert (await world.answer(callback, "complete")).outcome == "over"
    assert await world.job(job.job_id) == before


async def test_the_callback_of_a_cancelled_job_is_over(world: World) -> None:
    job_id, callback = await world.waiting()
    assert await world.cancel([job_id]) == [job_id]
    came = await world.answer(callback, "complete")
    assert (came.outcome, came.job_state) == ("over", "cancelled")
    assert await world.state(job_id) == "cancelled"


async def test_an_older_callback_of_a_job_that_waits_again_is_over(world: World) -> None:
    job_id, first = await world.waiting()
    await world.cancel([job_id])
    await world.retry([job_id])
    (job,) = await world.claim()
    second = await world.register(job)
    await world.wait(job, second)
    assert (await world.answer(first, "complete")).outcome == "over"
    assert await world.state(job_id) == "waiting_external"
    assert (await world.answer(second, "complete")).outcome == "applied"


async def test_an_attempt_can_only_wait_for_a_callback_of_its_own(world: World) -> None:
    await world.enqueue(2)
    one, other = await world.claim()
    callback = await world.register(one)
    assert await world.wait(other, callback) == {other.job_id: "retryable"}
    (error,) = (await world.job(other.job_id))["errors"]
    assert error["kind"] == "UnknownCallback"
    assert str(callback) in error["error"]
    assert await world.wait(one, callback) == {one.job_id: "waiting_external"}


async def test_an_answer_that_the_handler_used_up_is_not_waited_for(world: World) -> None:
    await world.enqueue()
    (job,) = await world.claim()
    callback = await world.register(job)
    await world.answer(callback, "resume")
    await callbacks.use(world.conn, callback)
    assert await world.wait(job, callback) == {job.job_id: "retryable"}


async def test_an_attempt_that_is_not_the_runtimes_has_no_callbacks(world: World) -> None:
    await world.enqueue()
    (job,) = await world.claim()
    await world.finish([job])
    attempt = (job.lane_id, job.claim_no, job.lane_seq)
    assert await callbacks.register(world.conn, world.runtime_id, attempt, 5.0) is None
    assert await callbacks.register(world.conn, uuid4(), attempt, 5.0) is None


async def test_waits_end_when_their_time_is_over(world: World) -> None:
    job_id, callback = await world.waiting(timeout_s=30.0)
    last, _ = await world.waiting(timeout_s=30.0, max_attempts=1)
    assert await world.time_out() == 0
    assert await world.time_out(await world.now(later_s=31)) == 2
    assert await world.states([job_id, last]) == ["retryable", "failed"]
    (error,) = (await world.job(job_id))["errors"]
    assert (error["kind"], error["attempt"]) == ("CallbackTimeout", 1)
    assert (await world.answer(callback, "complete")).resolution == "time_out"


@pytest.mark.parametrize("answer", ["complete", "fail", "retry", "resume", "heartbeat"])
@pytest.mark.parametrize("runs", [False, True])
async def test_an_answer_after_its_time_is_late_though_nobody_timed_it_out(
    *, world: World, answer: callbacks.Resolution, runs: bool
) -> None:
    if runs:
        await world.enqueue()
        (job,) = await world.claim()
        job_id, callback = job.job_id, await world.register(job)
    else:
        job_id, callback = await world.waiting()
    await world.expire(callback)
    stood = await callbacks.get(world.conn, callback), await world.job(job_id)
    came = await world.answer(callback, answer, payload=1, error={"error": "no"})
    assert (came.outcome, came.job_id, came.resolution) == ("late", job_id, None)
    assert came.job_state == ("running" if runs else "waiting_external")
    assert (await callbacks.get(world.conn, callback), await world.job(job_id)) == stood
    assert await world.time_out() == 1
    assert (await world.answer(callback, answer)).resolution == "time_out"


async def test_time_outs_are_bounded_and_the_most_overdue_come_first(world: World) -> None:
    late, _ = await world.waiting(timeout_s=20.0)
    later, _ = await world.waiting(timeout_s=10.0)
    now = await world.now(later_s=60)
    assert await callbacks.time_out(world.conn, max_callbacks=1, now=now) == 1
    assert await world.states([late, later]) == ["waiting_external", "retryable"]


async def test_the_time_out_of_a_running_attempt_meets_it_when_it_waits(world: World) -> None:
    await world.enqueue()
    (job,) = await world.claim()
    callback = await world.register(job, timeout_s=5.0)
    assert await world.time_out(await world.now(later_s=6)) == 1
    assert await world.state(job.job_id) == "running"
    assert await world.wait(job, callback) == {job.job_id: "retryable"}


async def test_callbacks_that_nobody_waits_for_are_abandoned(world: World) -> None:
    await world.enqueue()
    (job,) = await world.claim()
    callback = await world.register(job, timeout_s=5.0)
    await world.finish([job])
    cancelled, other = await world.waiting(timeout_s=5.0)
    await world.cancel([cancelled])
    assert await world.time_out(await world.now(later_s=6)) == 2
    for one in (callback, other):
        seen = await callbacks.get(world.conn, one)
        assert seen is not None
        assert (seen["resolution"], seen["applied_at"]) == ("abandoned", None)
    assert await world.states([job.job_id, cancelled]) == ["completed", "cancelled"]


async def test_a_heartbeat_puts_the_time_out_off(world: World) -> None:
    job_id, callback = await world.waiting(timeout_s=30.0)
    later = await world.now(later_s=31)
    came = await world.answer(callback, "heartbeat", timeout_s=90.0)
    assert came.outcome == "extended"
    assert came.expires_at is not None
    assert came.expires_at > later
    assert (await world.job(job_id))["run_at"] == came.expires_at
    assert await world.time_out(later) == 0
    assert (await world.answer(callback, "heartbeat")).outcome == "extended"


async def test_a_time_out_from_the_handler_waits_for_its_time(world: World) -> None:
    await world.enqueue()
    (job,) = await world.claim()
    early, due = await world.register(job, 60.0), await world.register(job, 0.001)
    assert (await world.answer(early, "time_out")).outcome == "early"
    assert (await world.answer(due, "time_out")).outcome == "recorded"


async def test_promotion_leaves_jobs_that_wait_for_a_callback_alone(world: World) -> None:
    job_id, _ = await world.waiting(timeout_s=10.0)
    assert await world.promote(await world.now(later_s=3600)) == 0
    assert await world.state(job_id) == "waiting_external"


async def test_what_waits_for_a_callback_is_neither_moved_nor_retried(world: World) -> None:
    job_id, _ = await world.waiting()
    assert await world.move([job_id], "other", 1) == {job_id: "waiting_external"}
    assert await world.retry([job_id]) == []
    row = await world.job(job_id)
    assert (row["queue"], row["priority"], row["state"]) == ("default", 2, "waiting_external")


async def test_answered_callbacks_are_kept_for_a_while(world: World) -> None:
    _, callback = await world.waiting()
    _, open_one = await world.waiting()
    await world.answer(callback, "complete")
    week = await world.now(later_s=7 * 86_400)
    assert await callbacks.retain(world.conn, keep_s=8 * 86_400, now=week) == 0
    assert await callbacks.retain(world.conn, keep_s=86_400, now=week) == 1
    assert (await world.answer(callback, "complete")).outcome == "not_found"
    assert (await world.answer(open_one, "complete")).outcome == "applied"


@pytest.mark.parametrize(
    "payload", [None, 0, False, "", [], {}, {"a": [1, None, "ü"]}, 1.5, "text"]
)
async def test_a_payload_is_any_json(world: World, payload: Any) -> None:
    job_id, callback = await world.waiting()
    await world.answer(callback, "complete", payload=payload)
    seen = await callbacks.get(world.conn, callback)
    assert seen is not None
    assert seen["payload"] == payload
    assert (await world.job(job_id))["metadata"]["_awa_callback"]["payload"] == payload


@pytest.mark.parametrize("outcome", ["retried", "snoozed", "returned", "waiting"])
async def test_progress_and_metadata_that_were_written_down_stay_with_the_job(
    world: World, outcome: str
) -> None:
    await world.enqueue(metadata={"given": 1, "step": 0})
    (job,) = await world.claim()
    callback = await world.register(job)
    progress = {"percent": 40, "message": "half of it"}
    await world.heartbeat([job], progress=[progress], metadata=[{"step": 3}])
    await world.heartbeat([job], metadata=[{"more": True}])
    running = await world.job(job.job_id)
    assert running["metadata"] == {"given": 1, "step": 3, "more": True}
    assert running["progress"] == progress
    await world.finish([job], outcome, delay_s=60.0, callback_id=callback)
    row = await world.job(job.job_id)
    assert row["metadata"] == {"given": 1, "step": 3, "more": True}
    assert row["progress"] == progress


async def test_a_rescue_keeps_what_a_crashed_attempt_wrote_down(world: World) -> None:
    await world.enqueue(metadata={"given": 1})
    (job,) = await world.claim()
    await world.heartbeat([job], progress=[{"percent": 80}], metadata=[{"done": [1, 2]}])
    assert (await world.rescue(stale_after_s=-1.0)).attempts_rescued == 1
    await world.promote(await world.now(later_s=3600))
    other = await World.on(world.conn)
    (again,) = await other.claim()
    assert again.metadata == {"given": 1, "done": [1, 2], "_awa_progress": {"percent": 80}}
    row = await world.job(job.job_id)
    assert (row["progress"], row["metadata"]) == ({"percent": 80}, {"given": 1, "done": [1, 2]})


async def test_a_completed_job_has_no_progress_left(world: World) -> None:
    await world.enqueue()
    (job,) = await world.claim()
    await world.heartbeat([job], progress=[{"percent": 80}])
    await world.finish([job], "retried", delay_s=0.0)
    await world.promote(await world.now(later_s=1))
    (again,) = await world.claim()
    await world.finish([again], "completed", metadata={"result": 7})
    row = await world.job(job.job_id)
    assert (row["state"], row["metadata"], row["progress"]) == ("completed", {"result": 7}, None)
