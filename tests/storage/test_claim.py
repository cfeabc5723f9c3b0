"""Claim: in order, within the limit, by priority, and each job once."""

from uuid import uuid4

import pytest

from awa.db.failures import RuntimeGone
from awa.storage import queues, runtimes
from awa.storage.claim import claim
from tests.conftest import Connect
from tests.storage.world import World


async def test_jobs_of_a_lane_come_in_the_order_they_were_added(world: World) -> None:
    ids = [*await world.enqueue(3), *await world.enqueue(2)]
    assert await world.claim_ids(limit=2) == ids[:2]
    assert await world.claim_ids(limit=10) == ids[2:]
    assert await world.claim_ids() == []


async def test_a_claim_hands_over_the_whole_job(world: World) -> None:
    (job,) = await world.enqueue(
        priority=3, tags=["t"], metadata={"m": 1}, max_attempts=7, args_json='{"n": 1}'
    )
    (claimed,) = await world.claim()
    row = await world.job(job)
    assert (claimed.job_id, claimed.queue, claimed.priority) == (job, "default", 3)
    assert (claimed.kind, claimed.args, claimed.tags) == ("k", '{"n": 1}', ["t"])
    assert (claimed.attempt, claimed.max_attempts, claimed.metadata) == (1, 7, {"m": 1})
    assert (claimed.created_at, claimed.ready_at) == (row["created_at"], row["ready_at"])
    assert claimed.deadline_at is None


async def test_a_claimed_job_runs_under_its_runtime(world: World) -> None:
    (job,) = await world.enqueue()
    (claimed,) = await world.claim(deadline_s=30)
    row = await world.job(job)
    assert (row["state"], row["attempt"], row["runtime_id"]) == ("running", 1, world.runtime_id)
    assert (row["attempted_at"], row["deadline_at"]) == (claimed.claimed_at, claimed.deadline_at)
    assert await world.state(job) == "running"


@pytest.mark.parametrize("limit", [1, 3, 5, 6, 100])
async def test_a_claim_takes_no_more_than_asked_for(world: World, limit: int) -> None:
    ids = await world.enqueue(5)
    assert await world.claim_ids(limit=limit) == ids[:limit]
    left = list((await world.audit()).values())
    assert sum(place.state == "available" for place in left) == max(0, 5 - limit)


async def test_a_better_priority_comes_first(world: World) -> None:
    ids = {p: (await world.enqueue(priority=p))[0] for p in (3, 1, 4, 2)}
    assert await world.claim_ids(limit=3) == [ids[1], ids[2], ids[3]]
    assert await world.claim_ids() == [ids[4]]


async def test_other_queues_are_left_alone(world: World) -> None:
    (mine,), (other,) = await world.enqueue(queue="mine"), await world.enqueue(queue="other")
    assert await world.claim_ids(queue="mine") == [mine]
    assert await world.state(other) == "available"
    assert await world.claim_ids(queue="unknown") == []


async def test_all_shards_of_a_queue_are_served(world: World) -> None:
    await queues.set_enqueue_shards(world.conn, "q", 4)
    ids = await world.enqueue(40, queue="q")
    assert sorted(await world.claim_ids(queue="q")) == ids


async def test_jobs_left_in_more_shards_than_there_are_now_are_served(world: World) -> None:
    await queues.set_enqueue_shards(world.conn, "q", 8)
    ids = await world.enqueue(40, queue="q")
    await queues.set_enqueue_shards(world.conn, "q", 1)
    ids += await world.enqueue(2, queue="q")
    assert sorted(await world.claim_ids(queue="q")) == ids


async def test_an_ordering_key_keeps_its_jobs_in_order(world: World) -> None:
    await queues.set_enqueue_shards(world.conn, "q", 4)
    ids = await world.enqueue(10, queue="q", ordering_key="a")
    await world.enqueue(10, queue="q", ordering_key="b")
    served: list[int] = []
    while batch := await world.claim_ids(limit=3, queue="q"):
        served += batch
    assert [id_ for id_ in served if id_ in set(ids)] == ids


async def test_nothing_is_served_from_a_paused_queue(world: World) -> None:
    (job,) = await world.enqueue()
    await queues.pause(world.conn, "default", "ada")
    assert await world.claim_ids() == []
    assert await world.state(job) == "available"
    (late,) = await world.enqueue()
    await queues.resume(world.conn, "default")
    assert await world.claim_ids() == [job, late]


async def test_two_claimers_share_the_jobs(world: World, connect: Connect) -> None:
    other = await World.on(await connect())
    ids = await world.enqueue(10)
    served: list[int] = []
    while batch := [*await world.claim_ids(limit=2), *await other.claim_ids(limit=3)]:
        served += batch
    assert sorted(served) == ids


@pytest.mark.lanes
async def test_a_claim_of_an_empty_queue_writes_nothing(world: World) -> None:
    await world.enqueue()
    await world.claim()
    before = await world.fetch("SELECT count(*) FROM awa.lane_claims")
    for _ in range(3):
        assert await world.claim_ids() == []
    assert await world.fetch("SELECT count(*) FROM awa.lane_claims") == before


@pytest.mark.lanes
async def test_the_hot_path_leaves_no_dead_rows(world: World) -> None:
    await world.enqueue(50)
    assert len(await world.finish(await world.claim())) == 50
    await world.fetch("SELECT pg_stat_force_next_flush()")
    written, spoilt = await world.fetch(
        "SELECT sum(n_tup_ins)::int, sum(n_tup_upd + n_tup_del)::int FROM pg_stat_user_tables"
        " WHERE relname ~ '^(ready_entries|lane_claims|attempt_closures|ready_tombstones)_'"
    )
    assert (written, spoilt) == (52, 0)


async def test_only_a_runtime_that_is_alive_may_claim(world: World) -> None:
    (job,) = await world.enqueue()
    with pytest.raises(RuntimeGone):
        await claim(world.conn, "default", 1, uuid4())
    await runtimes.stop(world.conn, world.runtime_id)
    with pytest.raises(RuntimeGone):
        await world.claim()
    assert await world.state(job) == "available"


async def test_a_job_moved_in_front_is_passed_over_where_it_was(world: World) -> None:
    first, second, third = await world.enqueue(3)
    await world.move([first, second], priority=1)
    assert await world.claim_ids(limit=1) == [first]
    assert await world.claim_ids() == [second, third]


async def test_more_can_be_had_after_a_long_stretch_of_tombstones(world: World) -> None:
    """One call walks past a bounded number of dead rows; what it says then is "ask again", not "nothing"."""
    ids = await world.enqueue(12_000)
    (last,) = await world.enqueue()
    await world.move(ids[::2], "other")
    await world.cancel(ids[1::2])
    served: list[int] = []
    for _ in range(10):
        found = await claim(world.conn, "default", 5, world.runtime_id)
        served += [job.job_id for job in found.jobs]
        if not found.more:
            break
    assert served == [last]
    assert not (await claim(world.conn, "default", 5, world.runtime_id)).more


async def test_many_jobs_come_out_complete_at_any_batch_size(world: World) -> None:
    ids = await world.enqueue(1_000)
    served: list[int] = []
    for limit in (1, 7, 333, 1_000):
        served += await world.claim_ids(limit=limit)
    assert served == ids
