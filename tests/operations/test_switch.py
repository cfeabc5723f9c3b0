"""One switch holds all operations: none is begun, none goes on, and everything else can still be done."""

import pytest

from awa.db.pool import Pool
from awa.model.errors import Conflict
from awa.operations import control, read, switch
from awa.operations.runner import IDLE_POLL_S, Runner
from awa.operations.submit import submit
from tests.operations.kit import Conn, add_jobs, check_sums, jobs_by, new_runner, rows, run_to_end


async def test_nothing_goes_on_while_it_is_turned(conn: Conn, pool: Pool, runner: Runner) -> None:
    await add_jobs(conn, 250, queue="a")
    await add_jobs(conn, 5, queue="b")
    running = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    while not running["processed"]:
        await runner.step()
        running = await read.get(conn, running["id"])
    held = await switch.hold(conn, actor="ada", reason="replica falls behind")
    assert (held["held"], held["held_by"], held["reason"]) == (True, "ada", "replica falls behind")
    assert await switch.present(conn) == held
    pending = await submit(conn, "set_priority", {"queue": "b"}, {"priority": 1})
    for one in (runner, await new_runner(conn, pool)):
        assert await run_to_end(one) == 0
    assert await check_sums(conn, running["id"]) == running
    assert (await read.get(conn, pending["id"]))["state"] == "pending"
    assert await switch.release(conn, actor="bob", reason="it has caught up") == {
        "held": False,
        "held_at": None,
        "held_by": None,
        "reason": None,
    }
    await run_to_end(await new_runner(conn, pool))
    assert await jobs_by(conn, "priority") == {1: 255}
    (kept,) = await rows(conn, "SELECT * FROM awa.batch_operation_holds")
    assert (kept["held_by"], kept["released_by"]) == ("ada", "bob")
    assert kept["released_reason"] == "it has caught up"


async def test_operations_can_be_paused_changed_and_ended_meanwhile(
    conn: Conn, runner: Runner
) -> None:
    await add_jobs(conn, 250)
    operation = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    while not operation["processed"]:
        await runner.step()
        operation = await read.get(conn, operation["id"])
    await switch.hold(conn)
    await control.pause(conn, operation["id"])
    await control.change(conn, operation["id"], {"max_rows_per_second": 5})
    assert (await control.resume(conn, operation["id"]))["state"] == "running"
    assert not await runner.step()
    assert (await control.cancel(conn, operation["id"]))["state"] == "cancelling"
    await run_to_end(runner)
    ended = await check_sums(conn, operation["id"])
    assert (ended["state"], ended["processed"]) == ("cancelled", operation["processed"])


async def test_it_is_turned_once_and_says_by_whom(conn: Conn) -> None:
    with pytest.raises(Conflict, match="are not held"):
        await switch.release(conn)
    first = await switch.hold(conn, actor="ada", reason="incident")
    with pytest.raises(Conflict, match=r"held already, by ada since .*: incident") as refused:
        await switch.hold(conn, actor="bob")
    assert refused.value.details is not None
    assert refused.value.details["held_by"] == "ada"
    assert await switch.present(conn) == first
    await switch.release(conn)
    again = await switch.hold(conn)
    (user,) = await rows(conn, "SELECT session_user AS name")
    assert (again["held_by"], again["reason"]) == (user["name"], None)


async def test_an_idle_runner_asks_now_and_then_and_a_held_one_too(
    conn: Conn, runner: Runner
) -> None:
    """What is due and may not go on isn't waited for in the shortest of all intervals."""
    assert await runner._idle_s() == IDLE_POLL_S
    await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    await conn.execute("UPDATE awa.batch_operations SET wait_until = '-infinity'")
    await switch.hold(conn)
    assert not await runner.step()
    assert await runner._idle_s() == IDLE_POLL_S
    await switch.release(conn)
    assert await runner._idle_s() == 0.01
