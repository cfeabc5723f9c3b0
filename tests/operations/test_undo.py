"""Undo: jobs that are as an operation left them get back what it changed, exactly; all others are left alone and named."""

from typing import Any

import pytest
from psycopg.types.json import Jsonb

from awa.db.pool import Pool
from awa.model.errors import Conflict
from awa.operations import control, read
from awa.operations.runner import Runner
from awa.operations.submit import submit
from awa.operations.undo import undo
from awa.storage import change, queues
from tests.operations.kit import (
    Conn,
    Row,
    add_jobs,
    add_scheduled,
    check_sums,
    claim_jobs,
    jobs_by,
    new_runner,
    operate,
    promote,
    rows,
    run_to_end,
    value,
)
from tests.storage.world import World

TO = {"queue": "esc"}
UNKNOWN = "00000000-0000-0000-0000-000000000000"
EXACT = (
    "id, kind, queue, state, priority, attempt, max_attempts, args::text AS args, tags, metadata, errors, run_at, created_at,"
    " enqueue_shard"
)


async def pictures(conn: Conn) -> list[Row]:
    """All of every job but its turn in its lane."""
    return await rows(conn, f"SELECT {EXACT} FROM awa.jobs ORDER BY id")


async def undone(conn: Conn, runner: Runner, operation: Row, **more: Any) -> Row:
    """The undo of an operation, after its end."""
    begun = await undo(conn, operation["id"], actor="ada", **more)
    await run_to_end(runner)
    return await check_sums(conn, begun["id"])


async def move(conn: Conn, job: int, queue: str) -> None:
    """Somebody moves one job."""
    async with conn.transaction():
        (done,) = await change.relocate(conn, await change.lock_waiting(conn, [job]), queue=queue)
    assert done.outcome == "moved"


async def test_jobs_are_exactly_as_they_were(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 3, metadata={"mine": 1}, tags=["t"], priority=3)
    await add_jobs(conn, 2, queue="b")
    await add_scheduled(conn, 2, priority=4)
    before = await pictures(conn)
    moved = await operate(
        conn, runner, "move_queue", {"queue": "esc", "priority": 2}, {"kind": "work"}
    )
    assert moved["processed"] == 7
    assert await jobs_by(conn, "queue") == {"esc": 7}
    back = await undone(conn, runner, moved, reason="wrong queue")
    assert (back["op_kind"], back["state"], back["undo_of"]) == ("undo", "completed", moved["id"])
    assert back["totals"] == {"processed": {"changed": 7}}
    assert await pictures(conn) == before


async def test_a_new_priority_is_taken_back(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 3, priority=3)
    await add_scheduled(conn, 3, priority=4)
    before = await pictures(conn)
    done = await operate(conn, runner, "set_priority", {"priority": 1}, {"kind": "work"})
    assert (await undone(conn, runner, done))["processed"] == 6
    assert await pictures(conn) == before


async def test_the_old_order_is_kept(conn: Conn, runner: Runner) -> None:
    ids = await add_jobs(conn, 30)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    await undone(conn, runner, moved)
    assert [job.job_id for job in await claim_jobs(conn, "default", 30)] == ids


async def test_stamps_of_an_earlier_move_stay(conn: Conn, runner: Runner) -> None:
    """Moved there and back before, so it bears the stamp already; the undo takes away only what its operation stamped."""
    (job,) = await add_jobs(conn, 1, metadata={"mine": 1})
    await move(conn, job, "x")
    await move(conn, job, "default")
    before = await pictures(conn)
    assert before[0]["metadata"] == {"mine": 1, "_awa_original_queue": "default"}
    spec = {"queue": "esc", "priority": 1}
    moved = await operate(conn, runner, "move_queue", spec, {"kind": "work"})
    (item,) = await rows(conn, "SELECT before FROM awa.batch_operation_items")
    assert item["before"] == {
        "queue": "default",
        "priority": 2,
        "metadata": {"_awa_original_queue": "default"},
    }
    await undone(conn, runner, moved)
    assert await pictures(conn) == before


async def test_the_same_for_a_deferred_job(conn: Conn, runner: Runner) -> None:
    (job,) = await add_scheduled(conn, 1)
    await move(conn, job, "x")
    before = await pictures(conn)
    moved = await operate(conn, runner, "move_queue", {**TO, "priority": 1}, {"kind": "work"})
    await undone(conn, runner, moved)
    assert await pictures(conn) == before


