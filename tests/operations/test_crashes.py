"""Whatever dies wherever: the next runner goes on, every sum is exact, nothing is done twice."""

from typing import Any

import pytest

from awa.db import run
from awa.db.pool import Pool
from awa.model.errors import DatabaseError
from awa.operations import control, fence, read
from awa.operations.fence import LeaseLost
from awa.operations.runner import Runner
from awa.operations.submit import submit
from awa.operations.undo import undo
from tests.conftest import Connect
from tests.operations.kit import (
    Conn,
    add_jobs,
    add_scheduled,
    check_sums,
    claim_jobs,
    jobs_by,
    new_runner,
    run_to_end,
)


class Killed(Exception):
    """The process died."""


def kill_at(monkeypatch: pytest.MonkeyPatch, statement: str, *, after: bool) -> list[str]:
    """Die right before or after a statement was run, once; returns what died."""
    died: list[str] = []
    originals: dict[str, Any] = {"rows": run.rows, "rows_of": run.rows_of}

    async def rows(conn: Conn, name: str, params: Any = None) -> Any:
        if name == statement and not died and not after:
            died.append(name)
            raise Killed
        found = await originals["rows"](conn, name, params)
        if name == statement and not died:
            died.append(name)
            raise Killed
        return found

    async def rows_of(conn: Conn, text: Any, params: Any = None) -> Any:
        shown = text if isinstance(text, str) else text.as_string(conn)
        mine = f"/* awa:{statement} */" in shown and not died
        if mine and not after:
            died.append(statement)
            raise Killed
        found = await originals["rows_of"](conn, text, params)
        if mine:
            died.append(statement)
            raise Killed
        return found

    monkeypatch.setattr(run, "rows", rows)
    monkeypatch.setattr(run, "rows_of", rows_of)
    return died


STATEMENTS = [
    "operations/next",
    "operations/hold",
    "operations/transition",
    "operations/begin_scan",
    "operations/scan_deferred",
    "operations/scan_lane",
    "operations/account_scan",
    "operations/pick",
    "operations/change",
]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("statement", STATEMENTS)
async def test_a_runner_that_dies_around_a_statement_has_done_nothing_twice(
    conn: Conn, pool: Pool, monkeypatch: pytest.MonkeyPatch, statement: str, after: bool
) -> None:
    await add_jobs(conn, 180)
    await add_scheduled(conn, 40)
    submitted = await submit(conn, "move_queue", {"kind": "work"}, {"queue": "b"})
    with monkeypatch.context() as dying:
        died = kill_at(dying, statement, after=after)
        with pytest.raises(Killed):
            await run_to_end(await new_runner(conn, pool))
    assert died == [statement]
    await check_sums(conn, submitted["id"])
    await run_to_end(await new_runner(conn, pool))
    done = await check_sums(conn, submitted["id"])
    assert (done["state"], done["totals"]) == ("completed", {"processed": {"changed": 220}})
    assert await jobs_by(conn, "queue") == {"b": 220}
    assert len(await claim_jobs(conn, "b", 1_000)) == 180


async def test_each_step_by_another_runner_and_the_sums_hold_at_every_commit(
    conn: Conn, pool: Pool
) -> None:
    await add_jobs(conn, 350, queue="a")
    await add_jobs(conn, 20, queue="a", priority=1)
    await add_scheduled(conn, 50, queue="a")
    submitted = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    runners = set()
    operation = submitted
    while await (await new_runner(conn, pool)).step():
        operation = await check_sums(conn, submitted["id"])
        runners.add(operation["runner_instance"])
    assert operation["state"] == "completed"
    assert operation["totals"] == {"processed": {"changed": 400}, "skipped": {"noop": 20}}
    assert len(runners) > 5
    assert await jobs_by(conn, "priority") == {1: 420}


