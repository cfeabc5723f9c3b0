"""An operation can be paused in each phase and goes on exactly there; whoever did it stands in its events."""

import pytest

from awa.db.pool import Pool
from awa.model.errors import Conflict, NotFound, ValidationError
from awa.model.states import OPERATION_MOVES, OperationState
from awa.operations import control, read
from awa.operations.runner import Runner
from awa.operations.submit import submit
from tests.operations.kit import (
    Conn,
    Row,
    add_jobs,
    add_scheduled,
    check_sums,
    jobs_by,
    new_runner,
    rows,
    run_to_end,
)

UNKNOWN = "00000000-0000-0000-0000-000000000000"


async def begun(conn: Conn, runner: Runner, phase: str, jobs: int = 250) -> Row:
    """An operation of several chunks in a phase; a running one has changed something already."""
    await add_jobs(conn, jobs)
    operation = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    while operation["state"] != phase or (phase == "running" and not operation["processed"]):
        await runner.step()
        operation = await check_sums(conn, operation["id"])
    return operation


async def trail(conn: Conn, operation: Row) -> list[tuple[str, str, str | None]]:
    """Who brought it into which state, and why."""
    events = await read.events(conn, operation["id"])
    return [
        (event["to_state"], event["actor"].partition(" ")[0], event["reason"]) for event in events
    ]


@pytest.mark.parametrize("phase", ["pending", "scanning", "running"])
async def test_it_stops_where_it_is_and_goes_on_there(
    conn: Conn, runner: Runner, phase: str
) -> None:
    before = await begun(conn, runner, phase)
    paused = await control.pause(conn, before["id"], actor="ada", reason=" too fast ")
    assert (paused["state"], paused["paused_from"]) == ("paused", phase)
    assert (paused["paused_by"], paused["paused_reason"]) == ("ada", "too fast")
    assert paused["paused_at"] == paused["updated_at"]
    assert await run_to_end(runner) == 0, "there is nothing to do"
    assert await check_sums(conn, before["id"]) == paused
    resumed = await control.resume(conn, before["id"], actor="bob", reason="again")
    where = ("state", "cursor", "scan_bound", "total_matched", "processed", "started_at")
    assert {name: resumed[name] for name in where} == {name: before[name] for name in where}
    assert {resumed[name] for name in resumed if name.startswith("paused_")} == {None}
    assert (await trail(conn, before))[-2:] == [
        ("paused", "ada", "too fast"),
        (phase, "bob", "again"),
    ]
    await run_to_end(runner)
    done = await check_sums(conn, before["id"])
    assert (done["state"], done["totals"]) == ("completed", {"processed": {"changed": 250}})
    assert await jobs_by(conn, "priority") == {1: 250}


