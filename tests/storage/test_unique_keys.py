"""Unique keys follow their jobs: through every state, from queue to queue, and out of the store."""

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import pytest

from awa.model.states import JobState
from awa.storage import change, dead_letters, retention
from awa.storage.change import Relocated, Retried
from awa.storage.dead_letters import Which
from tests.storage.world import World

Deed = Callable[[World, int], Awaitable[object]]

LATER_S = 3600.0


async def claimed(world: World, job: int) -> None:
    """The job runs."""
    assert await world.claim_ids() == [job]


def ended(outcome: str, **details: Any) -> Deed:
    """The job's attempt ends."""

    async def deed(world: World, job: int) -> None:
        (attempt,) = await world.claim()
        assert (await world.finish([attempt], outcome, **details)).keys() == {job}

    return deed


async def rescued(world: World, job: int) -> None:
    """The job's runtime is gone."""
    await claimed(world, job)
    await world.rescue(stale_after_s=-1.0)


async def cancelled_while_running(world: World, job: int) -> None:
    """An operator ends the attempt."""
    await claimed(world, job)
    assert await world.cancel_running([job]) == [job]


async def cancelled(world: World, job: int) -> None:
    """An operator cancels the job before it runs."""
    assert await world.cancel([job]) == [job]


async def promoted(world: World, job: int) -> None:
    """The job's time comes."""
    assert await world.promote(await world.now(later_s=2 * LATER_S)) == 1


async def retried_by_hand(world: World, job: int) -> None:
    """An operator wants the job now."""
    assert await world.retry([job]) == [job]


# What happens to a job that is available (or, the last ones, scheduled), and the states it goes through.
JOURNEYS: dict[str, tuple[Deed, list[str]]] = {
    "claimed": (claimed, ["running"]),
    "completed": (ended("completed"), ["running", "completed"]),
    "completed with metadata": (
        ended("completed", metadata={"a": 1}),
        ["running", "completed"],
    ),
    "retried": (ended("retried", delay_s=LATER_S), ["running", "retryable"]),
    "failed": (ended("failed"), ["running", "failed"]),
    "cancelled by its handler": (ended("cancelled"), ["running", "cancelled"]),
    "snoozed": (ended("snoozed", delay_s=LATER_S), ["running", "scheduled"]),
    "returned": (ended("returned"), ["running", "available"]),
    "rescued": (rescued, ["running", "retryable"]),
    "cancelled while running": (cancelled_while_running, ["running", "cancelled"]),
    "cancelled": (cancelled, ["cancelled"]),
}
LATER_JOURNEYS: dict[str, tuple[Deed, list[str]]] = {
    "promoted": (promoted, ["available"]),
    "retried by hand": (retried_by_hand, ["available"]),
    "cancelled": (cancelled, ["cancelled"]),
}
MASKS = [[state] for state in ("available", "running", "scheduled")] + [
    ["available", "running"],
    ["scheduled", "available", "running", "retryable"],
    ["scheduled", "running", "retryable"],
    ["running", "completed", "failed", "cancelled"],
    [str(state) for state in JobState],
]


async def holds(world: World, job: int, states: list[str]) -> bool:
    """Whether the job has its key, after an audit of all."""
    await world.audit()
    holder = await world.holder(by_states=states)
    assert holder in (None, job)
    return holder == job


@pytest.mark.parametrize("mask", MASKS, ids=",".join)
@pytest.mark.parametrize("journey", JOURNEYS)
async def test_a_key_goes_with_its_job_from_state_to_state(
    world: World, journey: str, mask: list[str]
) -> None:
    """Held just where its states say, and taken again when nobody wants it in between."""
    deed, through = JOURNEYS[journey]
    job = await world.enqueue_unique(by_states=mask)
    assert await holds(world, job, mask) is ("available" in mask)
    await deed(world, job)
    assert (await world.audit())[job].state == through[-1]
    assert await holds(world, job, mask) is (through[-1] in mask)


@pytest.mark.parametrize("mask", MASKS, ids=",".join)
@pytest.mark.parametrize("journey", LATER_JOURNEYS)
async def test_a_key_goes_with_a_job_that_waits_for_its_time(
    world: World, journey: str, mask: list[str]
) -> None:
    deed, (state,) = LATER_JOURNEYS[journey]
    job = await world.enqueue_unique(by_states=mask, run_at=await world.now(later_s=LATER_S))
    assert await holds(world, job, mask) is ("scheduled" in mask)
    await deed(world, job)
    assert await holds(world, job, mask) is (state in mask)


WAITS_ONLY = ["scheduled", "available", "retryable"]


