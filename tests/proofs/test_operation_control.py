"""Control against what is under way: pause, resume, cancel and the switch come between two chunks, in whichever order.

Each race is played in both orders. A chunk stands after its locks, in the middle of its transaction; whoever steers
stands in a transaction that has done the deed and is not committed.
"""

from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

import pytest

from awa.model.errors import Conflict, DatabaseError
from awa.operations import control, switch
from tests.operations.kit import jobs_by
from tests.proofs.runners import Leader, leading
from tests.proofs.stage import Actor, Stage

JOBS = 150
CHUNK = 100


Deed = Coroutine[Any, Any, dict[str, Any]]


async def behind_a_chunk(stage: Stage, leader: Leader, actor: Actor, deed: Deed) -> dict[str, Any]:
    """A deed that comes while a chunk is under way, and has to wait for it; what it answers."""
    async with stage.until_end() as end, leader.in_a_chunk():
        task = await end.enter_async_context(actor.blocked(deed))
    return task.result()


async def before_a_step(stage: Stage, leader: Leader, actor: Actor, deed: Deed) -> None:
    """A deed that is done after a step chose its operation, and before it could lock it."""
    async with stage.until_end() as end, actor.conn.transaction():
        await deed
        await end.enter_async_context(leader.blocked())


async def one_behind_the_other(
    stage: Stage, first: tuple[Actor, Deed], second: tuple[Actor, Deed]
) -> dict[str, Any]:
    """Two deeds at once: the second waits for the first; what the second answers."""
    (one, deed), (other, late_deed) = first, second
    async with stage.until_end() as end, one.conn.transaction():
        await deed
        task = await end.enter_async_context(other.blocked(late_deed))
    return task.result()


async def all_changed(leader: Leader, jobs: int = JOBS) -> None:
    """Everything comes to its end, and each job is changed."""
    await leader.to_end()
    assert await jobs_by(leader.conn, "priority") == {1: jobs}