async def test_jobs_with_an_ordering_key_get_their_shard_back(conn: Conn, runner: Runner) -> None:
    """Through a queue of one shard, where all routes are one."""
    await queues.set_enqueue_shards(conn, "default", 4)
    for key in "abcdefgh":
        await add_jobs(conn, 1, ordering_key=key)
        await add_scheduled(conn, 1, ordering_key=key)
    before = await pictures(conn)
    assert len({row["enqueue_shard"] for row in before}) > 1
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    assert await jobs_by(conn, "enqueue_shard") == {0: 16}
    back = await undone(conn, runner, moved)
    assert back["processed"] == 16
    assert await pictures(conn) == before
    again = await undone(conn, runner, back)
    assert again["processed"] == 16
    assert await jobs_by(conn, "enqueue_shard") == {0: 16}


async def test_an_undo_is_undone_and_that_one_too(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 3, metadata={"mine": 1})
    await add_scheduled(conn, 2)
    before = await pictures(conn)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    after = await pictures(conn)
    back = await undone(conn, runner, moved)
    again = await undone(conn, runner, back)
    assert (again["undo_of"], again["spec"]["op_kind"]) == (back["id"], "move_queue")
    assert await pictures(conn) == after
    assert (await undone(conn, runner, again))["processed"] == 5
    assert await pictures(conn) == before


async def test_what_is_not_as_it_was_left_is_skipped_and_says_why(
    conn: Conn, runner: Runner
) -> None:
    world = await World.on(conn)
    first, second, moved_away, came_back, cancelled, kept = await add_jobs(conn, 6)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    runs, ends = await world.claim(queue="esc", limit=2)
    assert [runs.job_id, ends.job_id] == [first, second]
    await world.finish([ends])
    await move(conn, moved_away, "elsewhere")
    await move(conn, came_back, "elsewhere")
    await move(conn, came_back, "esc")
    await world.cancel([cancelled])
    back = await undone(conn, runner, moved)
    assert back["totals"] == {
        "processed": {"changed": 1},
        "skipped": {
            "claimed": 1,
            "finished": 1,
            "moved": 1,
            "changed_since": 1,
            "cancelled": 1,
        },
    }
    assert await value(conn, "SELECT queue FROM awa.jobs WHERE id = %s", kept) == "default"
    assert await value(conn, "SELECT queue FROM awa.jobs WHERE id = %s", came_back) == "esc"


async def test_a_job_that_was_tried_since_is_left_alone(conn: Conn, runner: Runner) -> None:
    world = await World.on(conn)
    await add_jobs(conn, 1)
    (deferred,) = await add_scheduled(conn, 1)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    await promote(conn, [deferred])
    await world.finish(await world.claim(queue="esc", limit=2), "retried", delay_s=60.0)
    assert (await undone(conn, runner, moved))["totals"] == {"skipped": {"changed_since": 2}}
    assert await jobs_by(conn, "queue") == {"esc": 2}


async def test_a_job_whose_time_has_come_since_is_put_back(conn: Conn, runner: Runner) -> None:
    scheduled = await add_scheduled(conn, 2)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    await promote(conn, scheduled)
    assert (await undone(conn, runner, moved))["processed"] == 2
    found = await rows(conn, "SELECT queue, state, metadata FROM awa.jobs")
    assert found == 2 * [{"queue": "default", "state": "available", "metadata": {}}]


async def test_a_deferred_job_that_was_moved_since_is_left_alone(
    conn: Conn, runner: Runner
) -> None:
    job, other = await add_scheduled(conn, 2)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    await move(conn, job, "elsewhere")
    async with conn.transaction():
        await change.relocate(conn, await change.lock_waiting(conn, [other]), priority=1)
    assert (await undone(conn, runner, moved))["totals"] == {"skipped": {"moved": 2}}


async def test_only_what_was_changed_is_listed(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 3)
    await add_jobs(conn, 2, queue="esc")
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    assert moved["totals"] == {"processed": {"changed": 3}, "skipped": {"noop": 2}}
    back = await undone(conn, runner, moved)
    assert (back["total_matched"], back["processed"]) == (3, 3)
    assert await jobs_by(conn, "queue") == {"default": 3, "esc": 2}


@pytest.mark.parametrize("rows_a_page", [1, 7])
async def test_pages_of_its_scan_go_by_key(
    conn: Conn, pool: Pool, monkeypatch: pytest.MonkeyPatch, rows_a_page: int
) -> None:
    """One page a transaction, and a new leader for each: nothing is listed twice, nothing left out."""
    await add_jobs(conn, 20)
    moved = await operate(
        conn, await new_runner(conn, pool), "move_queue", TO, {"kind": "work"}, max_jobs=15
    )
    monkeypatch.setattr("awa.operations.pace.PAGE_START_ROWS", rows_a_page)
    monkeypatch.setattr("awa.operations.pace.PAGE_MIN_ROWS", rows_a_page)
    monkeypatch.setattr("awa.operations.pace.PAGE_MAX_ROWS", rows_a_page)
    monkeypatch.setattr("awa.operations.pace.PAGE_AIM", 0.0)
    begun = await undo(conn, moved["id"])
    seen = []
    while begun["state"] != "running":
        assert await (await new_runner(conn, pool)).step()
        begun = await check_sums(conn, begun["id"])
        seen.append(begun["total_matched"])
    assert seen == sorted(seen)
    assert (begun["total_matched"], len(set(seen)) > 2) == (15, True)
    await run_to_end(await new_runner(conn, pool))
    assert (await check_sums(conn, begun["id"]))["processed"] == 15