@pytest.mark.parametrize(
    ("outcome", "details"),
    [
        ("retried", {"delay_s": LATER_S}),
        ("snoozed", {"delay_s": LATER_S}),
        ("returned", {}),
    ],
)
async def test_a_job_whose_key_is_taken_meanwhile_goes_on_without_it(
    world: World, outcome: str, details: dict[str, Any]
) -> None:
    job = await world.enqueue_unique(by_states=WAITS_ONLY)
    attempts = await world.claim()
    other = await world.enqueue_unique(by_states=WAITS_ONLY)
    assert (await world.finish(attempts, outcome, **details)).keys() == {job}
    assert await world.holder() == other
    if outcome != "returned":
        assert await world.promote(await world.now(later_s=2 * LATER_S)) == 1
    assert sorted(await world.claim_ids()) == sorted([job, other])
    await world.audit()


async def test_what_a_job_without_its_key_does_leaves_the_holder_alone(world: World) -> None:
    job = await world.enqueue_unique(by_states=WAITS_ONLY)
    attempts = await world.claim()
    other = await world.enqueue_unique(by_states=WAITS_ONLY)
    await world.finish(attempts, "returned")
    await world.cancel([job])
    assert await world.holder() == other


async def test_a_set_of_ends_lets_each_key_follow_its_own_job(world: World) -> None:
    states = ["available", "running", "failed"]
    jobs = [await world.enqueue_unique({"n": n}, by_states=states) for n in range(4)]
    await world.enqueue(2)
    attempts = await world.claim()
    await world.finish(attempts[:2])
    await world.finish([attempts[2]], "failed")
    await world.finish(attempts[3:])
    assert [await world.holder({"n": n}) for n in range(4)] == [None, None, jobs[2], None]
    await world.audit()


async def moved(world: World, job: int, **to: Any) -> Relocated:
    """What a move says of the job."""
    async with world.conn.transaction():
        (done,) = await world.relocate(await world.lock([job]), **to)
    return done


@pytest.mark.parametrize("later", [False, True])
async def test_a_move_takes_the_key_of_the_new_queue(world: World, later: bool) -> None:
    run_at = await world.now(later_s=LATER_S) if later else None
    job = await world.enqueue_unique(by_queue=True, run_at=run_at)
    assert (await moved(world, job, queue="other")).outcome == "moved"
    assert await world.holder(queue="other", by_queue=True) == job
    assert await world.holder(by_queue=True) is None
    await world.audit()


@pytest.mark.parametrize("later", [False, True])
async def test_a_move_into_a_queue_where_another_has_the_key_is_refused(
    world: World, later: bool
) -> None:
    run_at = await world.now(later_s=LATER_S) if later else None
    job = await world.enqueue_unique(by_queue=True, run_at=run_at)
    other = await world.enqueue_unique(queue="other", by_queue=True)
    done = await moved(world, job, queue="other", priority=1)
    assert (done.outcome, done.holder) == ("unique_conflict", other)
    assert done.detail == f"job {other} holds its unique key in queue other"
    assert (await world.audit())[job].queue == "default"
    assert await world.holder(by_queue=True) == job


async def test_of_a_set_that_moves_only_those_stay_that_must(world: World) -> None:
    """Two with one key: the first has it. Those without a queue in their key aren't asked."""
    (plain,) = await world.enqueue()
    same = [await world.enqueue_unique(queue=q, by_queue=True) for q in ("default", "third")]
    free = await world.enqueue_unique({"a": 1})
    async with world.conn.transaction():
        done = await world.relocate(await world.lock([plain, *same, free]), "other")
    assert {one.job_id: one.outcome for one in done} == {
        plain: "moved",
        same[0]: "moved",
        same[1]: "unique_conflict",
        free: "moved",
    }
    assert await world.holder({"a": 1}) == free
    assert await world.holder(queue="third", by_queue=True) == same[1]
    await world.audit()


async def test_a_move_to_where_it_is_is_no_conflict(world: World) -> None:
    job = await world.enqueue_unique(by_queue=True)
    assert (await moved(world, job, queue="default")).outcome == "noop"
    assert (await moved(world, job, queue="default", priority=1)).outcome == "moved"
    assert await world.holder(by_queue=True) == job


async def test_a_key_that_isnt_held_in_the_jobs_state_is_not_moved(world: World) -> None:
    job = await world.enqueue_unique(by_queue=True, by_states=["running"])
    await world.enqueue_unique(queue="other", by_queue=True)
    assert (await moved(world, job, queue="other")).outcome == "moved"
    await world.audit()


@pytest.mark.parametrize("outcome", ["failed", "cancelled"])
async def test_a_retry_by_hand_takes_the_key_again(world: World, outcome: str) -> None:
    job = await world.enqueue_unique()
    await ended(outcome)(world, job)
    assert await world.holder() is None
    assert await world.retry([job]) == [job]
    assert await world.holder() == job


