"""Undo against whoever else has its jobs or its operation in their hands: claims, moves, retention, another undo.

Each race is played in both orders. Whoever locks a job's row first has it. Whoever locks the operation's row first decides
whether there is an undo of it: nobody deletes what an undo still needs, and no undo begins on what is being deleted.
"""

from collections.abc import Sequence
from typing import Any

import pytest

from awa.model.errors import Conflict, NotFound
from awa.operations import read, retention
from awa.operations.submit import submit
from awa.operations.undo import undo
from tests.operations.kit import Row
from tests.proofs.runners import Leader, leading
from tests.proofs.scenes import served_once
from tests.proofs.stage import Actor, Rewrite, Stage

ELSEWHERE = "elsewhere"
IN_LOCK = "purge.in_lock"
# Between the snapshot of a purge and its lock on the operation.
PURGE_STOPS = Rewrite(
    "operations/expired",
    "\n ORDER BY",
    f"\n   AND (SELECT length(awa.pause_point('{IN_LOCK}')::text)) = 0\n ORDER BY",
)


async def moved(leader: Leader, jobs: Sequence[int]) -> Row:
    """An operation that has put these jobs into another queue."""
    operation = await submit(leader.conn, "move_queue", {"ids": list(jobs)}, {"queue": "esc"})
    await leader.to_end()
    return await leader.sums(operation)


async def listed(leader: Leader, operation: Row) -> Row:
    """The undo of an operation, when its jobs are listed and none is changed."""
    begun = await undo(leader.conn, operation["id"])
    while begun["state"] != "running":
        assert await leader.runner.step()
        begun = await leader.sums(begun)
    return begun


async def ended(leader: Leader, begun: Row) -> Any:
    """What an undo came to, by outcome and reason."""
    await leader.to_end()
    return (await leader.sums(begun))["totals"]


async def purge(actor: Actor) -> int:
    """Retention's duty, long after everything has ended."""
    return await retention.run_once(actor.conn, await actor.now(later_s=86_400.0 * 365))


async def items_of(actor: Actor, operation: Row) -> int:
    """How many items an operation has."""
    (count,) = await actor.fetch(
        "SELECT count(*) FROM awa.batch_operation_items WHERE operation_id = %s", operation["id"]
    )
    return int(count)


async def two_undos(stage: Stage, operation: Row, one: Actor, other: Actor) -> None:
    """The undo of one, and that of another who comes before it is committed."""
    async with stage.until_end() as end, one.conn.transaction():
        await undo(one.conn, operation["id"])
        await end.enter_async_context(other.blocked(undo(other.conn, operation["id"])))


async def behind_a_purge(stage: Stage, operation: Row, keeper: Actor, actor: Actor) -> None:
    """An undo that comes while the operation is being deleted."""
    async with stage.until_end() as end, keeper.conn.transaction():
        assert await purge(keeper) > 0
        await end.enter_async_context(actor.blocked(undo(actor.conn, operation["id"])))


async def test_a_claim_that_comes_while_a_job_is_put_back_gets_nothing(stage: Stage) -> None:
    async with leading(stage) as leader:
        claimer = await stage.actor()
        (job,) = await claimer.enqueue()
        begun = await listed(leader, await moved(leader, [job]))
        async with leader.in_a_chunk():
            assert await claimer.claim_ids(queue="esc") == []
        assert await ended(leader, begun) == {"processed": {"changed": 1}}
        await served_once(job, claimer, queues=("esc", "default"))
    await stage.audit()


@pytest.mark.lanes
async def test_a_claim_that_came_first_keeps_the_job(stage: Stage) -> None:
    async with leading(stage) as leader:
        claimer = await stage.actor()
        (job,) = await claimer.enqueue()
        begun = await listed(leader, await moved(leader, [job]))
        claiming = claimer.stopped_at("claim.before_tombstones", claimer.claim_ids(queue="esc"))
        async with claiming as claim:
            assert await leader.runner.step()
            assert (await leader.sums(begun))["pending"] == 1, "somebody has it in their hands"
        assert claim.result() == [job]
        assert await ended(leader, begun) == {"skipped": {"claimed": 1}}
    await stage.audit()


