"""Finish: every outcome puts the job where it belongs, once, and only for whoever still owns the attempt."""

from typing import Any

import pytest

from awa.model.errors import AwaError
from awa.storage.claim import ClaimedJob
from awa.storage.finish import Ending, finish
from tests.conftest import Connect
from tests.storage.world import World

BOOM = {"error": "boom", "kind": "ValueError"}


async def run_one(world: World, **details: Any) -> ClaimedJob:
    """A job that runs."""
    await world.enqueue(**details)
    (claimed,) = await world.claim()
    return claimed


@pytest.mark.parametrize(
    ("outcome", "state", "attempt"),
    [
        ("completed", "completed", 1),
        ("retried", "retryable", 1),
        ("failed", "failed", 1),
        ("cancelled", "cancelled", 1),
        ("snoozed", "scheduled", 0),
        ("returned", "available", 0),
    ],
)
async def test_each_outcome_has_its_place(
    world: World, outcome: str, state: str, attempt: int
) -> None:
    job = await run_one(world)
    assert await world.finish([job], outcome) == {job.job_id: state}
    place = (await world.audit())[job.job_id]
    assert (place.state, place.attempt) == (state, attempt)


@pytest.mark.parametrize(
    "outcome", ["completed", "retried", "failed", "cancelled", "snoozed", "returned"]
)
async def test_sent_twice_it_changes_nothing_the_second_time(world: World, outcome: str) -> None:
    job = await run_one(world)
    await world.finish([job], outcome)
    before = await world.job(job.job_id)
    for again in (outcome, "completed", "failed"):
        assert await world.finish([job], again) == {}
    assert await world.job(job.job_id) == before


@pytest.mark.parametrize("outcome", ["completed", "failed", "returned"])
async def test_named_twice_in_one_call_it_ends_once(world: World, outcome: str) -> None:
    job = await run_one(world)
    assert await world.finish([job, job], outcome) != {}
    assert list(await world.audit()) == [job.job_id]


async def test_another_runtime_cannot_end_it(world: World, connect: Connect) -> None:
    other = await World.on(await connect())
    job = await run_one(world)
    assert await other.finish([job]) == {}
    assert await other.finish([job], "failed") == {}
    assert await world.state(job.job_id) == "running"
    assert await world.finish([job]) == {job.job_id: "completed"}


async def test_an_attempt_that_never_was_cannot_end(world: World) -> None:
    job = await run_one(world)
    (waiting,) = await world.enqueue()
    for wrong in (
        job._replace(lane_seq=waiting),
        job._replace(lane_seq=999_999),
        job._replace(claim_no=999),
        job._replace(lane_id=999),
    ):
        assert await world.finish([wrong]) == {}
        assert await world.finish([wrong], "failed") == {}
    assert await world.states([job.job_id, waiting]) == ["running", "available"]


async def test_the_end_of_the_second_attempt_is_not_that_of_the_first(world: World) -> None:
    first = await run_one(world)
    await world.finish([first], "returned")
    (second,) = await world.claim()
    assert await world.finish([first]) == {}
    assert await world.state(first.job_id) == "running"
    assert await world.finish([second]) == {first.job_id: "completed"}


async def test_a_set_may_end_in_all_ways_at_once(world: World) -> None:
    await world.enqueue(6)
    jobs = await world.claim()
    outcomes = ["completed", "retried", "failed", "cancelled", "snoozed", "returned"]
    endings = [
        Ending(j.lane_id, j.claim_no, j.lane_seq, outcome)
        for j, outcome in zip(jobs, outcomes, strict=True)
    ]
    answered = await finish(world.conn, world.runtime_id, endings)
    states = ["completed", "retryable", "failed", "cancelled", "scheduled", "available"]
    assert [answered[j.lane_seq] for j in jobs] == states
    assert await world.states(j.job_id for j in jobs) == states


async def test_an_unknown_outcome_is_refused_and_nothing_ends(world: World) -> None:
    job = await run_one(world)
    with pytest.raises(AwaError):
        await world.finish([job], "exploded")
    assert await world.state(job.job_id) == "running"


async def test_errors_are_kept_with_their_attempt_oldest_first(world: World) -> None:
    (id_,) = await world.enqueue()
    for n in (1, 2):
        (job,) = await world.claim()
        await world.finish([job], "retried", delay_s=0.0, error=BOOM | {"error": f"boom {n}"})
        await world.promote()
    row = await world.job(id_)
    assert [(e["attempt"], e["error"], e["kind"]) for e in row["errors"]] == [
        (1, "boom 1", "ValueError"),
        (2, "boom 2", "ValueError"),
    ]
    (third,) = await world.claim()
    assert (third.attempt, third.errors) == (3, row["errors"])