async def test_a_paused_scan_keeps_its_bound(
    conn: Conn, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is enqueued meanwhile is no member, and what was listed is not listed twice."""
    monkeypatch.setattr("awa.operations.pace.PAGE_START_ROWS", 10)
    monkeypatch.setattr("awa.operations.pace.PAGE_AIM", 0.0)  # one page a transaction
    runner = await new_runner(conn, pool)
    await add_scheduled(conn, 30)
    await add_jobs(conn, 30)
    operation = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    while not (operation["total_matched"] or 0):
        await runner.step()
        operation = await check_sums(conn, operation["id"])
    assert (operation["state"], operation["total_matched"] < 60) == ("scanning", True)
    await control.pause(conn, operation["id"])
    await add_jobs(conn, 5)
    resumed = await control.resume(conn, operation["id"])
    assert (resumed["state"], resumed["cursor"]) == ("scanning", operation["cursor"])
    await run_to_end(await new_runner(conn, pool))
    done = await check_sums(conn, operation["id"])
    assert (done["total_matched"], done["scan_bound"]) == (60, operation["scan_bound"])
    assert await jobs_by(conn, "priority") == {1: 60, 2: 5}


async def test_the_session_user_pauses_where_nobody_is_named(conn: Conn, runner: Runner) -> None:
    operation = await begun(conn, runner, "pending", 1)
    (user,) = await rows(conn, "SELECT session_user AS name")
    assert (await control.pause(conn, operation["id"]))["paused_by"] == user["name"]


@pytest.mark.parametrize("phase", ["pending", "scanning", "running"])
async def test_a_paused_one_is_cancelled_at_once(conn: Conn, runner: Runner, phase: str) -> None:
    operation = await begun(conn, runner, phase)
    await control.pause(conn, operation["id"])
    cancelled = await control.cancel(conn, operation["id"], actor="ada", reason="a mistake")
    assert (cancelled["state"], cancelled["paused_from"]) == ("cancelled", None)
    assert cancelled["retention_until"] > cancelled["finalized_at"]
    assert (await trail(conn, operation))[-1] == ("cancelled", "ada", "a mistake")
    assert await run_to_end(runner) == 0
    done = await check_sums(conn, operation["id"])
    assert done["processed"] == operation["processed"]
    assert await jobs_by(conn, "priority") == {
        priority: count
        for priority, count in ((1, done["processed"]), (2, 250 - done["processed"]))
        if count
    }


async def in_state(conn: Conn, state: str) -> Row:
    """An operation in a state, as if it had come there."""
    operation = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    await conn.execute(
        "UPDATE awa.batch_operations SET state = %s, paused_from = %s, paused_by = 'ada' WHERE id = %s",
        [state, "running" if state == "paused" else None, operation["id"]],
    )
    return operation


@pytest.mark.parametrize("state", list(OperationState))
async def test_wrong_moves_are_refused_with_the_present_state(conn: Conn, state: str) -> None:
    changed = {"pause": control.pause, "resume": control.resume}
    possible = {
        "pause": (state, "paused") in OPERATION_MOVES,
        "resume": state == "paused",
    }
    for name, deed in changed.items():
        operation = await in_state(conn, state)
        if possible[name]:
            await deed(conn, operation["id"])
            continue
        with pytest.raises(Conflict, match=f"that is {state} cannot be {name}d") as refused:
            await deed(conn, operation["id"])
        assert refused.value.details is not None
        assert refused.value.details["state"] == state
        assert len(await read.events(conn, operation["id"])) == 1


@pytest.mark.parametrize("state", list(OperationState))
async def test_an_operation_that_ends_has_no_pace_any_more(conn: Conn, state: str) -> None:
    operation = await in_state(conn, state)
    changes = {"max_rows_per_second": 5, "priority": 1}
    if state in ("pending", "scanning", "running", "paused"):
        changed = await control.change(conn, operation["id"], changes, actor="ada", reason="why")
        assert (changed["state"], changed["max_rows_per_second"]) == (state, 5)
        return
    with pytest.raises(Conflict) as refused:
        await control.change(conn, operation["id"], changes)
    assert refused.value.details == {"state": state}
    assert (await read.get(conn, operation["id"]))["max_rows_per_second"] is None


async def test_unknown_operations_are_not_found(conn: Conn) -> None:
    for unknown in (UNKNOWN, "no uuid"):
        for deed in (control.pause, control.resume):
            with pytest.raises(NotFound):
                await deed(conn, unknown)
        with pytest.raises(NotFound):
            await control.change(conn, unknown, {"priority": 1})


async def test_a_change_is_recorded_with_what_was_and_what_is(conn: Conn) -> None:
    operation = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    asked = {"max_rows_per_second": 500, "priority": 1}
    changed = await control.change(conn, operation["id"], asked, actor="ada", reason="urgent")
    assert (changed["max_rows_per_second"], changed["priority"]) == (500, 1)
    await control.change(conn, operation["id"], {"max_rows_per_second": None})
    await control.change(conn, operation["id"], {"priority": 1})  # as it is: nothing happened
    events = await read.events(conn, operation["id"])
    assert [event["changes"] for event in events] == [
        None,
        {"max_rows_per_second": [None, 500], "priority": [2, 1]},
        {"max_rows_per_second": [500, None]},
    ]
    assert (events[1]["actor"], events[1]["reason"]) == ("ada", "urgent")
    assert {(event["from_state"], event["to_state"]) for event in events[1:]} == {
        ("pending", "pending")
    }


async def test_a_paused_operation_is_not_purged_and_takes_no_place(conn: Conn, pool: Pool) -> None:
    runner = await new_runner(conn, pool, batch_concurrency=1)
    first = await begun(conn, runner, "running")
    await control.pause(conn, first["id"])
    second = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 3})
    await run_to_end(runner)
    assert (await read.get(conn, second["id"]))["state"] == "completed"
    assert (await read.get(conn, first["id"]))["retention_until"] is None


@pytest.mark.parametrize("field", ["actor", "reason"])
async def test_who_and_why_have_their_bounds(conn: Conn, field: str) -> None:
    operation = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    with pytest.raises(ValidationError):
        await control.pause(conn, operation["id"], **{field: "x" * 2_001})
    assert (await read.get(conn, operation["id"]))["state"] == "pending"
