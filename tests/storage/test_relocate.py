"""Relocate: waiting jobs change queue and priority, say where they came from, and lose nothing else."""

import pytest

from awa.model.errors import AwaError
from awa.storage import queues
from tests.storage.world import World


async def test_an_available_job_waits_in_its_new_lane_and_nowhere_else(world: World) -> None:
    (job,) = await world.enqueue(priority=3)
    assert await world.move([job], "other", 1) == {job: "moved"}
    place = (await world.audit())[job]
    assert (place.queue, place.priority, place.state) == ("other", 1, "available")
    assert await world.claim_ids() == []
    assert await world.claim_ids(queue="other") == [job]


async def test_a_deferred_job_stays_deferred(world: World) -> None:
    moment = await world.now(later_s=60)
    (job,) = await world.enqueue(run_at=moment)
    assert await world.move([job], "other", 4) == {job: "moved"}
    row = await world.job(job)
    assert (row["queue"], row["priority"], row["state"]) == ("other", 4, "scheduled")
    assert row["run_at"] == moment
    await world.promote(now=moment)
    assert await world.claim_ids(queue="other") == [job]


async def test_a_retryable_job_is_moved_as_well(world: World) -> None:
    (job,) = await world.enqueue()
    await world.finish(await world.claim(), "retried", delay_s=60.0)
    assert await world.move([job], priority=1) == {job: "moved"}
    place = (await world.audit())[job]
    assert (place.state, place.priority, place.attempt) == ("retryable", 1, 1)


async def test_everything_else_of_the_job_stays(world: World) -> None:
    (job,) = await world.enqueue(
        args_json='{"n": 1}', tags=["t"], metadata={"m": 1}, max_attempts=4, priority=2
    )
    await world.finish(await world.claim(), "retried", delay_s=0.0, error={"error": "x"})
    await world.promote()
    before = await world.job(job)
    await world.move([job], "other")
    after = await world.job(job)
    same = ("kind", "args", "tags", "errors", "max_attempts", "attempt", "created_at", "run_at")
    assert {name: after[name] for name in same} == {name: before[name] for name in same}


async def test_stamps_say_where_it_came_from_once_and_only_what_changed(world: World) -> None:
    (job,) = await world.enqueue(priority=3, metadata={"mine": 1})
    await world.move([job], "second")
    assert (await world.job(job))["metadata"] == {"mine": 1, "_awa_original_queue": "default"}
    await world.move([job], "third", 2)
    stamps = {"mine": 1, "_awa_original_queue": "default", "_awa_original_priority": 3}
    assert (await world.job(job))["metadata"] == stamps
    await world.move([job], "fourth", 1)
    assert (await world.job(job))["metadata"] == stamps


async def test_a_deferred_job_is_stamped_alike(world: World) -> None:
    (job,) = await world.enqueue(priority=3, run_at=await world.now(later_s=60))
    await world.move([job], priority=1)
    await world.move([job], "other", 2)
    assert (await world.job(job))["metadata"] == {
        "_awa_original_priority": 3,
        "_awa_original_queue": "default",
    }


@pytest.mark.lanes
async def test_a_job_that_is_there_already_is_left_untouched(world: World) -> None:
    (ready,) = await world.enqueue(priority=2)
    (deferred,) = await world.enqueue(priority=2, run_at=await world.now(later_s=60))
    before = [await world.job(ready), await world.job(deferred)]
    for queue, priority in (("default", None), (None, 2), ("default", 2), (None, None)):
        answered = await world.move([ready, deferred], queue, priority)
        assert answered == {ready: "noop", deferred: "noop"}
    assert [await world.job(ready), await world.job(deferred)] == before
    assert await world.fetch("SELECT count(*) FROM awa.ready_tombstones") == (0,)


async def test_before_holds_what_changed_as_it_was(world: World) -> None:
    (ready,) = await world.enqueue(priority=3)
    (deferred,) = await world.enqueue(priority=3, run_at=await world.now(later_s=60))
    async with world.conn.transaction():
        done = await world.relocate(await world.lock([ready, deferred]), "other", 3)
    assert {one.job_id: one.before for one in done} == {
        ready: {"queue": "default"},
        deferred: {"queue": "default"},
    }
    async with world.conn.transaction():
        done = await world.relocate(await world.lock([ready, deferred]), "other", 1)
    assert {one.job_id: one.before for one in done} == {
        ready: {"priority": 3},
        deferred: {"priority": 3},
    }


async def test_a_set_from_several_lanes_keeps_its_order_too(world: World) -> None:
    ids = [(await world.enqueue(priority=1 + n % 3))[0] for n in range(9)]
    assert set((await world.move(ids, "other", 4)).values()) == {"moved"}
    assert await world.claim_ids(queue="other") == ids


async def test_a_set_keeps_its_order_and_goes_behind_those_already_there(world: World) -> None:
    (there,) = await world.enqueue(queue="other")
    ids = await world.enqueue(5)
    await world.move(reversed(ids), "other")
    assert await world.claim_ids(queue="other") == [there, *ids]


async def test_jobs_of_several_lanes_and_states_move_in_one_set(world: World) -> None:
    ids = [(await world.enqueue(queue=q, priority=p))[0] for q in "ab" for p in (1, 2, 4)]
    ids += await world.enqueue(run_at=await world.now(later_s=60))
    assert await world.move(ids, "other", 3) == dict.fromkeys(ids, "moved")
    places = await world.audit()
    assert {(place.queue, place.priority) for place in places.values()} == {("other", 3)}


