"""The story of a job: what happened, in order, and what can be done with it."""

from typing import Any

import pytest

from awa.model.errors import Conflict, NotFound, ValidationError
from awa.model.states import JobState
from awa.operations import single
from awa.operations.reading import job as story
from awa.operations.reading import jobs
from tests.storage.world import World


async def whats(world: World, job_id: int) -> list[str]:
    found = await jobs.detail(world.conn, job_id)
    at = [event["at"] for event in found["events"] if not event["future"]]
    assert at == sorted(at)
    return [event["what"] for event in found["events"]]


@pytest.mark.lanes
async def test_a_job_that_failed_once_and_then_completed(world: World) -> None:
    (job_id,) = await world.enqueue(1, "email", kind="mail", priority=3)
    assert await whats(world, job_id) == ["enqueued"]
    claimed = await world.claim(queue="email")
    error = {"error": "busy", "kind": "Busy", "traceback": "line 1"}
    await world.finish(claimed, "retried", error=error, delay_s=0.0)
    assert await whats(world, job_id) == ["enqueued", "claimed", "attempt_failed", "due"]
    await world.promote()
    await world.finish(await world.claim(queue="email"))
    found = await jobs.detail(world.conn, job_id)
    told = [(e["what"], e["attempt"]) for e in found["events"]]
    assert told == [
        ("enqueued", None),
        ("claimed", 1),
        ("attempt_failed", 1),
        ("ready", None),
        ("claimed", 2),
        ("completed", 2),
    ]
    failure = found["events"][2]
    assert (failure["error"], failure["error_kind"], failure["traceback"]) == (
        "busy",
        "Busy",
        "line 1",
    )
    assert failure["duration_s"] >= 0
    assert failure["runtime_id"] == world.runtime_id == found["runtime"]["id"]
    assert "email" in found["events"][0]["text"]


@pytest.mark.lanes
async def test_a_job_that_was_moved_tells_where_it_came_from(world: World) -> None:
    (job_id,) = await world.enqueue(1, "email", priority=3)
    await world.move([job_id], "fast", 1)
    found = await jobs.detail(world.conn, job_id)
    texts = [event["text"] for event in found["events"]]
    assert texts[0] == "Enqueued as k in email, priority 3"
    assert sorted(texts[1:]) == ["Ready in fast, priority 1", "Taken out of email, priority 3"]


@pytest.mark.lanes
async def test_a_job_whose_slot_was_emptied_tells_the_rest(world: World) -> None:
    (job_id,) = await world.enqueue(1)
    await world.finish(await world.claim(), "failed", error={"error": "full", "kind": "Full"})
    await world.conn.execute("TRUNCATE awa.ready_entries, awa.lane_claims, awa.attempt_closures")
    found = await jobs.detail(world.conn, job_id)
    assert found["events"][0]["what"] == "enqueued"
    assert {e["what"] for e in found["events"][1:]} >= {"failed"}
    assert found["events"][-1]["error"] == "full"


@pytest.mark.parametrize("outcome", ["cancelled", "snoozed", "returned", "failed"])
@pytest.mark.lanes
async def test_each_end_is_told(world: World, outcome: str) -> None:
    (job_id,) = await world.enqueue()
    await world.finish(await world.claim(), outcome, delay_s=60.0)
    assert outcome in await whats(world, job_id)


async def test_operations_that_listed_the_job_are_part_of_its_story(world: World) -> None:
    (job_id,) = await world.enqueue()
    await world.conn.execute(
        "WITH o AS (INSERT INTO awa.batch_operations (op_kind, filter, spec, state, submitted_by)"
        " VALUES ('move_queue', '{}', '{\"queue\": \"z\"}', 'completed', 'ada') RETURNING id)"
        " INSERT INTO awa.batch_operation_items (operation_id, job_id, state, reason, processed_at)"
        " SELECT id, %s, 'skipped', 'claimed', clock_timestamp() FROM o",
        (job_id,),
    )
    found = await jobs.detail(world.conn, job_id)
    (operation,) = found["operations"]
    assert (operation["outcome"], operation["item_reason"]) == ("skipped", "claimed")
    event = next(e for e in found["events"] if e["what"] == "operation")
    assert event["operation_id"] == operation["id"]
    assert event["text"] == "Skipped by the operation (move_queue): claimed"


async def test_secrets_are_hidden_unless_revealed(world: World) -> None:
    (job_id,) = await world.enqueue(args_json='{"token": "t", "n": 1}')
    hidden = await jobs.detail(world.conn, job_id)
    assert (hidden["job"]["args"], hidden["masked"]) == ({"token": "•••", "n": 1}, True)
    shown = await jobs.detail(world.conn, job_id, reveal=True)
    assert (shown["job"]["args"], shown["masked"]) == ({"token": "t", "n": 1}, False)


async def test_what_is_no_job_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        await jobs.detail(world.conn, 4711)
    with pytest.raises(ValidationError):
        await jobs.detail(world.conn, 0)


@pytest.mark.parametrize("state", [s for s in JobState if s is not JobState.WAITING_EXTERNAL])
async def test_an_action_is_possible_exactly_where_it_works(world: World, state: JobState) -> None:
    """What `actions` promises is what the deed does."""
    deeds: dict[str, Any] = {
        "cancel": lambda i: single.cancel_job(world.conn, i),
        "retry": lambda i: single.retry_job(world.conn, i),
        "set_priority": lambda i: single.set_job_priority(world.conn, i, 1),
        "move": lambda i: single.move_job(world.conn, i, "z"),
    }
    for name, deed in deeds.items():
        job_id = await _job_in(world, state, f"{name}-{state}")
        why_not = story.actions(state)[name]
        if why_not is None:
            await deed(job_id)
        else:
            with pytest.raises(Conflict):
                await deed(job_id)


async def _job_in(world: World, state: JobState, queue: str) -> int:
    later = await world.now(later_s=60) if state is JobState.SCHEDULED else None
    (job_id,) = await world.enqueue(1, queue, run_at=later)
    if state in {JobState.AVAILABLE, JobState.SCHEDULED}:
        return job_id
    claimed = await world.claim(queue=queue)
    outcomes = {
        JobState.COMPLETED: "completed",
        JobState.FAILED: "failed",
        JobState.CANCELLED: "cancelled",
        JobState.RETRYABLE: "retried",
    }
    if state in outcomes:
        await world.finish(claimed, outcomes[state], delay_s=60.0)
    assert await world.state(job_id) == state
    return job_id