async def test_it_is_steered_like_any_operation(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 30)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    begun = await undo(conn, moved["id"], max_rows_per_second=10, reason="oops", actor="ada")
    while not begun["processed"]:
        assert await runner.step()
        begun = await check_sums(conn, begun["id"])
    assert (begun["processed"], begun["paced_until"] is not None) == (10, True)
    paused = await control.pause(conn, begun["id"])
    assert (paused["state"], await run_to_end(runner)) == ("paused", 0)
    await control.resume(conn, begun["id"])
    await control.change(conn, begun["id"], {"max_rows_per_second": None})
    await run_to_end(runner)
    assert (await check_sums(conn, begun["id"]))["processed"] == 30
    first = (await read.events(conn, begun["id"]))[0]
    assert (first["actor"], first["reason"], first["to_state"]) == ("ada", "oops", "pending")


async def test_a_cancelled_operation_is_undone_as_far_as_it_came(
    conn: Conn, runner: Runner
) -> None:
    await add_jobs(conn, 30)
    begun = await submit(conn, "move_queue", {"kind": "work"}, TO, max_rows_per_second=10)
    while not begun["processed"]:
        assert await runner.step()
        begun = await read.get(conn, begun["id"])
    await control.cancel(conn, begun["id"])
    await run_to_end(runner)
    back = await undone(conn, runner, begun)
    assert (back["total_matched"], back["processed"]) == (10, 10)
    assert await jobs_by(conn, "queue") == {"default": 30}


async def test_a_second_undo_takes_what_the_first_left(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 10)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    first = await undone(conn, runner, moved, max_jobs=4)
    assert (first["total_matched"], first["processed"]) == (4, 4)
    second = await undone(conn, runner, moved)
    assert (second["total_matched"], second["processed"]) == (6, 6)
    assert await jobs_by(conn, "queue") == {"default": 10}
    shown = (await read.get(conn, moved["id"]))["undos"]
    assert [(one["id"], one["processed"]) for one in shown] == [
        (str(first["id"]), 4),
        (str(second["id"]), 6),
    ]
    with pytest.raises(Conflict, match="has been undone already") as refused:
        await undo(conn, moved["id"])
    assert refused.value.details == {
        "state": "completed",
        "undo": str(second["id"]),
        "undo_state": "completed",
    }


async def test_a_key_of_another_job_is_an_error_that_names_the_holder(
    conn: Conn, runner: Runner
) -> None:
    world = await World.on(conn)
    job = await world.enqueue_unique(by_queue=True)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "k"})
    holder = await world.enqueue_unique(by_queue=True)
    back = await undone(conn, runner, moved)
    assert back["totals"] == {"errored": {"unique_conflict": 1}}
    (item,) = await rows(
        conn, "SELECT job_id, error FROM awa.batch_operation_items WHERE state = 'errored'"
    )
    assert item == {
        "job_id": job,
        "error": f"job {holder} holds its unique key in queue default",
    }


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"operation_id": UNKNOWN, "op_kind": "undo"},
        {"operation_id": UNKNOWN, "op_kind": "move_queue"},
        {"op_kind": 1},
    ],
)
async def test_an_undo_that_makes_no_sense_fails(conn: Conn, runner: Runner, spec: Row) -> None:
    """SQL may have stored anything."""
    await add_jobs(conn, 1)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    begun = await undo(conn, moved["id"])
    await conn.execute(
        "UPDATE awa.batch_operations SET spec = %s WHERE id = %s",
        [Jsonb(spec), begun["id"]],
    )
    await run_to_end(runner)
    assert (await read.get(conn, begun["id"]))["state"] == "failed"
    assert await jobs_by(conn, "queue") == {"esc": 1}


async def test_items_that_somebody_deleted_are_not_waited_for(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 2)
    moved = await operate(conn, runner, "move_queue", TO, {"kind": "work"})
    begun = await undo(conn, moved["id"])
    while begun["state"] != "running":
        assert await runner.step()
        begun = await read.get(conn, begun["id"])
    await conn.execute(
        "DELETE FROM awa.batch_operation_items WHERE operation_id = %s", [moved["id"]]
    )
    await run_to_end(runner)
    assert (await check_sums(conn, begun["id"]))["totals"] == {"skipped": {"forgotten": 2}}
