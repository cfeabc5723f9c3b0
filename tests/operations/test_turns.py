"""Whose turn it is: urgent ones first, equals in turn, at most two under way, none in the way of others."""

from typing import Any

from awa.db.pool import Pool
from awa.operations import read
from awa.operations.runner import Runner
from awa.operations.submit import submit
from tests.operations.kit import (
    Conn,
    Row,
    add_jobs,
    new_runner,
    rows,
    run_to_end,
)


async def big(conn: Conn, queue: str, **more: Any) -> Row:
    """An operation of 600 jobs, so of several chunks."""
    await add_jobs(conn, 600, queue=queue)
    return await submit(conn, "set_priority", {"queue": queue}, {"priority": 1}, **more)


async def progress(conn: Conn) -> dict[str, tuple[str, int]]:
    """State and accounted items of each operation, by the queue of its filter."""
    found = await rows(
        conn, "SELECT filter ->> 'queue' AS q, state, processed FROM awa.batch_operations"
    )
    return {row["q"]: (row["state"], row["processed"]) for row in found}


async def test_equal_operations_take_turns(conn: Conn, runner: Runner) -> None:
    await big(conn, "a")
    await big(conn, "b")
    lead = 0
    while await runner.step():
        seen = await progress(conn)
        lead = max(lead, abs(seen["a"][1] - seen["b"][1]))
    assert {state for state, _ in (await progress(conn)).values()} == {"completed"}
    assert lead < 600, "neither waited until the other was through"


async def test_at_most_two_are_under_way(conn: Conn, runner: Runner) -> None:
    for queue in "abcd":
        await big(conn, queue)
    while await runner.step():
        states = [state for state, _ in (await progress(conn)).values()]
        assert sum(state in {"scanning", "running"} for state in states) <= 2
    assert {state for state, _ in (await progress(conn)).values()} == {"completed"}


async def test_concurrency_is_a_setting(conn: Conn, pool: Pool) -> None:
    runner = await new_runner(conn, pool, batch_concurrency=1)
    await big(conn, "a")
    await big(conn, "b")
    while await runner.step():
        seen = await progress(conn)
        assert seen["b"][0] == "pending" or seen["a"][0] == "completed"


async def test_an_urgent_operation_does_not_wait_for_large_ones(conn: Conn, runner: Runner) -> None:
    await big(conn, "a")
    await big(conn, "b")
    while (await progress(conn))["b"][1] == 0:
        await runner.step()
    await add_jobs(conn, 10, queue="urgent")
    urgent = await submit(conn, "set_priority", {"queue": "urgent"}, {"priority": 1}, priority=1)
    before = await progress(conn)
    while (await read.get(conn, urgent["id"]))["state"] != "completed":
        await runner.step()
    after = await progress(conn)
    assert (after["a"], after["b"]) == (before["a"], before["b"])
    await run_to_end(runner)
    assert {state for state, _ in (await progress(conn)).values()} == {"completed"}


async def test_one_that_waits_takes_no_place(conn: Conn, runner: Runner) -> None:
    for queue in "abc":
        await big(conn, queue)
    while (await progress(conn))["b"][1] == 0:
        await runner.step()
    await conn.execute(
        "UPDATE awa.batch_operations SET wait_until = now() + interval '1 hour'"
        " WHERE filter ->> 'queue' IN ('a', 'b')"
    )
    while await runner.step():
        pass
    seen = await progress(conn)
    assert seen["c"][0] == "completed"
    assert "completed" not in {seen["a"][0], seen["b"][0]}


async def test_nothing_to_do_is_told(runner: Runner) -> None:
    assert not await runner.step()
