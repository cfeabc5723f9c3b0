"""Membership is frozen once, completely: whatever moves while the scan walks, no job is missed or listed twice."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from awa.db import run
from awa.model.filter import JobFilter
from awa.model.operation import operation_from_row
from awa.operations import read
from awa.operations.runner import Runner
from awa.operations.scan import Scan, phases
from awa.operations.submit import submit
from awa.storage import change
from tests.conftest import Connect
from tests.operations.kit import (
    Conn,
    a_runtime,
    add_jobs,
    add_scheduled,
    claim_jobs,
    promote,
    rows,
    value,
)

Action = Callable[[], Awaitable[object]]


async def begin(conn: Conn, where: dict[str, Any], **more: Any) -> Any:
    """Submit an operation and fix what its scan may see; returns its id."""
    submitted = await submit(conn, "set_priority", where, {"priority": 1}, allow_all=True, **more)
    first = phases(JobFilter.parse(where))[0]
    params = {"id": submitted["id"], "phase": first, "now": None}
    await run.row(conn, "operations/begin_scan", params)
    return submitted["id"]


async def walk(
    conn: Conn, operation_id: Any, *, size: int = 100, before: dict[str, Action] | None = None
) -> tuple[list[int], int]:
    """Scan to the end, acting once before the first page of a phase; returns ids listed and rows walked."""
    row = await run.row(conn, "operations/hold", {"id": operation_id})
    assert row is not None
    operation = operation_from_row(row)
    given = JobFilter.parse(operation.filter)
    actions = dict(before or {})
    cursor: dict[str, Any] | None = operation.cursor
    walked = listed = 0
    while cursor is not None:
        if action := actions.pop(cursor["phase"], None):
            await action()
        page = await Scan(conn, operation, given).page(cursor, size)
        walked, listed, cursor = walked + page.rows, listed + page.listed, page.cursor
    assert not actions, f"never came to {actions}"
    found = await rows(
        conn,
        "SELECT job_id FROM awa.batch_operation_items WHERE operation_id = %s ORDER BY 1",
        operation_id,
    )
    assert len(found) == listed
    return [row["job_id"] for row in found], walked


def move(conn: Conn, ids: list[int], queue: str) -> Action:
    """An action that moves jobs to another queue."""

    async def moved() -> None:
        async with conn.transaction():
            locked = await change.lock_waiting(conn, ids)
            assert len(locked) == len(ids)
            await change.relocate(conn, locked, queue=queue)

    return moved


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
async def test_pages_neither_skip_nor_repeat(conn: Conn, size: int) -> None:
    ids = await add_jobs(conn, 7, queue="a") + await add_scheduled(conn, 5, queue="a")
    ids += await add_jobs(conn, 4, queue="b", priority=1) + await add_jobs(conn, 3, queue="b")
    listed, walked = await walk(conn, await begin(conn, {"kind": "work"}), size=size)
    assert listed == ids
    assert walked == 19


async def test_a_filter_narrows_what_is_walked(conn: Conn) -> None:
    await add_jobs(conn, 30, queue="a")
    wanted = await add_jobs(conn, 4, queue="b", priority=1)
    await add_jobs(conn, 5, queue="b", priority=3)
    later = await add_scheduled(conn, 3, queue="b", priority=1)
    await add_scheduled(conn, 20, queue="a")
    cases: list[tuple[dict[str, Any], list[int], int]] = [
        ({"queue": "b", "priority": 1}, wanted + later, 7),
        ({"queues": ["b"], "priority": 1, "state": "available"}, wanted, 4),
        ({"queue": "b", "state": "scheduled"}, later, 3),
        ({"ids": [*wanted[:2], 10**9], "queue": "b"}, wanted[:2], 3),
    ]
    for where, expected, most in cases:
        listed, walked = await walk(conn, await begin(conn, where), size=2)
        assert (listed, walked) == (expected, most), where


async def test_what_has_been_claimed_is_not_walked(conn: Conn) -> None:
    await add_jobs(conn, 300)
    runtime = await a_runtime(conn)
    for _ in range(3):
        await claim_jobs(conn, "default", 95, runtime)
    listed, walked = await walk(conn, await begin(conn, {"kind": "work"}), size=10)
    assert len(listed) == walked == 15


async def test_jobs_that_came_later_are_no_members(conn: Conn, runner: Runner) -> None:
    ids = await add_jobs(conn, 5) + await add_scheduled(conn, 5)
    operation_id = await begin(conn, {"kind": "work"})

    async def arrive() -> None:
        await add_jobs(conn, 20)
        await add_scheduled(conn, 20)

    listed, _ = await walk(conn, operation_id, before={"deferred": arrive})
    assert listed == ids


@pytest.mark.parametrize("phase", ["deferred", "window", "late", "owed", "since"])
async def test_jobs_that_move_between_lanes_meanwhile_are_members(conn: Conn, phase: str) -> None:
    """Both ways: out of lanes that are not walked yet into those that are, and back."""
    first = await add_jobs(conn, 4, queue="a")
    second = await add_jobs(conn, 4, queue="b")
    for goes, queue in [(second, "a"), (first, "b"), (second, "new")]:
        operation_id = await begin(conn, {"kind": "work"})
        action = move(conn, goes[1:3], queue)
        listed, _ = await walk(conn, operation_id, size=2, before={phase: action})
        assert listed == first + second, (goes, queue)


async def test_a_job_that_moves_in_the_middle_of_a_lane_is_a_member(conn: Conn) -> None:
    """Out of a lane that is walked after the present one, into one that was walked before."""
    first = await add_jobs(conn, 4, queue="a")
    second = await add_jobs(conn, 4, queue="b")
    operation_id = await begin(conn, {"kind": "work"})
    row = await run.row(conn, "operations/hold", {"id": operation_id})
    assert row is not None
    operation = operation_from_row(row)
    cursor: dict[str, Any] | None = operation.cursor
    moved = False
    while cursor is not None:
        page = await Scan(conn, operation, JobFilter.parse(operation.filter)).page(cursor, 3)
        cursor = page.cursor
        if not moved and cursor and cursor.get("lane") == 2:
            await move(conn, [second[3]], "a")()
            moved = True
    assert moved
    found = await rows(conn, "SELECT job_id FROM awa.batch_operation_items ORDER BY 1")
    assert [row["job_id"] for row in found] == first + second


@pytest.mark.parametrize("phase", ["deferred", "window", "late", "owed", "since"])
async def test_jobs_that_are_promoted_meanwhile_are_members(conn: Conn, phase: str) -> None:
    ids = await add_scheduled(conn, 6)
    operation_id = await begin(conn, {"kind": "work"})

    async def due() -> None:
        await promote(conn, ids[1:4])

    listed, _ = await walk(conn, operation_id, size=2, before={phase: due})
    assert listed == ids


async def test_jobs_whose_transaction_ended_late_are_members(conn: Conn, connect: Connect) -> None:
    slow = await connect(autocommit=False)
    (late,) = await add_jobs(slow, 1)
    ids = await add_jobs(conn, 3)
    await claim_jobs(conn, "default", 2)
    await slow.commit()
    assert late < ids[0]
    listed, _ = await walk(conn, await begin(conn, {"kind": "work"}), size=1)
    assert listed == [late, ids[2]]


@pytest.mark.parametrize("phase", ["window", "late", "owed"])
async def test_jobs_that_a_claim_passes_over_meanwhile_are_members(
    conn: Conn, connect: Connect, phase: str
) -> None:
    """A job that somebody holds locked while a claim passes becomes owed, just in front of the scan."""
    ids = await add_jobs(conn, 6)
    other = await connect()
    operation_id = await begin(conn, {"kind": "work"})

    async def pass_over() -> None:
        async with other.transaction():
            await change.lock_waiting(other, ids[1:3])
            await claim_jobs(conn, "default", 2)

    listed, _ = await walk(conn, operation_id, size=1, before={phase: pass_over})
    assert set(ids[1:3]) <= set(listed)
    assert set(ids[4:]) <= set(listed)


async def test_late_jobs_that_become_owed_meanwhile_are_members(
    conn: Conn, connect: Connect
) -> None:
    slow = await connect(autocommit=False)
    late = await add_jobs(slow, 2)
    await add_jobs(conn, 3)
    runtime = await a_runtime(conn)
    await claim_jobs(conn, "default", 2, runtime)
    await slow.commit()
    other = await connect()
    operation_id = await begin(conn, {"kind": "work"})

    async def claim_around_them() -> None:
        async with other.transaction():
            await change.lock_waiting(other, late)
            await claim_jobs(conn, "default", 1, runtime)

    for phase in ("window", "late", "owed"):
        listed, _ = await walk(conn, operation_id, size=1, before={phase: claim_around_them})
        assert set(late) <= set(listed), phase
        await conn.execute("DELETE FROM awa.batch_operation_items")


async def test_jobs_that_were_cancelled_or_moved_away_are_listed_where_they_are(
    conn: Conn, runner: Runner
) -> None:
    ids = await add_jobs(conn, 9, queue="a")
    async with conn.transaction():
        await change.cancel_waiting(conn, await change.lock_waiting(conn, ids[:3]))
    await move(conn, ids[3:6], "b")()
    listed, _ = await walk(conn, await begin(conn, {"queue": "a"}), size=2)
    assert listed == ids[6:]
    found = await rows(conn, "SELECT lane_seq = job_id AS same FROM awa.batch_operation_items")
    assert all(row["same"] for row in found)


async def test_a_scan_that_is_broken_off_goes_on_with_the_same_bound(
    conn: Conn, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awa.operations.pace.PAGE_START_ROWS", 50)
    await add_jobs(conn, 400)
    await add_scheduled(conn, 400)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    bounds, totals = set(), []
    while (operation := await read.get(conn, submitted["id"]))["state"] != "running":
        await runner.step()
        await add_jobs(conn, 1)
        if operation["scan_bound"] is not None:
            bounds.add(operation["scan_bound"])
            totals.append(operation["total_matched"])
    assert bounds == {800}
    assert totals == sorted(totals)
    assert operation["total_matched"] == 800
    assert await value(conn, "SELECT max(job_id) FROM awa.batch_operation_items") == 800


@pytest.mark.parametrize("place", ["deferred", "lane", "ids"])
async def test_what_is_listed_already_takes_no_place_of_those_that_may_be(
    conn: Conn, place: str
) -> None:
    """Otherwise `max_jobs` would list fewer than it allows, although more match."""
    ids = await (add_jobs if place == "lane" else add_scheduled)(conn, 6, queue="a")
    where: dict[str, Any] = {"ids": ids} if place == "ids" else {"queue": "a"}
    operation_id = await begin(conn, where, max_jobs=3)
    await conn.execute(
        "INSERT INTO awa.batch_operation_items (operation_id, job_id) SELECT %s, unnest(%s::bigint[])",
        [operation_id, ids[:2]],
    )
    row = await run.row(conn, "operations/hold", {"id": operation_id})
    assert row is not None
    operation = operation_from_row(row)
    scan, listed = Scan(conn, operation, JobFilter.parse(where)), 0
    cursor: dict[str, Any] | None = operation.cursor
    while cursor is not None:
        page = await scan.page(cursor, 100)
        listed, cursor = listed + page.listed, page.cursor
    assert listed == 3
    found = await rows(conn, "SELECT job_id FROM awa.batch_operation_items ORDER BY 1")
    assert [row["job_id"] for row in found] == ids[:5]
