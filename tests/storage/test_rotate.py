"""Rotate: the ring moves on by age or size, and only into a slot that is empty."""

from datetime import timedelta

import pytest

from awa.storage import ring
from tests.storage.world import World

pytestmark = pytest.mark.lanes

YEAR_S = 365 * 86_400.0
NO_LIMIT = 1 << 40


async def current(world: World) -> int:
    """The slot that new rows go to."""
    return int((await ring.state(world.conn))["current_slot"])


async def test_a_new_store_stands_at_its_first_slot(world: World) -> None:
    state = await ring.state(world.conn)
    assert (state["current_slot"], state["slots"], state["trusted_from"]) == (0, 8, 0)


async def test_an_empty_slot_stays_open_and_counts_its_age_anew(world: World) -> None:
    before = await ring.state(world.conn)
    later = await world.now(later_s=YEAR_S)
    assert await ring.rotate(world.conn, max_age_s=60, max_bytes=NO_LIMIT, now=later) == "empty"
    after = await ring.state(world.conn)
    assert (after["current_slot"], after["opened_at"]) == (before["current_slot"], later)


async def test_a_slot_is_closed_by_age(world: World) -> None:
    await world.enqueue()
    opened_at = (await ring.state(world.conn))["opened_at"]
    early, late = opened_at + timedelta(seconds=59), opened_at + timedelta(seconds=60)
    assert await ring.rotate(world.conn, max_age_s=60, max_bytes=NO_LIMIT, now=early) == "young"
    assert await ring.rotate(world.conn, max_age_s=60, max_bytes=NO_LIMIT, now=late) == "rotated"
    assert await current(world) == 1
    assert (await ring.state(world.conn))["opened_at"] == late


async def test_a_slot_is_closed_by_size(world: World) -> None:
    await world.enqueue(100)
    assert await ring.rotate(world.conn, max_age_s=YEAR_S, max_bytes=1 << 30) == "young"
    assert await ring.rotate(world.conn, max_age_s=YEAR_S, max_bytes=8192) == "rotated"


async def test_new_jobs_go_to_the_new_slot_and_old_ones_are_served_first(world: World) -> None:
    (old,) = await world.enqueue()
    assert await world.rotate() == "rotated"
    (new,) = await world.enqueue()
    slots = await world.fetch("SELECT array_agg(slot ORDER BY lane_seq) FROM awa.ready_entries")
    assert slots == ([0, 1],)
    jobs = await world.claim()
    assert [job.job_id for job in jobs] == [old, new]
    assert await world.finish(jobs) == {old: "completed", new: "completed"}


async def test_evidence_lies_in_the_slot_of_the_rows_it_speaks_of(world: World) -> None:
    """Otherwise a slot could be emptied while another still says something about its rows."""
    await world.enqueue(2)
    await world.rotate()
    moved, *_ = await world.enqueue(3)
    await world.move([moved], "other")
    jobs = await world.claim()
    await world.finish(jobs[:3], "failed")
    for table, column in (("lane_claims", "seqs"), ("attempt_closures", "seqs")):
        strays = await world.fetch(
            f"SELECT count(*) FROM awa.{table} t JOIN awa.ready_entries r"
            f" ON t.lane_id = r.lane_id AND t.{column} @> r.lane_seq WHERE t.slot <> r.slot"
        )
        assert strays == (0,)
    strays = await world.fetch(
        "SELECT count(*) FROM awa.ready_tombstones t JOIN awa.ready_entries r ON t.lane_id = r.lane_id"
        "   AND r.lane_seq BETWEEN t.first_seq AND t.last_seq WHERE t.slot <> r.slot"
    )
    assert strays == (0,)


async def test_the_ring_stands_still_before_a_slot_that_is_not_empty(world: World) -> None:
    (job,) = await world.enqueue()
    for _ in range(7):
        assert await world.rotate() == "rotated"
        await world.enqueue()
    assert await world.rotate() == "blocked"
    assert await current(world) == 7
    assert await world.prune(0, carry_limit=0) == "live"
    assert await world.rotate() == "blocked"
    assert (await world.claim_ids())[0] == job


async def test_a_slot_whose_rows_were_all_carried_is_emptied_before_it_is_opened(
    world: World,
) -> None:
    """To a reader it is empty, but its files are not, and a prune stands half done."""
    (job,) = await world.enqueue()
    for _ in range(7):
        assert await world.rotate() == "rotated"
        await world.enqueue()
    assert await world.prune_step() == "more"
    assert await world.fetch("SELECT count(*) FROM awa.ready_entries WHERE slot = 0") == (0,)
    assert await world.rotate() == "blocked"
    assert await world.prune() == "pruned"
    assert await world.rotate() == "rotated"
    assert await current(world) == 0
    assert (await world.claim_ids())[0] == job


async def test_the_ring_comes_round(world: World) -> None:
    for turn in range(20):
        ids = await world.enqueue(3)
        assert await world.finish(await world.claim()) == dict.fromkeys(ids, "completed")
        assert await world.rotate() == "rotated"
        assert await current(world) == (turn + 1) % 8
        assert await world.prune(turn % 8) == "pruned"
    (job,) = await world.enqueue()
    assert await world.claim_ids() == [job]
    await world.audit()