async def test_a_connection_that_is_lost_concludes_nothing(
    conn: Conn, pool: Pool, runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_jobs(conn, 150)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    while (await read.get(conn, submitted["id"]))["state"] != "running":
        await runner.step()
    original = run.rows

    async def rows(on: Conn, name: str, params: Any = None) -> Any:
        found = await original(on, name, params)
        if name == "operations/pick":
            await conn.execute("SELECT pg_terminate_backend(%s)", [on.info.backend_pid])
        return found

    with monkeypatch.context() as broken:
        broken.setattr(run, "rows", rows)
        with pytest.raises(DatabaseError):
            await runner.step()
    operation = await check_sums(conn, submitted["id"])
    assert (operation["state"], operation["processed"], operation["errored"]) == ("running", 0, 0)
    await run_to_end(runner)
    assert (await check_sums(conn, submitted["id"]))["processed"] == 150


@pytest.mark.parametrize("steps", [0, 1, 3, 4])
async def test_a_deposed_runner_changes_nothing(conn: Conn, pool: Pool, steps: int) -> None:
    await add_jobs(conn, 600)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    old = await new_runner(conn, pool)
    for _ in range(steps):
        await old.step()
    before = await read.get(conn, submitted["id"])
    new = await new_runner(conn, pool)
    with pytest.raises(LeaseLost):
        await old.step()
    assert await read.get(conn, submitted["id"]) == before
    await run_to_end(new)
    assert (await check_sums(conn, submitted["id"]))["processed"] == 600


async def test_a_lease_that_ran_out_is_lost(conn: Conn, runner: Runner) -> None:
    await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    await conn.execute("UPDATE awa.leases SET expires_at = now() - interval '1 s'")
    with pytest.raises(LeaseLost):
        await runner.step()


async def test_two_chunks_of_one_operation_never_overlap(
    conn: Conn, connect: Connect, pool: Pool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A chunk that is under way holds the operation's row; another one gives up and tries later."""
    monkeypatch.setattr(fence, "LOCK_WAIT_MAX_MS", 50)
    await add_jobs(conn, 150)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    runner = await new_runner(conn, pool)
    while (await read.get(conn, submitted["id"]))["state"] != "running":
        await runner.step()
    stuck = await connect()
    async with stuck.transaction():
        await run.row(stuck, "operations/hold", {"id": submitted["id"]})
        with pytest.raises(DatabaseError):
            await runner.step()
    assert (await check_sums(conn, submitted["id"]))["processed"] == 0
    await run_to_end(runner)
    assert (await check_sums(conn, submitted["id"]))["processed"] == 150


async def test_a_cancellation_is_finished_by_the_next_runner(conn: Conn, pool: Pool) -> None:
    await add_jobs(conn, 250)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    runner = await new_runner(conn, pool)
    while (await read.get(conn, submitted["id"]))["processed"] == 0:
        await runner.step()
    await control.cancel(conn, submitted["id"])
    await run_to_end(await new_runner(conn, pool))
    done = await check_sums(conn, submitted["id"])
    assert (done["state"], done["processed"] + done["pending"]) == ("cancelled", 250)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "statement", ["operations/begin_scan", "operations/scan_undone", "operations/change"]
)
async def test_nor_has_one_that_dies_around_a_statement_of_an_undo(
    conn: Conn, pool: Pool, monkeypatch: pytest.MonkeyPatch, statement: str, after: bool
) -> None:
    await add_jobs(conn, 180)
    await add_scheduled(conn, 40)
    moved = await submit(conn, "move_queue", {"kind": "work"}, {"queue": "b"})
    await run_to_end(await new_runner(conn, pool))
    begun = await undo(conn, moved["id"])
    with monkeypatch.context() as dying:
        died = kill_at(dying, statement, after=after)
        with pytest.raises(Killed):
            await run_to_end(await new_runner(conn, pool))
    assert died == [statement]
    await check_sums(conn, begun["id"])
    await run_to_end(await new_runner(conn, pool))
    done = await check_sums(conn, begun["id"])
    assert (done["state"], done["totals"]) == ("completed", {"processed": {"changed": 220}})
    assert await jobs_by(conn, "queue") == {"default": 220}
    assert len(await claim_jobs(conn, "default", 1_000)) == 180