async def test_a_move_that_came_first_keeps_the_job(stage: Stage) -> None:
    async with leading(stage) as leader:
        mover = await stage.actor()
        (job,) = await mover.enqueue()
        begun = await listed(leader, await moved(leader, [job]))
        async with mover.conn.transaction():
            await mover.relocate(await mover.lock([job]), ELSEWHERE)
            assert await leader.runner.step()
            assert (await leader.sums(begun))["pending"] == 1
        assert await ended(leader, begun) == {"skipped": {"moved": 1}}
        await served_once(job, mover, queues=("default", "esc", ELSEWHERE))
    await stage.audit()


async def test_a_move_that_comes_while_a_job_is_put_back_gets_nothing(stage: Stage) -> None:
    async with leading(stage) as leader:
        mover = await stage.actor()
        (job,) = await mover.enqueue()
        begun = await listed(leader, await moved(leader, [job]))
        async with leader.in_a_chunk():
            assert await mover.move([job], ELSEWHERE) == {}
        assert await ended(leader, begun) == {"processed": {"changed": 1}}
        assert (await mover.job(job))["queue"] == "default"
        assert await mover.move([job], ELSEWHERE) == {job: "moved"}
        await served_once(job, mover, queues=("default", "esc", ELSEWHERE))
    await stage.audit()


async def test_a_job_that_was_moved_away_and_back_is_left_alone(stage: Stage) -> None:
    async with leading(stage) as leader:
        mover = await stage.actor()
        (job,) = await mover.enqueue()
        begun = await listed(leader, await moved(leader, [job]))
        await mover.move([job], ELSEWHERE)
        await mover.move([job], "esc")
        assert await ended(leader, begun) == {"skipped": {"changed_since": 1}}
        await served_once(job, mover, queues=("default", "esc"))
    await stage.audit()


async def test_a_deferred_job_that_was_moved_on_is_left_alone(stage: Stage) -> None:
    async with leading(stage) as leader:
        mover = await stage.actor()
        (job,) = await mover.enqueue(run_at=await mover.now(later_s=3600))
        begun = await listed(leader, await moved(leader, [job]))
        assert await mover.move([job], ELSEWHERE) == {job: "moved"}
        assert await ended(leader, begun) == {"skipped": {"moved": 1}}
        assert (await mover.job(job))["queue"] == ELSEWHERE
    await stage.audit()


async def test_a_job_that_was_tried_since_is_left_alone(stage: Stage) -> None:
    async with leading(stage) as leader:
        worker = await stage.actor()
        (job,) = await worker.enqueue(run_at=await worker.now(later_s=3600))
        begun = await listed(leader, await moved(leader, [job]))
        await worker.promote(now=await worker.now(later_s=3601))
        await worker.finish(await worker.claim(queue="esc"), "retried", delay_s=3600.0)
        assert await ended(leader, begun) == {"skipped": {"changed_since": 1}}
        assert (await worker.job(job))["queue"] == "esc"
    await stage.audit()


async def test_a_job_promoted_while_it_is_put_back_is_found_in_its_lane(stage: Stage) -> None:
    async with leading(stage) as leader:
        leader_of_duties = await stage.actor()
        (job,) = await leader_of_duties.enqueue(run_at=await leader_of_duties.now(later_s=3600))
        begun = await listed(leader, await moved(leader, [job]))
        later = await leader_of_duties.now(later_s=3601)
        promotion = leader_of_duties.stopped_at(
            "promote.after_locks", leader_of_duties.promote(now=later)
        )
        async with promotion:
            assert await leader.runner.step()
            assert (await leader.sums(begun))["pending"] == 1
        assert await ended(leader, begun) == {"processed": {"changed": 1}}
        await served_once(job, leader_of_duties, queues=("esc", "default"))
    await stage.audit()


async def test_stamps_that_were_there_before_are_there_afterwards(stage: Stage) -> None:
    async with leading(stage) as leader:
        mover = await stage.actor()
        old, new = await mover.enqueue(2, metadata={"mine": 1})
        await mover.move([old], ELSEWHERE)
        await mover.move([old], "default")
        stamped = {"mine": 1, "_awa_original_queue": "default"}
        begun = await listed(leader, await moved(leader, [old, new]))
        assert (await mover.job(new))["metadata"] == stamped
        assert await ended(leader, begun) == {"processed": {"changed": 2}}
        assert (await mover.job(old))["metadata"] == stamped
        assert (await mover.job(new))["metadata"] == {"mine": 1}


