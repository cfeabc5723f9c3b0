"""Keyed positions: what a claim notes of jobs whose end has more to do than append a closure."""

import pytest

from awa.storage.claim import ClaimedJob
from awa.storage.finish import complete
from tests.storage.world import World

KEYED = "SELECT keyed::text FROM awa.lane_claims WHERE jobs > 0 AND seqs @> %s::bigint"
# Held in every state but the last: mask, no flags, and a digest.
HELD = bytes([0b10011111, 0]) + bytes(32)
WITH_RECIPE = "UPDATE awa.ready_entries SET unique_key = %s WHERE job_id = ANY (%s)"
OUTCOMES = (
    "SELECT array_agg(DISTINCT outcome::text ORDER BY outcome::text) FROM awa.attempt_closures"
)


async def claimed(world: World, jobs: int, *keyed: int) -> list[ClaimedJob]:
    """Running jobs, of which those at the given places have a recipe."""
    ids = await world.enqueue(jobs)
    await world.conn.execute(WITH_RECIPE, [HELD, [ids[place] for place in keyed]])
    return await world.claim()


async def keyed_of(world: World, job: ClaimedJob) -> str | None:
    """What the claim says of keyed positions."""
    (found,) = await world.fetch(KEYED, job.lane_seq)
    assert found is None or isinstance(found, str)
    return found


@pytest.mark.lanes
async def test_a_claim_without_such_jobs_notes_nothing(world: World) -> None:
    jobs = await claimed(world, 3)
    assert await keyed_of(world, jobs[0]) is None


@pytest.mark.lanes
async def test_a_claim_notes_the_positions_of_jobs_with_a_recipe(world: World) -> None:
    jobs = await claimed(world, 4, 1, 2)
    at = jobs[1].lane_seq
    assert await keyed_of(world, jobs[0]) == f"{{[{at},{at + 2})}}"


@pytest.mark.lanes
async def test_the_fast_end_sends_keyed_ones_the_general_way(world: World) -> None:
    """Its sign: a key that is held beyond completion, so that the job gets a row of its own."""
    jobs = await claimed(world, 3, 1)
    await world.conn.execute(
        "INSERT INTO awa.unique_keys VALUES (%s, %s)", [HELD[2:], jobs[1].job_id]
    )
    assert await world.finish(jobs) == dict.fromkeys((job.job_id for job in jobs), "completed")
    assert await world.fetch(OUTCOMES) == (["completed", "recorded"],)
    assert await world.fetch("SELECT job_id FROM awa.finished_jobs") == (jobs[1].job_id,)
    assert await world.states(job.job_id for job in jobs) == ["completed"] * 3


async def test_the_fast_end_tells_which_keyed_ones_were_lost(world: World) -> None:
    jobs = await claimed(world, 4, 0, 1)
    await world.cancel_running([jobs[0].job_id, jobs[2].job_id])
    lost = await complete(
        world.conn, world.runtime_id, *zip(*(job[1:4] for job in jobs), strict=True)
    )
    assert lost == {jobs[0].lane_seq, jobs[2].lane_seq}


@pytest.mark.parametrize("keyed", [(), (0,), (0, 2)])
@pytest.mark.lanes
async def test_what_is_carried_stays_keyed(world: World, keyed: tuple[int, ...]) -> None:
    """A carried claim has the keyed ones among its positions, and leaves the others behind."""
    jobs = await claimed(world, 3, *keyed)
    assert await world.rotate() == "rotated"
    await world.finish(jobs[:2])
    assert await world.prune() == "pruned"
    at = jobs[2].lane_seq
    assert await keyed_of(world, jobs[2]) == (f"{{[{at},{at + 1})}}" if 2 in keyed else None)
    assert await world.finish(jobs[2:]) == {jobs[2].job_id: "completed"}
    (rows,) = await world.fetch("SELECT count(*) FROM awa.finished_jobs")
    assert rows == len(keyed)
