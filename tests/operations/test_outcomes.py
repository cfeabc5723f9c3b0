"""Every item is accounted once, with a reason: what became of jobs between scan and chunk."""

from itertools import pairwise
from typing import Any

import pytest

from awa.operations import read
from awa.operations.runner import Runner
from awa.operations.submit import submit
from awa.storage import change
from tests.conftest import Connect
from tests.operations.kit import (
    Conn,
    Row,
    add_jobs,
    add_scheduled,
    check_sums,
    claim_jobs,
    jobs_by,
    operate,
    promote,
    rows,
    run_to_end,
    value,
)
from tests.storage.world import World


async def scanned(
    conn: Conn, runner: Runner, where: dict[str, Any], spec: Any = None, **more: Any
) -> Row:
    """Submit a set_priority (or what is said) and run it up to the end of its scan."""
    kind = "set_priority" if spec is None or "queue" not in spec else "move_queue"
    submitted = await submit(conn, kind, where, spec or {"priority": 1}, **more)
    while (await read.get(conn, submitted["id"]))["state"] != "running":
        await runner.step()
    return await check_sums(conn, submitted["id"])


async def ended(conn: Conn, runner: Runner, operation: Row) -> dict[str, Any]:
    """Run to the end and return the totals."""
    await run_to_end(runner)
    done = await check_sums(conn, operation["id"])
    assert done["state"] == "completed", done["last_error"]
    totals: dict[str, Any] = done["totals"]
    return totals


async def test_claimed_and_finished_jobs_are_skipped(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 10)
    operation = await scanned(conn, runner, {"kind": "work"})
    claimed = await claim_jobs(conn, "default", 4)
    for job, outcome in zip(claimed, ["completed", "failed"], strict=False):
        await conn.execute(
            "SELECT * FROM awa.finish((SELECT id FROM awa.runtimes LIMIT 1),"
            " ARRAY[%s], ARRAY[%s::bigint], ARRAY[%s::bigint], ARRAY[%s])",
            [job.lane_id, job.claim_no, job.lane_seq, outcome],
        )
    assert await ended(conn, runner, operation) == {
        "processed": {"changed": 6},
        "skipped": {"claimed": 2, "finished": 2},
    }
    assert await jobs_by(conn, "priority") == {1: 6, 2: 4}


async def test_cancelled_jobs_are_skipped(conn: Conn, runner: Runner) -> None:
    ready = await add_jobs(conn, 3)
    later = await add_scheduled(conn, 3)
    operation = await scanned(conn, runner, {"kind": "work"})
    async with conn.transaction():
        await change.cancel_waiting(conn, await change.lock_waiting(conn, [ready[0], later[0]]))
    assert await ended(conn, runner, operation) == {
        "processed": {"changed": 4},
        "skipped": {"cancelled": 2},
    }


async def test_jobs_that_are_there_already_are_skipped_as_noop(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 3, priority=1)
    await add_scheduled(conn, 2, priority=1)
    await add_jobs(conn, 4, priority=3)
    done = await operate(conn, runner, "set_priority", {"priority": 1}, {"kind": "work"})
    assert done["totals"] == {"processed": {"changed": 4}, "skipped": {"noop": 5}}
    stamped = await rows(conn, "SELECT id FROM awa.jobs WHERE metadata <> '{}'")
    assert len(stamped) == 4


async def test_jobs_that_no_longer_match_are_skipped_as_drift(conn: Conn, runner: Runner) -> None:
    ids = await add_jobs(conn, 6, queue="a") + await add_scheduled(conn, 2, queue="a")
    operation = await scanned(conn, runner, {"queue": "a"})
    async with conn.transaction():
        locked = await change.lock_waiting(conn, [ids[0], ids[1], ids[7]])
        await change.relocate(conn, locked, queue="b")
    assert await ended(conn, runner, operation) == {
        "processed": {"changed": 5},
        "skipped": {"filter_drift": 3},
    }
    found = await rows(conn, "SELECT id FROM awa.jobs WHERE priority = 2 ORDER BY id")
    assert [row["id"] for row in found] == [ids[0], ids[1], ids[7]]


async def test_jobs_that_moved_but_still_match_are_found_by_id(conn: Conn, runner: Runner) -> None:
    ids = await add_jobs(conn, 4, queue="a", tags=["x"])
    operation = await scanned(conn, runner, {"tag": "x"})
    async with conn.transaction():
        await change.relocate(conn, await change.lock_waiting(conn, ids[:2]), queue="b")
    assert await ended(conn, runner, operation) == {"processed": {"changed": 4}}
    assert await jobs_by(conn, "priority") == {1: 4}
    assert await jobs_by(conn, "queue") == {"a": 2, "b": 2}


