"""Move against move: there and back, at once, and no job is doubled on the way."""

from tests.proofs.scenes import served_once
from tests.proofs.stage import Stage


async def test_the_second_of_two_moves_leaves_a_held_job_alone(stage: Stage) -> None:
    out, back = await stage.actors(2)
    (job,) = await out.enqueue()
    async with out.stopped_at("change.after_locks", out.move([job], "other")) as going:
        assert await back.move([job], "default") == {}
    assert going.result() == {job: "moved"}
    await served_once(job, out, queues=("default", "other"))
    await stage.audit()


async def test_the_inverse_move_that_came_first_finds_nothing_to_do(stage: Stage) -> None:
    out, back = await stage.actors(2)
    (job,) = await out.enqueue()
    async with back.stopped_at("change.after_locks", back.move([job], "default")) as coming:
        assert await out.move([job], "other") == {}
    assert coming.result() == {job: "noop"}
    assert await out.move([job], "other") == {job: "moved"}
    await served_once(job, out, queues=("default", "other"))
    await stage.audit()


async def test_a_move_between_another_moves_snapshot_and_its_lock_wins(stage: Stage) -> None:
    out, back = await stage.actors(2)
    (job,) = await out.enqueue()
    await stage.open_inner_point("change.in_locks")
    async with out.stopped_at("change.in_locks", out.move([job], "other")) as going:
        assert await back.move([job], "third") == {job: "moved"}
    assert going.result() == {}
    await served_once(job, out, queues=("default", "other", "third"))
    await stage.audit()


async def test_there_and_back_the_job_keeps_its_first_origin(stage: Stage) -> None:
    out, back = await stage.actors(2)
    (job,) = await out.enqueue(priority=3)
    assert await out.move([job], "other", 1) == {job: "moved"}
    assert await back.move([job], "default", 3) == {job: "moved"}
    row = await out.job(job)
    assert (row["queue"], row["priority"]) == ("default", 3)
    assert row["metadata"] == {"_awa_original_queue": "default", "_awa_original_priority": 3}
    await served_once(job, out, queues=("default", "other"))


async def test_opposite_moves_of_two_jobs_in_opposite_order_both_end(stage: Stage) -> None:
    """Each holds one and wants the other's: what is held is left out, never waited for."""
    out, back = await stage.actors(2)
    first, second = await out.enqueue(2)
    async with out.conn.transaction(), back.conn.transaction():
        held_out, held_back = await out.lock([first]), await back.lock([second])
        assert await out.lock([second]) == []
        assert await back.lock([first]) == []
        await out.relocate(held_out, "other")
        await back.relocate(held_back, "third")
    assert await out.claim_ids() == []
    assert await out.claim_ids(queue="other") == [first]
    assert await out.claim_ids(queue="third") == [second]
    await stage.audit()
