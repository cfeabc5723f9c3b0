"""How fast an operation goes, when it begins and how much it takes: by its own recorded times, whatever the machine does."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from awa.db.pool import Pool
from awa.model.errors import ValidationError
from awa.model.steering import changes_in_words, operation_changes
from awa.operations import control, read
from awa.operations.runner import Runner
from awa.operations.submit import submit
from tests.operations.kit import (
    Conn,
    Row,
    add_jobs,
    add_scheduled,
    check_sums,
    new_runner,
    rows,
    run_to_end,
    value,
)

A_MOMENT = timedelta(milliseconds=1)


async def after_a_chunk(conn: Conn, runner: Runner, jobs: int, rate: int) -> Row:
    """An operation that has changed one chunk at a rate."""
    await add_jobs(conn, jobs)
    operation = await submit(
        conn, "set_priority", {"kind": "work"}, {"priority": 1}, max_rows_per_second=rate
    )
    while not operation["processed"]:
        await runner.step()
        operation = await check_sums(conn, operation["id"])
    return operation


async def test_the_rate_bounds_a_chunk_and_the_time_until_the_next(
    conn: Conn, runner: Runner
) -> None:
    first = await after_a_chunk(conn, runner, 30, 7)
    assert first["processed"] == 7
    changed_at = await value(conn, "SELECT min(processed_at) FROM awa.batch_operation_items")
    began = first["paced_until"] - timedelta(seconds=1)
    assert first["started_at"] <= began <= changed_at, "a second after the chunk's beginning"
    assert not await runner.step(now=first["paced_until"] - A_MOMENT)
    assert await runner.step(now=first["paced_until"])
    assert (await check_sums(conn, first["id"]))["processed"] == 14


async def test_no_more_is_changed_than_the_rate_allows(conn: Conn, pool: Pool) -> None:
    """At each moment: rate times the time since the beginning, and one chunk. True however slow or fast this machine is."""
    rate = 500
    await add_jobs(conn, 1_600)
    runner = await new_runner(conn, pool)
    operation = await submit(
        conn, "set_priority", {"kind": "work"}, {"priority": 1}, max_rows_per_second=rate
    )
    stop = asyncio.Event()
    serving = asyncio.create_task(runner.run(stop))
    while operation["state"] != "completed":
        await asyncio.sleep(0)  # lets the runner run
        operation = await read.get(conn, operation["id"])
    stop.set()
    await serving
    chunks = [point["items"] for point in operation["chunk_times"]]
    assert (sum(chunks), max(chunks) <= rate) == (1_600, True)
    seen = await rows(
        conn,
        "SELECT extract(epoch FROM processed_at - %s)::float8 AS at_s, count(*) OVER (ORDER BY processed_at) AS done"
        "  FROM awa.batch_operation_items",
        operation["started_at"],
    )
    assert all(row["done"] <= rate * row["at_s"] + max(chunks) for row in seen)


async def test_faster_counts_at_once(conn: Conn, runner: Runner) -> None:
    before = await after_a_chunk(conn, runner, 300, 2)  # waits for a second
    # As if the next chunk were due in an hour: the machine's own time says nothing here.
    await conn.execute("UPDATE awa.batch_operations SET paced_until = now() + interval '1 hour'")
    changed = await control.change(conn, before["id"], {"max_rows_per_second": 8})
    left = changed["paced_until"] - changed["updated_at"]
    assert timedelta(minutes=14) < left <= timedelta(minutes=15), "a quarter of the time"
    changed = await control.change(conn, before["id"], {"max_rows_per_second": None})
    assert changed["paced_until"] is None
    assert await runner.step()
    after = await check_sums(conn, before["id"])
    assert after["processed"] >= 12, "as many as a chunk takes, however slow it was, and no wait"
    assert after["paced_until"] is None


async def test_slower_counts_after_the_present_chunk(conn: Conn, runner: Runner) -> None:
    before = await after_a_chunk(conn, runner, 300, 50)
    changed = await control.change(conn, before["id"], {"max_rows_per_second": 2})
    assert changed["paced_until"] == before["paced_until"], "what was taken was allowed"
    assert await runner.step(now=before["paced_until"])
    after = await check_sums(conn, before["id"])
    assert after["processed"] == 52
    assert after["paced_until"] <= after["updated_at"] + timedelta(seconds=1)


async def test_a_limit_that_comes_while_it_runs_bounds_the_next_chunk(
    conn: Conn, runner: Runner
) -> None:
    await add_jobs(conn, 250)
    operation = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    while not operation["processed"]:
        await runner.step()
        operation = await read.get(conn, operation["id"])
    await control.change(conn, operation["id"], {"max_rows_per_second": 3})
    assert await runner.step()
    after = await check_sums(conn, operation["id"])
    assert after["processed"] == operation["processed"] + 3
    assert after["paced_until"] is not None


async def test_nobody_gets_past_a_limit_by_pausing(conn: Conn, runner: Runner) -> None:
    before = await after_a_chunk(conn, runner, 30, 1)
    await control.pause(conn, before["id"])
    resumed = await control.resume(conn, before["id"])
    assert resumed["paced_until"] == before["paced_until"]
    assert not await runner.step(now=before["paced_until"] - A_MOMENT)


async def test_the_priority_of_the_operation_counts_from_the_next_chunk(
    conn: Conn, pool: Pool
) -> None:
    runner = await new_runner(conn, pool, batch_concurrency=1)
    for queue in ("a", "b"):
        await add_jobs(conn, 150, queue=queue)
    first = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1})
    second = await submit(conn, "set_priority", {"queue": "b"}, {"priority": 1})
    while (await read.get(conn, first["id"]))["state"] != "running":
        await runner.step()
    await control.change(conn, second["id"], {"priority": 1})
    while (await read.get(conn, second["id"]))["state"] != "completed":
        await runner.step()
    assert (await check_sums(conn, first["id"]))["processed"] == 0


async def test_it_does_not_begin_before_its_time(conn: Conn, runner: Runner) -> None:
    begins = datetime.now(UTC) + timedelta(hours=1)
    await add_jobs(conn, 3)
    operation = await submit(
        conn, "set_priority", {"kind": "work"}, {"priority": 1}, not_before=begins
    )
    assert operation["not_before"] == begins
    await control.pause(conn, operation["id"])
    await control.resume(conn, operation["id"])
    assert not await runner.step(now=begins - A_MOMENT)
    assert await runner.step(now=begins)
    assert (await read.get(conn, operation["id"]))["state"] == "scanning"


@pytest.mark.parametrize(
    ("where", "most", "listed"),
    [
        ({"kind": "work"}, 25, 25),
        ({"kind": "work"}, 45, 45),
        ({"kind": "work"}, 60, 60),
        ({"kind": "work"}, 61, 60),
        ({"state": "available"}, 7, 7),
        ({"ids": list(range(1, 2_000))}, 31, 31),
    ],
)
async def test_it_takes_at_most_so_many_jobs(
    conn: Conn, runner: Runner, where: dict[str, Any], most: int, listed: int
) -> None:
    await add_scheduled(conn, 20)
    await add_jobs(conn, 20, queue="a")
    await add_jobs(conn, 20, queue="b")
    operation = await submit(conn, "set_priority", where, {"priority": 1}, max_jobs=most)
    await run_to_end(runner)
    done = await check_sums(conn, operation["id"])
    assert (done["state"], done["total_matched"]) == ("completed", listed)
    assert done["totals"] == {"processed": {"changed": listed}}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"max_jobs": 0}, "max_jobs"),
        ({"max_jobs": True}, "max_jobs"),
        ({"max_rows_per_second": 1_000_001}, "max_rows_per_second"),
        ({"not_before": datetime(2026, 6, 1)}, "not_before"),  # noqa: DTZ001
    ],
)
async def test_terms_that_make_no_sense_are_refused(
    conn: Conn, given: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationError) as refused:
        await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1}, **given)
    assert [problem.field for problem in refused.value.fields] == [field]


def test_what_is_to_change_is_checked() -> None:
    assert operation_changes(None) == {"max_rows_per_second": None}
    assert operation_changes(5, 1) == {"max_rows_per_second": 5, "priority": 1}
    for wrong in ({}, {"max_rows_per_second": 0}, {"priority": 5}, {"max_rows_per_second": "5"}):
        with pytest.raises(ValidationError):
            operation_changes(**wrong)


def test_changes_are_told_in_words() -> None:
    changes = {"max_rows_per_second": [None, 1_500], "priority": [2, 1]}
    assert changes_in_words(changes) == "rate no limit → 1,500/s, priority 2 → 1"
    assert changes_in_words(None) == ""