async def test_a_pause_waits_for_the_chunk_that_is_under_way(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        ada = await stage.actor()
        pause = await behind_a_chunk(stage, leader, ada, control.pause(ada.conn, operation["id"]))
        assert (pause["state"], pause["processed"]) == ("paused", CHUNK)
        assert not await leader.runner.step()
        assert (await leader.sums(operation))["processed"] == CHUNK
        await control.resume(ada.conn, operation["id"])
        await all_changed(leader)


async def test_a_chunk_that_waited_for_a_pause_is_not_begun(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        ada = await stage.actor()
        await before_a_step(stage, leader, ada, control.pause(ada.conn, operation["id"]))
        paused = await leader.sums(operation)
        assert (paused["state"], paused["processed"]) == ("paused", 0)
        await control.resume(ada.conn, operation["id"])
        await all_changed(leader)


@pytest.mark.parametrize("state", ["pending", "scanning"])
async def test_nor_is_a_scan(stage: Stage, state: str) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun(state=state)
        ada = await stage.actor()
        await before_a_step(stage, leader, ada, control.pause(ada.conn, operation["id"]))
        paused = await leader.sums(operation)
        assert (paused["state"], paused["paused_from"]) == ("paused", state)
        assert (paused["total_matched"], paused["cursor"]) == (
            operation["total_matched"],
            operation["cursor"],
        )
        await control.resume(ada.conn, operation["id"])
        await all_changed(leader)


async def test_a_pause_that_comes_while_the_last_chunk_ends_it_is_refused(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun(jobs=50)
        ada = await stage.actor()
        with pytest.raises(Conflict, match="that is completed cannot be paused"):
            await behind_a_chunk(stage, leader, ada, control.pause(ada.conn, operation["id"]))
        ended = await leader.sums(operation)
        assert (ended["state"], ended["processed"]) == ("completed", 50)


async def test_a_pause_before_the_last_chunk_keeps_it_from_ending(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun(jobs=50)
        ada = await stage.actor()
        await before_a_step(stage, leader, ada, control.pause(ada.conn, operation["id"]))
        assert (await leader.sums(operation))["state"] == "paused"
        await control.resume(ada.conn, operation["id"])
        await all_changed(leader, 50)
        assert (await leader.sums(operation))["state"] == "completed"


async def test_of_a_pause_and_a_cancel_that_follows_both_count(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        ada, bob = await stage.actors(2)
        cancel = await one_behind_the_other(
            stage,
            (ada, control.pause(ada.conn, operation["id"])),
            (bob, control.cancel(bob.conn, operation["id"])),
        )
        assert cancel["state"] == "cancelled", "at once: nothing of it is under way"
        await leader.to_end()
        assert await jobs_by(leader.conn, "priority") == {2: JOBS}


async def test_of_a_cancel_and_a_pause_the_cancel_counts(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        ada, bob = await stage.actors(2)
        with pytest.raises(Conflict, match="that is cancelling cannot be paused"):
            await one_behind_the_other(
                stage,
                (ada, control.cancel(ada.conn, operation["id"])),
                (bob, control.pause(bob.conn, operation["id"])),
            )
        await leader.to_end()
        assert (await leader.sums(operation))["state"] == "cancelled"


async def test_of_a_resume_and_a_cancel_both_count(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        ada, bob = await stage.actors(2)
        await control.pause(ada.conn, operation["id"])
        cancel = await one_behind_the_other(
            stage,
            (ada, control.resume(ada.conn, operation["id"])),
            (bob, control.cancel(bob.conn, operation["id"])),
        )
        assert cancel["state"] == "cancelling", "it runs again, so the runner ends it"
        await leader.to_end()
        assert (await leader.sums(operation))["state"] == "cancelled"


async def test_what_was_cancelled_while_paused_is_not_resumed(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        ada, bob = await stage.actors(2)
        await control.pause(ada.conn, operation["id"])
        with pytest.raises(Conflict, match="that is cancelled cannot be resumed"):
            await one_behind_the_other(
                stage,
                (ada, control.cancel(ada.conn, operation["id"])),
                (bob, control.resume(bob.conn, operation["id"])),
            )
        assert not await leader.runner.step()
        assert (await leader.sums(operation))["processed"] == 0


async def test_of_two_pauses_one_counts(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        ada, bob = await stage.actors(2)
        with pytest.raises(Conflict, match="that is paused cannot be paused"):
            await one_behind_the_other(
                stage,
                (ada, control.pause(ada.conn, operation["id"], actor="ada")),
                (bob, control.pause(bob.conn, operation["id"], actor="bob")),
            )
        paused = await leader.sums(operation)
        assert (paused["paused_by"], paused["paused_from"]) == ("ada", "running")


async def test_a_leader_that_dies_in_a_chunk_lets_the_pause_through(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        ada = await stage.actor()
        async with stage.until_end() as end, leader.in_a_chunk() as pid:
            pausing = control.pause(ada.conn, operation["id"])
            pause = await end.enter_async_context(ada.blocked(pausing))
            await leader.conn.execute("SELECT pg_terminate_backend(%s)", [pid])
        assert isinstance(leader.last[0], DatabaseError)
        assert (pause.result()["state"], pause.result()["processed"]) == ("paused", 0)
    async with leading(stage) as successor:
        assert not await successor.runner.step()
        assert (await successor.sums(operation))["paused_from"] == "running"
        await control.resume(successor.conn, operation["id"])
        await all_changed(successor)


async def test_a_leader_that_dies_meanwhile_leaves_the_pause_to_the_next(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        assert await leader.runner.step()
        paused = await control.pause(leader.conn, operation["id"])
    async with leading(stage) as successor:
        assert not await successor.runner.step()
        assert await successor.sums(operation) == paused
        resumed = await control.resume(successor.conn, operation["id"])
        assert (resumed["state"], resumed["processed"]) == ("running", CHUNK)
        await all_changed(successor)


async def test_the_switch_waits_for_the_chunk_that_is_under_way(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        ada = await stage.actor()
        held = await behind_a_chunk(stage, leader, ada, switch.hold(ada.conn))
        assert held["held"]
        assert (await leader.sums(operation))["processed"] == CHUNK
        assert not await leader.runner.step()
        await switch.release(ada.conn)
        await all_changed(leader)


async def test_a_chunk_that_waited_for_the_switch_is_not_begun(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        ada = await stage.actor()
        await before_a_step(stage, leader, ada, switch.hold(ada.conn))
        assert (await leader.sums(operation))["processed"] == 0
        assert (await leader.sums(operation))["state"] == "running"
        await switch.release(ada.conn)
        await all_changed(leader)


async def test_of_two_who_turn_the_switch_one_counts(stage: Stage) -> None:
    ada, bob = await stage.actors(2)
    with pytest.raises(Conflict, match="held already, by ada"):
        await one_behind_the_other(
            stage,
            (ada, switch.hold(ada.conn, actor="ada")),
            (bob, switch.hold(bob.conn, actor="bob")),
        )
    assert (await switch.present(ada.conn))["held_by"] == "ada"


async def test_paused_operations_are_not_served(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun()
        await control.pause(leader.conn, operation["id"])
        assert not await leader.runner.step()


async def test_a_chunk_is_not_begun_before_its_pace_allows_it(stage: Stage) -> None:
    async with leading(stage) as leader:
        operation = await leader.begun(max_rows_per_second=7)
        assert await leader.runner.step()
        first = await leader.sums(operation)
        assert first["processed"] == 7
        assert first["paced_until"] is not None
        just_before = first["paced_until"] - timedelta(milliseconds=1)
        assert not await leader.runner.step(now=just_before)
        await control.pause(leader.conn, operation["id"])
        await control.resume(leader.conn, operation["id"])
        assert not await leader.runner.step(now=just_before), "nobody gets past it by pausing"
        assert await leader.runner.step(now=first["paced_until"])
        assert (await leader.sums(operation))["processed"] == 14