async def test_jobs_that_run_or_ended_are_not_moved(world: World) -> None:
    done, running, waiting = await world.enqueue(3)
    await world.finish(await world.claim(limit=1))
    await world.claim(limit=1)
    assert await world.move([done, running, waiting, 999], "other") == {waiting: "moved"}
    assert await world.states([done, running, waiting]) == ["completed", "running", "available"]


async def test_a_job_named_twice_is_still_one_job(world: World) -> None:
    ready, deferred = (
        *(await world.enqueue()),
        *(await world.enqueue(run_at=await world.now(later_s=60))),
    )
    twice = [ready, ready, deferred, deferred]
    assert await world.move(twice, "other") == {ready: "moved", deferred: "moved"}
    assert await world.retry(twice) == [deferred]
    claimed = await world.claim(queue="other")
    assert sorted(job.job_id for job in claimed) == [ready, deferred]
    await world.finish(claimed, "returned")
    assert await world.cancel(twice) == [ready, deferred]
    await world.audit()


async def test_a_job_can_be_moved_again_and_again(world: World) -> None:
    (job,) = await world.enqueue()
    for queue in ("a", "b", "a", "default"):
        assert await world.move([job], queue) == {job: "moved"}
        assert (await world.audit())[job].queue == queue
    assert await world.claim_ids() == [job]


async def test_into_a_paused_queue_it_moves_and_waits(world: World) -> None:
    (job,) = await world.enqueue()
    await world.pause("other")
    assert await world.move([job], "other") == {job: "moved"}
    assert await world.claim_ids(queue="other") == []
    await queues.resume(world.conn, "other")
    assert await world.claim_ids(queue="other") == [job]


@pytest.mark.parametrize("deferred", [False, True])
async def test_a_retained_route_is_taken_modulo_the_new_width(world: World, deferred: bool) -> None:
    await queues.set_enqueue_shards(world.conn, "wide", 8)
    await queues.set_enqueue_shards(world.conn, "narrow", 3)
    moment = await world.now(later_s=60)
    run_at = moment if deferred else None
    keys = [f"key {n % 6}" for n in range(24)]
    ids = [(await world.enqueue(queue="wide", ordering_key=k, run_at=run_at))[0] for k in keys]
    wide = {id_: (await world.job(id_))["enqueue_shard"] for id_ in ids}
    assert len(set(wide.values())) > 3
    await world.move(ids, "narrow")
    if deferred:
        await world.promote(now=moment)
    narrow = {id_: (await world.job(id_))["enqueue_shard"] for id_ in ids}
    assert narrow == {id_: shard % 3 for id_, shard in wide.items()}


async def test_jobs_without_a_route_go_by_the_rule_of_the_new_queue(world: World) -> None:
    await queues.set_enqueue_shards(world.conn, "wide", 4)
    ids = await world.enqueue(100)
    await world.move(ids, "wide")
    assert {(await world.job(id_))["enqueue_shard"] for id_ in ids} == {0, 1, 2, 3}
    await world.move(ids, "default")
    assert {(await world.job(id_))["enqueue_shard"] for id_ in ids} == {0}


async def test_a_move_that_was_rolled_back_never_was(world: World) -> None:
    (ready,) = await world.enqueue()
    (deferred,) = await world.enqueue(run_at=await world.now(later_s=60))
    before = [await world.job(ready), await world.job(deferred)]
    async with world.rolled_back():
        await world.move([ready, deferred], "other", 1)
    assert [await world.job(ready), await world.job(deferred)] == before
    assert await world.claim_ids() == [ready]


async def test_an_impossible_place_is_refused_and_nothing_moves(world: World) -> None:
    (ready,) = await world.enqueue()
    (deferred,) = await world.enqueue(run_at=await world.now(later_s=60))
    for queue, priority in (("q" * 201, None), ("", None), (None, 0), (None, 5)):
        for job in (ready, deferred):
            with pytest.raises(AwaError):
                await world.move([job], queue, priority)
    assert await world.states([ready, deferred]) == ["available", "scheduled"]
    assert await world.claim_ids() == [ready]


async def test_what_a_lock_answered_is_found_wherever_the_job_is(world: World) -> None:
    (ready,) = await world.enqueue(queue="a", priority=4)
    (deferred,) = await world.enqueue(run_at=await world.now(later_s=60))
    async with world.conn.transaction():
        found = {one.job_id: one for one in await world.lock([ready, deferred, 999])}
    assert found.keys() == {ready, deferred}
    assert (found[ready].place, found[ready].queue, found[ready].priority) == ("ready", "a", 4)
    assert (found[deferred].place, found[deferred].lane_id) == ("deferred", None)


async def test_hints_that_went_stale_lead_to_the_job_all_the_same(world: World) -> None:
    """A batch operation remembers where its scan saw a job; by now it may wait elsewhere, or for a time."""
    jobs = await world.enqueue(4)
    hints = await world.fetch(
        "SELECT array_agg(lane_id ORDER BY id), array_agg(lane_seq ORDER BY id),"
        " array_agg(slot ORDER BY id) FROM awa.waiting_jobs"
    )
    await world.move([jobs[0]], "other")
    await world.move([jobs[0]], "default")
    await world.finish(await world.claim(limit=1), "snoozed", delay_s=60.0)
    async with world.conn.transaction():
        cursor = await world.conn.execute(
            "SELECT job_id, place FROM awa.lock_waiting(%s, %s, %s, %s) ORDER BY job_id",
            [jobs, *hints],
        )
        found = await cursor.fetchall()
    assert found == [
        (jobs[0], "ready"),
        (jobs[1], "deferred"),
        (jobs[2], "ready"),
        (jobs[3], "ready"),
    ]
