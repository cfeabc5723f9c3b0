"""What can't be undone, or not again, is refused with the present state and with the undo that there is."""

import pytest

from awa.model.errors import Conflict, NotFound, ValidationError
from awa.operations import control
from awa.operations.runner import Runner
from awa.operations.submit import submit
from awa.operations.undo import undo
from tests.operations.kit import Conn, add_jobs, check_sums, operate, run_to_end

TO = {"queue": "esc"}
UNKNOWN = "00000000-0000-0000-0000-000000000000"


@pytest.mark.parametrize("state", ["pending", "scanning", "running", "paused", "cancelling"])
async def test_an_active_operation_is_not_undone(conn: Conn, state: str) -> None:
    operation = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    await conn.execute(
        "UPDATE awa.batch_operations SET state = %s, paused_from = %s, processed = 1 WHERE id = %s",
        [state, "running" if state == "paused" else None, operation["id"]],
    )
    with pytest.raises(Conflict, match=f"that is {state} cannot be undone") as refused:
        await undo(conn, operation["id"])
    assert refused.value.details == {"state": state}


async def test_nor_one_that_is_being_undone(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 3)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    begun = await undo(conn, moved["id"])
    with pytest.raises(Conflict, match=f"is being undone: {begun['id']} is pending") as refused:
        await undo(conn, moved["id"])
    assert refused.value.details is not None
    assert refused.value.details["undo"] == str(begun["id"])
    await control.cancel(conn, begun["id"])
    again = await undo(conn, moved["id"])
    await run_to_end(runner)
    assert (await check_sums(conn, again["id"]))["processed"] == 3, "the first one changed nothing"


async def test_nor_one_that_changed_nothing_or_is_not_there(conn: Conn, runner: Runner) -> None:
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    with pytest.raises(Conflict, match="changed nothing"):
        await undo(conn, moved["id"])
    for unknown in (UNKNOWN, "no uuid"):
        with pytest.raises(NotFound):
            await undo(conn, unknown)


async def test_nor_one_of_an_older_version(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 1)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    await conn.execute("UPDATE awa.batch_operations SET keeps_places = false")
    with pytest.raises(Conflict, match="by an older version"):
        await undo(conn, moved["id"])


async def test_the_same_request_is_answered_with_the_same_undo(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 1)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    first = await undo(conn, moved["id"], idempotency_key="once")
    assert (await undo(conn, moved["id"], idempotency_key="once"))["id"] == first["id"]
    await run_to_end(runner)
    assert (await undo(conn, moved["id"], idempotency_key="once"))["id"] == first["id"]
    with pytest.raises(Conflict, match="belongs to another request"):
        await undo(conn, first["id"], idempotency_key="once")


async def test_it_is_not_submitted_with_a_filter(conn: Conn) -> None:
    with pytest.raises(ValidationError, match="asked of the operation"):
        await submit(conn, "undo", {"kind": "work"}, {"operation_id": UNKNOWN})
