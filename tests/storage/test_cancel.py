"""Cancel: a job that waits is taken out of its line, one that runs loses its attempt, one that ended stays as it is."""

import pytest

from awa.storage import change
from tests.storage.world import World


async def test_each_kind_of_waiting_job_can_be_cancelled(world: World) -> None:
    (scheduled,) = await world.enqueue(run_at=await world.now(later_s=60))
    (retryable,) = await world.enqueue()
    await world.finish(await world.claim(), "retried", error={"error": "x", "kind": "E"})
    (available,) = await world.enqueue()
    ids = [scheduled, retryable, available]
    assert sorted(await world.cancel(ids, "not wanted")) == ids
    assert await world.states(ids) == ["cancelled"] * 3
    assert await world.claim_ids() == []
    assert await world.promote(now=await world.now(later_s=86_400)) == 0


async def test_a_cancelled_job_says_why_and_keeps_its_history(world: World) -> None:
    (job,) = await world.enqueue(tags=["t"], metadata={"m": 1})
    await world.finish(await world.claim(), "retried", error={"error": "x", "kind": "E"})
    await world.cancel([job], "not wanted")
    row = await world.job(job)
    assert [error["error"] for error in row["errors"]] == ["x", "not wanted"]
    assert (row["attempt"], row["tags"], row["metadata"]) == (1, ["t"], {"m": 1})
    assert row["finalized_at"] is not None


async def test_the_neighbours_of_a_cancelled_job_are_served(world: World) -> None:
    ids = await world.enqueue(6)
    assert await world.cancel([ids[1], ids[2], ids[4]]) == [ids[1], ids[2], ids[4]]
    assert await world.claim_ids() == [ids[0], ids[3], ids[5]]
    await world.audit()


async def test_a_running_job_is_not_cancelled_as_a_waiting_one(world: World) -> None:
    (job,) = await world.enqueue()
    await world.claim()
    assert await world.cancel([job]) == []
    assert await world.state(job) == "running"


async def test_a_running_job_loses_its_attempt(world: World) -> None:
    (job,) = await world.enqueue()
    claimed = await world.claim()
    assert await world.cancel_running([job]) == [job]
    row = await world.job(job)
    assert (row["state"], row["attempt"], row["errors"][0]["kind"]) == ("cancelled", 1, "Cancelled")
    assert await world.finish(claimed) == {}
    assert await world.state(job) == "cancelled"


async def test_only_those_that_run_are_cancelled_as_running(world: World) -> None:
    done, running, waiting = await world.enqueue(3)
    await world.finish(await world.claim(limit=1))
    await world.claim(limit=1)
    assert await world.cancel_running([done, running, waiting, 999]) == [running]
    assert await world.states([done, running, waiting]) == ["completed", "cancelled", "available"]


async def test_the_worker_of_a_cancelled_job_is_told(world: World) -> None:
    (job,) = await world.enqueue()
    (claimed,) = await world.claim()
    await world.conn.execute("LISTEN awa_control")
    await world.cancel_running([job])
    async for heard in world.conn.notifies(timeout=60, stop_after=1):
        assert heard.payload == f'{{"cancelled" : [{claimed.lane_seq}]}}'


async def test_telling_of_thousands_keeps_below_the_limit_of_a_notification(world: World) -> None:
    ids = await world.enqueue(2_000)
    await world.claim(limit=2_000)
    assert len(await world.cancel_running(ids)) == 2_000
    assert {place.state for place in (await world.audit()).values()} == {"cancelled"}


@pytest.mark.parametrize("outcome", ["completed", "failed", "cancelled"])
async def test_what_has_ended_stays_as_it_is(world: World, outcome: str) -> None:
    (job,) = await world.enqueue()
    await world.finish(await world.claim(), outcome)
    before = await world.job(job)
    assert await world.cancel([job]) == []
    assert await world.cancel_running([job]) == []
    assert await world.job(job) == before


async def test_a_second_cancel_finds_nothing(world: World) -> None:
    (job,) = await world.enqueue()
    assert [await world.cancel([job]), await world.cancel([job])] == [[job], []]


async def test_an_empty_set_and_unknown_ids_are_no_error(world: World) -> None:
    assert await world.cancel([]) == []
    assert await world.cancel([12345]) == []
    assert await change.cancel_running(world.conn, []) == []
    assert await world.retry([]) == []
    assert await world.move([], "other") == {}


@pytest.mark.lanes
async def test_thousands_are_cancelled_at_once_and_their_tombstones_are_ranges(
    world: World,
) -> None:
    ids = await world.enqueue(3_000)
    assert len(await world.cancel(ids)) == 3_000
    assert await world.fetch("SELECT count(*) FROM awa.ready_tombstones") == (1,)
    assert await world.claim_ids() == []