async def test_an_undo_that_waited_for_the_last_chunk_finds_the_operation_ended(
    stage: Stage,
) -> None:
    async with leading(stage) as leader:
        ada = await stage.actor()
        operation = await leader.begun(jobs=20)
        async with stage.until_end() as end, leader.in_a_chunk():
            undoing = undo(ada.conn, operation["id"])
            task = await end.enter_async_context(ada.blocked(undoing))
        assert task.result()["undo_of"] == operation["id"]
        assert await ended(leader, task.result()) == {"processed": {"changed": 20}}


async def test_of_two_undos_the_second_hears_of_the_first(stage: Stage) -> None:
    async with leading(stage) as leader:
        ada, bob = await stage.actors(2)
        operation = await moved(leader, await ada.enqueue(3))
        with pytest.raises(Conflict, match="is being undone") as refused:
            await two_undos(stage, operation, ada, bob)
        (first,) = (await leader.sums(operation))["undos"]
        assert refused.value.details is not None
        assert refused.value.details["undo"] == first["id"]
        assert await ended(leader, first) == {"processed": {"changed": 3}}


async def test_an_operation_is_not_deleted_while_its_undo_is_active(stage: Stage) -> None:
    async with leading(stage) as leader:
        ada, keeper = await stage.actors(2)
        operation = await moved(leader, await ada.enqueue(3))
        async with ada.conn.transaction():
            begun = await undo(ada.conn, operation["id"])
            assert await purge(keeper) == 0, "it is held"
        assert await purge(keeper) == 0
        assert await ended(leader, begun) == {"processed": {"changed": 3}}
        assert await purge(keeper) == 2 * (3 + 1), "both, with their items"


async def test_nor_if_the_undo_came_between_a_purges_snapshot_and_its_lock(stage: Stage) -> None:
    async with leading(stage) as leader:
        ada, keeper = await stage.actors(2)
        operation = await moved(leader, await ada.enqueue(3))
        await stage.rewrite((PURGE_STOPS,))
        async with keeper.stopped_at(IN_LOCK, purge(keeper)) as purging:
            begun = await undo(ada.conn, operation["id"])
        assert purging.result() == 0
        assert await items_of(ada, operation) == 3
        assert await ended(leader, begun) == {"processed": {"changed": 3}}


async def test_what_is_being_deleted_is_not_undone(stage: Stage) -> None:
    """Three items in chunks of two: when the undo's turn comes, one of them is left."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retention, "CHUNK_ITEMS", 2)
        async with leading(stage) as leader:
            ada, keeper = await stage.actors(2)
            operation = await moved(leader, await ada.enqueue(3))
            with pytest.raises(Conflict, match="is being deleted"):
                await behind_a_purge(stage, operation, keeper, ada)
            assert await items_of(ada, operation) == 1


async def test_nor_what_has_been_deleted(stage: Stage) -> None:
    async with leading(stage) as leader:
        ada, keeper = await stage.actors(2)
        operation = await moved(leader, await ada.enqueue(3))
        with pytest.raises(NotFound):
            await behind_a_purge(stage, operation, keeper, ada)
        with pytest.raises(NotFound):
            await read.get(ada.conn, operation["id"])


async def test_a_leader_that_dies_while_it_puts_jobs_back_leaves_them_to_the_next(
    stage: Stage,
) -> None:
    async with leading(stage) as leader:
        ada = await stage.actor()
        jobs = await ada.enqueue(20)
        begun = await listed(leader, await moved(leader, jobs))
        async with leader.in_a_chunk() as pid:
            await leader.conn.execute("SELECT pg_terminate_backend(%s)", [pid])
        assert (await leader.sums(begun))["processed"] == 0
    async with leading(stage) as successor:
        assert await ended(successor, begun) == {"processed": {"changed": 20}}
        assert sorted(await ada.claim_ids()) == jobs
    await stage.audit()
