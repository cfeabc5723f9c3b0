"""An operation goes from pending to an end, leaving a trail, and does what it was asked to."""

import pytest

from awa.model.errors import Conflict, NotFound
from awa.operations import control, read
from awa.operations.runner import Runner
from awa.operations.submit import submit
from tests.operations.kit import (
    Conn,
    add_jobs,
    add_scheduled,
    check_sums,
    jobs_by,
    operate,
    rows,
    run_to_end,
)


async def trail(conn: Conn, operation_id: object) -> list[str]:
    """The states that an operation went through."""
    return [event["to_state"] for event in await read.events(conn, str(operation_id))]


async def test_set_priority_changes_available_and_scheduled_jobs(
    conn: Conn, runner: Runner
) -> None:
    ready = await add_jobs(conn, 30, queue="email")
    later = await add_scheduled(conn, 20, queue="email")
    await add_jobs(conn, 5, queue="other")
    operation = await operate(conn, runner, "set_priority", {"priority": 1}, {"queue": "email"})
    assert operation["state"] == "completed", operation["last_error"]
    assert (operation["total_matched"], operation["processed"]) == (50, 50)
    assert await jobs_by(conn, "priority") == {1: 50, 2: 5}
    found = await rows(conn, "SELECT id, state, metadata FROM awa.jobs WHERE queue = 'email'")
    assert {row["id"] for row in found} == {*ready, *later}
    assert {row["state"] for row in found} == {"available", "scheduled"}
    assert all(row["metadata"] == {"_awa_original_priority": 2} for row in found)


async def test_move_queue_moves_jobs_and_stamps_what_changed(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 10, queue="a", priority=3)
    await add_scheduled(conn, 10, queue="a", priority=1)
    moved = await operate(conn, runner, "move_queue", {"queue": "b", "priority": 1}, {"queue": "a"})
    assert moved["totals"] == {"processed": {"changed": 20}}
    assert await jobs_by(conn, "queue") == {"b": 20}
    assert await jobs_by(conn, "priority") == {1: 20}
    stamps = [
        row["metadata"]
        for row in await rows(conn, "SELECT metadata FROM awa.jobs ORDER BY state, id")
    ]
    assert stamps[:10] == [{"_awa_original_queue": "a", "_awa_original_priority": 3}] * 10
    assert stamps[10:] == [{"_awa_original_queue": "a"}] * 10


async def test_the_trail_names_actor_time_and_reason(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 3)
    operation = await operate(
        conn, runner, "set_priority", {"priority": 1}, {"kind": "work"}, reason="incident 12"
    )
    events = await read.events(conn, operation["id"])
    assert [(event["from_state"], event["to_state"]) for event in events] == [
        (None, "pending"),
        ("pending", "scanning"),
        ("scanning", "running"),
        ("running", "completed"),
    ]
    assert (events[0]["actor"], events[0]["reason"]) == ("operator", "incident 12")
    assert all(event["actor"].startswith("runtime ") for event in events[1:])
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    assert operation["submitted_by"] == "operator"
    assert operation["submitted_at"] <= operation["started_at"] <= operation["finalized_at"]
    assert (operation["retention_until"] - operation["finalized_at"]).days == 90
    assert operation["runner_instance"] is not None


async def test_without_an_actor_the_session_user_submitted(conn: Conn) -> None:
    operation = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    (user,) = await rows(conn, "SELECT session_user AS name")
    assert operation["submitted_by"] == user["name"]
    (event,) = await read.events(conn, operation["id"])
    assert event["actor"] == user["name"]


async def test_an_operation_without_jobs_completes(conn: Conn, runner: Runner) -> None:
    operation = await operate(conn, runner, "set_priority", {"priority": 1}, {"queue": "none"})
    assert (operation["state"], operation["total_matched"]) == ("completed", 0)
    operation = await operate(
        conn, runner, "set_priority", {"priority": 1}, {"ids": []}, allow_all=True
    )
    assert (operation["state"], operation["total_matched"]) == ("completed", 0)


async def test_all_jobs_are_touched_when_that_is_confirmed(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 4, queue="a")
    await add_scheduled(conn, 3, queue="b")
    operation = await operate(conn, runner, "set_priority", {"priority": 4}, {}, allow_all=True)
    assert operation["processed"] == 7


async def test_cancelling_before_it_began_is_immediate(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 3)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    cancelled = await control.cancel(conn, submitted["id"], actor="boss", reason="wrong queue")
    assert cancelled["state"] == "cancelled"
    assert cancelled["retention_until"] > cancelled["finalized_at"]
    await run_to_end(runner)
    assert await jobs_by(conn, "priority") == {2: 3}
    events = await read.events(conn, submitted["id"])
    assert (events[-1]["actor"], events[-1]["reason"]) == ("boss", "wrong queue")


async def test_cancelling_under_way_stops_between_chunks(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 500)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    while (await read.get(conn, submitted["id"]))["processed"] == 0:
        await runner.step()
    cancelling = await control.cancel(conn, submitted["id"])
    assert cancelling["state"] == "cancelling"
    await run_to_end(runner)
    operation = await check_sums(conn, submitted["id"])
    assert operation["state"] == "cancelled"
    assert 0 < operation["processed"] < 500
    assert operation["pending"] == 500 - operation["processed"]
    assert await jobs_by(conn, "priority") == {
        1: operation["processed"],
        2: operation["pending"],
    }
    assert await trail(conn, submitted["id"]) == [
        "pending",
        "scanning",
        "running",
        "cancelling",
        "cancelled",
    ]


async def test_a_scan_can_be_cancelled(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 50)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    await runner.step()
    assert (await control.cancel(conn, submitted["id"]))["state"] == "cancelling"
    await run_to_end(runner)
    assert (await check_sums(conn, submitted["id"]))["state"] == "cancelled"
    assert await jobs_by(conn, "priority") == {2: 50}


@pytest.mark.parametrize("steps", [0, 1, None])
async def test_a_second_cancel_is_refused_with_the_present_state(
    conn: Conn, runner: Runner, steps: int | None
) -> None:
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    if steps is None:
        await run_to_end(runner)
        present = "completed"
    else:
        for _ in range(steps):
            await runner.step()
        present = (await control.cancel(conn, submitted["id"]))["state"]
    with pytest.raises(Conflict) as refused:
        await control.cancel(conn, submitted["id"])
    assert refused.value.details is not None
    assert refused.value.details["state"] == present


async def test_unknown_operations_are_not_found(conn: Conn) -> None:
    for unknown in ("00000000-0000-0000-0000-000000000000", "no uuid"):
        with pytest.raises(NotFound):
            await control.cancel(conn, unknown)
        with pytest.raises(NotFound):
            await read.get(conn, unknown)
        with pytest.raises(NotFound):
            await read.items_page(conn, unknown)
        with pytest.raises(NotFound):
            await read.events(conn, unknown)