@pytest.mark.parametrize("where", [{"kind": "work"}, {"state": "scheduled"}])
async def test_a_job_that_was_promoted_meanwhile_is_still_changed(
    conn: Conn, runner: Runner, where: dict[str, Any]
) -> None:
    ids = await add_scheduled(conn, 4)
    operation = await scanned(conn, runner, where)
    await promote(conn, ids[:3])
    assert await jobs_by(conn, "state") == {"available": 3, "scheduled": 1}
    assert await ended(conn, runner, operation) == {"processed": {"changed": 4}}
    assert await jobs_by(conn, "priority") == {1: 4}


async def test_a_state_filter_for_available_does_not_admit_others(
    conn: Conn, runner: Runner
) -> None:
    await add_jobs(conn, 2)
    operation = await scanned(conn, runner, {"state": "available"})
    assert operation["total_matched"] == 2
    (job,) = await claim_jobs(conn, "default", 1)
    await conn.execute(
        "SELECT * FROM awa.finish((SELECT id FROM awa.runtimes LIMIT 1),"
        " ARRAY[%s], ARRAY[%s::bigint], ARRAY[%s::bigint], ARRAY['retried'], ARRAY[3600.0]::float8[])",
        [job.lane_id, job.claim_no, job.lane_seq],
    )
    assert await jobs_by(conn, "state") == {"available": 1, "retryable": 1}
    assert await ended(conn, runner, operation) == {
        "processed": {"changed": 1},
        "skipped": {"filter_drift": 1},
    }


async def test_a_job_that_is_gone_is_skipped_as_not_found(conn: Conn, runner: Runner) -> None:
    ids = await add_scheduled(conn, 2)
    operation = await scanned(conn, runner, {"kind": "work"})
    await conn.execute("DELETE FROM awa.deferred_jobs WHERE job_id = %s", [ids[0]])
    assert await ended(conn, runner, operation) == {
        "processed": {"changed": 1},
        "skipped": {"not_found": 1},
    }


async def test_locked_jobs_stay_pending_and_are_tried_again(
    conn: Conn, connect: Connect, runner: Runner
) -> None:
    ready = await add_jobs(conn, 5)
    later = await add_scheduled(conn, 5)
    operation = await scanned(conn, runner, {"kind": "work"})
    other = await connect()
    async with other.transaction():
        held = await change.lock_waiting(other, [ready[1], ready[3], later[2]])
        assert len(held) == 3
        await runner.step()
        now = await check_sums(conn, operation["id"])
        assert (now["processed"], now["pending"], now["state"]) == (7, 3, "running")
        assert now["wait_until"] is not None
        waits = not await runner.step(now=now["updated_at"])
        assert waits, "a pass that left something waits before the next"
    assert await ended(conn, runner, operation) == {"processed": {"changed": 10}}
    assert await jobs_by(conn, "priority") == {1: 10}


async def test_the_wait_between_passes_grows_and_is_bounded(
    conn: Conn, connect: Connect, runner: Runner
) -> None:
    (job_id,) = await add_jobs(conn, 1)
    operation = await scanned(conn, runner, {"kind": "work"})
    other = await connect()
    waits: list[float] = []
    async with other.transaction():
        await change.lock_waiting(other, [job_id])
        for _ in range(9):
            await conn.execute("UPDATE awa.batch_operations SET wait_until = NULL")
            assert await runner.step()
            waits.append(
                await value(
                    conn,
                    "SELECT extract(epoch FROM wait_until - updated_at)::float8"
                    " FROM awa.batch_operations WHERE wait_until IS NOT NULL",
                )
            )
    assert all(later >= earlier for earlier, later in pairwise(waits))
    assert waits[0] == pytest.approx(0.2)
    assert waits[-1] == pytest.approx(5.0)
    assert await ended(conn, runner, operation) == {"processed": {"changed": 1}}


async def test_items_remember_what_they_changed(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 1, queue="a", priority=3)
    await add_jobs(conn, 1, queue="a", priority=1)
    await add_scheduled(conn, 1, queue="a", priority=4)
    done = await operate(conn, runner, "move_queue", {"queue": "b", "priority": 1}, {"queue": "a"})
    items, following = await read.items_page(conn, done["id"])
    assert following is None
    assert [item["before"] for item in items] == [
        {"queue": "a", "priority": 3},
        {"queue": "a"},
        {"queue": "a", "priority": 4},
    ]
    assert all(item["processed_at"] is not None for item in items)