async def test_a_retry_by_hand_that_meets_a_holder_is_refused(world: World) -> None:
    job = await world.enqueue_unique()
    await ended("failed")(world, job)
    other = await world.enqueue_unique()
    (free,) = await world.enqueue(queue="other")
    await world.finish(await world.claim(queue="other"), "failed")
    retried = await change.retry_jobs(world.conn, [job, free])
    assert sorted(retried) == sorted(
        [Retried(job, "unique_conflict", other), Retried(free, "moved", None)]
    )
    assert await world.states([job, other, free]) == ["failed", "available", "available"]


async def test_of_two_that_are_retried_with_one_key_the_first_has_it(world: World) -> None:
    jobs = []
    for _ in range(2):
        jobs.append(await world.enqueue_unique())
        await ended("failed")(world, jobs[-1])
    assert await world.retry(jobs) == jobs[:1]
    assert await world.states(jobs) == ["available", "failed"]


async def test_a_retry_lets_a_key_go_that_only_ended_jobs_hold(world: World) -> None:
    job = await world.enqueue_unique(by_states=["failed"])
    await ended("failed")(world, job)
    assert await world.holder() == job
    assert await world.retry([job]) == [job]
    assert await world.holder() is None


async def dead_letter(world: World, **opts: Any) -> int:
    """A unique job that failed for good."""
    await dead_letters.enable(world.conn, "default", True)
    job = await world.enqueue_unique(**opts)
    await ended("failed")(world, job)
    return job


async def test_a_dead_letter_that_meets_a_holder_stays_where_it_is(world: World) -> None:
    job = await dead_letter(world)
    other = await world.enqueue_unique()
    before = await world.audit()
    assert await dead_letters.retry(world.conn, [job]) == [Retried(job, "unique_conflict", other)]
    assert await world.audit() == before
    assert await dead_letters.ids(world.conn, Which()) == [job]


@pytest.mark.parametrize("by_queue", [False, True])
@pytest.mark.parametrize("later", [False, True])
async def test_a_dead_letter_takes_the_key_of_where_it_goes(
    world: World, by_queue: bool, later: bool
) -> None:
    opts: dict[str, Any] = {
        "by_queue": by_queue,
        "by_states": ["scheduled", "available", "running", "failed"],
    }
    job = await dead_letter(world, **opts)
    run_at: datetime | None = await world.now(later_s=LATER_S) if later else None
    retried = await dead_letters.retry(world.conn, [job], queue="other", run_at=run_at)
    assert retried == [Retried(job, "moved", None)]
    assert await world.holder(queue="other", **opts) == job
    assert await world.holder(**opts) == (None if by_queue else job)
    await world.audit()


async def test_a_purge_releases_what_dead_letters_hold(world: World) -> None:
    job = await dead_letter(world, by_states=["failed"])
    assert await world.holder() == job
    assert await dead_letters.purge(world.conn, [job]) == 1
    assert await world.holder() is None


async def test_retention_of_dead_letters_releases_what_they_hold(world: World) -> None:
    await dead_letter(world, by_states=["failed"])
    assert await dead_letters.retain(world.conn, keep_s=-1.0) == 1
    assert await world.holder() is None


@pytest.mark.parametrize("outcome", ["completed", "failed", "cancelled"])
async def test_retention_releases_what_ended_jobs_hold(world: World, outcome: str) -> None:
    job = await world.enqueue_unique(by_states=["available", "running", outcome])
    await ended(outcome)(world, job)
    (plain,) = await world.enqueue()
    await ended("failed")(world, plain)
    assert await world.holder() == job
    done = await retention.retain_finished(world.conn, keep_s=-1.0, completed_keep_s=-1.0)
    assert done == 2
    assert await world.holder() is None
    await world.audit()


@pytest.mark.lanes
async def test_a_key_outlives_the_pruning_of_the_slot_its_job_was_in(world: World) -> None:
    """Waiting, running, or completed and recorded: the ring turns below them."""
    opts: dict[str, Any] = {"by_states": ["available", "running", "completed"]}
    jobs = [await world.enqueue_unique({"n": n}, **opts) for n in range(3)]
    running = await world.claim(2)
    await world.finish(running[:1])
    assert await world.rotate() == "rotated"
    assert await world.prune() == "pruned"
    assert [await world.holder({"n": n}, **opts) for n in range(3)] == jobs
    await world.finish(running[1:])
    await world.finish(await world.claim())
    assert await world.states(jobs) == ["completed"] * 3
    assert [await world.holder({"n": n}, **opts) for n in range(3)] == jobs


async def test_a_completed_job_that_holds_nothing_leaves_no_row(world: World) -> None:
    job = await world.enqueue_unique()
    await ended("completed")(world, job)
    (rows,) = await world.fetch("SELECT count(*) FROM awa.finished_jobs")
    assert rows == 0
    assert await world.state(job) == "completed"