async def test_only_the_last_25_errors_are_kept(world: World) -> None:
    (id_,) = await world.enqueue(max_attempts=100)
    for n in range(28):
        (job,) = await world.claim()
        await world.finish([job], "retried", delay_s=0.0, error={"error": str(n)})
        await world.promote()
    row = await world.job(id_)
    assert [e["error"] for e in row["errors"]] == [str(n) for n in range(3, 28)]


async def test_the_last_attempt_fails_for_good(world: World) -> None:
    job = await run_one(world, max_attempts=1)
    assert await world.finish([job], "retried", error=BOOM) == {job.job_id: "failed"}
    row = await world.job(job.job_id)
    assert (row["state"], row["attempt"], len(row["errors"])) == ("failed", 1, 1)
    assert row["finalized_at"] >= row["attempted_at"]


async def test_a_snooze_does_not_count_as_an_attempt(world: World) -> None:
    (id_,) = await world.enqueue(max_attempts=1)
    for _ in range(3):
        (job,) = await world.claim()
        assert job.attempt == 1
        assert await world.finish([job], "snoozed", delay_s=0.0) == {id_: "scheduled"}
        await world.promote()
    assert await world.state(id_) == "available"


async def test_a_delay_is_kept_to_and_backoff_is_the_default(world: World) -> None:
    await world.enqueue(2)
    exact, by_default = await world.claim()
    before = await world.now()
    await world.finish([exact], "retried", delay_s=90.0)
    await world.finish([by_default], "retried")
    after = await world.now()
    run_at = (await world.job(exact.job_id))["run_at"]
    assert (run_at - after).total_seconds() <= 90 <= (run_at - before).total_seconds()
    backoff_s = ((await world.job(by_default.job_id))["run_at"] - before).total_seconds()
    assert 2.0 <= backoff_s <= 2.5 + (after - before).total_seconds()


@pytest.mark.parametrize(
    ("attempt", "least_s"), [(1, 2), (2, 4), (10, 1024), (20, 21600), (500, 21600)]
)
async def test_backoff_doubles_up_to_six_hours_with_a_little_chance(
    world: World, attempt: int, least_s: int
) -> None:
    for _ in range(20):
        (seconds,) = await world.fetch("SELECT awa.backoff_s(%s)", attempt)
        assert least_s <= seconds <= least_s * 1.25


async def test_metadata_of_the_handler_is_merged_and_the_completed_job_keeps_it(
    world: World,
) -> None:
    job = await run_one(world, metadata={"a": 1, "b": 1})
    assert await world.finish([job], metadata={"b": 2, "c": 3}) == {job.job_id: "completed"}
    row = await world.job(job.job_id)
    assert (row["state"], row["metadata"]) == ("completed", {"a": 1, "b": 2, "c": 3})
    assert await world.finish([job]) == {}


async def test_metadata_survives_a_retry(world: World) -> None:
    job = await run_one(world)
    await world.finish([job], "retried", delay_s=0.0, metadata={"seen": 1})
    await world.promote()
    assert [again.metadata for again in await world.claim()] == [{"seen": 1}]


async def test_a_job_handed_back_keeps_its_age_and_its_lane(world: World) -> None:
    job = await run_one(world, priority=3)
    await world.finish([job], "returned")
    (again,) = await world.claim()
    assert (again.job_id, again.lane_id, again.ready_at) == (job.job_id, job.lane_id, job.ready_at)
    assert again.lane_seq > job.lane_seq


async def test_a_retried_job_keeps_queue_priority_shard_and_creation(world: World) -> None:
    await world.fetch(
        "INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES ('q', 8) RETURNING 1"
    )
    await world.enqueue(queue="q", priority=4, ordering_key="key 3", tags=["t"])
    (job,) = await world.claim(queue="q")
    await world.finish([job], "retried", delay_s=0.0)
    await world.promote()
    (again,) = await world.claim(queue="q")
    assert again.lane_id == job.lane_id
    assert (again.created_at, again.tags, again.attempt) == (job.created_at, ["t"], 2)


async def test_a_finish_that_was_rolled_back_can_be_sent_again(world: World) -> None:
    job = await run_one(world)
    async with world.rolled_back():
        assert await world.finish([job], "failed") == {job.job_id: "failed"}
    assert await world.state(job.job_id) == "running"
    assert await world.finish([job]) == {job.job_id: "completed"}


async def test_claim_and_finish_may_share_a_transaction(world: World) -> None:
    ids = await world.enqueue(3)
    async with world.conn.transaction():
        assert await world.finish(await world.claim(limit=2)) == dict.fromkeys(ids[:2], "completed")
        assert await world.claim_ids() == ids[2:]
    assert await world.states(ids) == ["completed", "completed", "running"]