async def test_stamps_are_written_once(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 2, queue="a")
    await operate(conn, runner, "move_queue", {"queue": "b"}, {"queue": "a"})
    await operate(conn, runner, "move_queue", {"queue": "c", "priority": 1}, {"queue": "b"})
    found = await rows(conn, "SELECT metadata FROM awa.jobs")
    stamps = {"_awa_original_queue": "a", "_awa_original_priority": 2}
    assert [row["metadata"] for row in found] == [stamps] * 2


async def test_a_move_into_a_paused_queue_succeeds(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 3, queue="a")
    await conn.execute("INSERT INTO awa.queue_meta (queue, paused) VALUES ('b', true)")
    await operate(conn, runner, "move_queue", {"queue": "b"}, {"queue": "a"})
    assert await jobs_by(conn, "state") == {"available": 3}
    assert await claim_jobs(conn, "b", 10) == []
    await conn.execute("UPDATE awa.queue_meta SET paused = false")
    assert len(await claim_jobs(conn, "b", 10)) == 3


async def test_moved_jobs_are_claimed_once_and_in_their_order(conn: Conn, runner: Runner) -> None:
    ids = await add_jobs(conn, 50, queue="a")
    await operate(conn, runner, "move_queue", {"queue": "b"}, {"queue": "a"})
    assert await claim_jobs(conn, "a", 100) == []
    assert [job.job_id for job in await claim_jobs(conn, "b", 100)] == ids
    assert await claim_jobs(conn, "b", 100) == []


async def test_retained_routes_keep_jobs_together(conn: Conn, runner: Runner) -> None:
    await conn.execute(
        "INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES ('wide', 8), ('narrow', 3)"
    )
    for key in "abcdef":
        await add_jobs(conn, 4, queue="wide", ordering_key=key, kind=key)
    before = await rows(conn, "SELECT DISTINCT kind, enqueue_shard FROM awa.jobs ORDER BY kind")
    await operate(conn, runner, "move_queue", {"queue": "narrow"}, {"queue": "wide"})
    after = await rows(conn, "SELECT DISTINCT kind, enqueue_shard FROM awa.jobs ORDER BY kind")
    assert after == [row | {"enqueue_shard": row["enqueue_shard"] % 3} for row in before]


async def test_jobs_whose_key_is_taken_where_they_go_are_errored_and_name_the_holder(
    conn: Conn, runner: Runner
) -> None:
    world = await World.on(conn)
    jobs = [await world.enqueue_unique({"n": n}, by_queue=True) for n in range(5)]
    later = await world.enqueue_unique({"n": 9}, by_queue=True, run_at=await world.now(later_s=60))
    holders = {
        job: await world.enqueue_unique({"n": n}, "there", by_queue=True)
        for job, n in ((jobs[1], 1), (jobs[3], 3), (later, 9))
    }
    operation = await scanned(conn, runner, {"queue": "default"}, {"queue": "there"})
    assert await ended(conn, runner, operation) == {
        "processed": {"changed": 3},
        "errored": {"unique_conflict": 3},
    }
    items, _ = await read.items_page(conn, operation["id"], outcome="errored")
    assert {item["job_id"]: item["error"] for item in items} == {
        job: f"job {holder} holds its unique key in queue there" for job, holder in holders.items()
    }
    places = await world.audit()
    assert {job for job in [*jobs, later] if places[job].queue == "default"} == holders.keys()


async def test_an_item_whose_key_an_open_insert_has_in_its_hands_is_tried_again(
    conn: Conn, runner: Runner, connect: Connect
) -> None:
    world = await World.on(conn)
    (plain,) = await world.enqueue()
    job = await world.enqueue_unique(by_queue=True)
    operation = await scanned(conn, runner, {"queue": "default"}, {"queue": "there"})
    other = await World.on(await connect())
    async with other.rolled_back():
        await other.enqueue_unique(queue="there", by_queue=True)
        await runner.step()
        seen = await check_sums(conn, operation["id"])
        assert (seen["processed"], seen["pending"], seen["errored"]) == (1, 1, 0)
    assert await ended(conn, runner, operation) == {"processed": {"changed": 2}}
    places = await world.audit()
    assert {places[one].queue for one in (plain, job)} == {"there"}
