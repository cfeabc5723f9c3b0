"""The overview: the figures of the whole, and a verdict that says what is wrong and what to do."""

from typing import Any

import pytest

from awa.operations import switch
from awa.operations.reading import activity, stats, verdict
from awa.operations.reading.counts import Count
from awa.operations.reading.queues import Backlog
from awa.storage import queues, runtimes
from awa.storage.follow_ups import say_on_failed
from tests.conftest import Connect
from tests.storage.world import World


async def codes(world: World) -> list[str]:
    found = await stats.overview(world.conn)
    told = found["verdict"]["findings"]
    assert all(finding["message"] and finding["what_to_do"] for finding in told)
    assert found["verdict"]["level"] == (told[0]["level"] if told else "ok")
    return [finding["code"] for finding in told]


async def lead(world: World) -> None:
    await world.fetch("SELECT held FROM awa.take_lease('maintenance', %s, 30)", world.runtime_id)
    await world.conn.execute("UPDATE awa.activity_state SET until = clock_timestamp()")


async def test_an_idle_house_in_order_is_all_right(world: World) -> None:
    await lead(world)
    assert await codes(world) == []


async def test_what_is_missing_is_told_worst_first(world: World) -> None:
    await world.enqueue(3, "a")
    await runtimes.stop(world.conn, world.runtime_id)
    assert await codes(world) == ["no_leader", "no_workers"]


async def test_a_queue_without_a_worker_and_a_paused_one_are_named(world: World) -> None:
    await lead(world)
    await world.enqueue(3, "alone")
    await world.enqueue(3, "held")
    await queues.pause(world.conn, "held", "ada")
    found = await stats.overview(world.conn)
    told = {f["code"]: f["message"] for f in found["verdict"]["findings"]}
    assert told["unserved_queue"] == "Jobs wait in alone, and no worker serves it."
    assert told["paused_backlog"] == "Jobs wait in held, which is paused."
    paused = {row["queue"]: row["paused"] for row in found["backlog"]}
    assert paused == {"alone": False, "held": True}


async def test_several_such_queues_are_told_in_one_sentence(world: World) -> None:
    await lead(world)
    for queue in ("alone", "lonely", "held", "stopped"):
        await world.enqueue(3, queue)
    for queue in ("held", "stopped"):
        await queues.pause(world.conn, queue, "ada")
    found = await stats.overview(world.conn)
    told = {f["code"]: (f["message"], f["what_to_do"]) for f in found["verdict"]["findings"]}
    assert told["unserved_queue"] == (
        "Jobs wait in alone, lonely, and no worker serves them.",
        "Start a worker for them, or move the jobs to a queue that is served.",
    )
    assert told["paused_backlog"] == (
        "Jobs wait in held, stopped, which are paused.",
        "Resume them, or move the jobs.",
    )


async def test_that_all_operations_are_held_is_told(world: World) -> None:
    await lead(world)
    assert (await stats.overview(world.conn))["operations_held"] is None
    await switch.hold(world.conn, actor="ada", reason="replica")
    found = await stats.overview(world.conn)
    assert found["operations_held"]["held_by"] == "ada"
    told = {f["code"]: f["message"] for f in found["verdict"]["findings"]}
    assert told["operations_held"] == "All batch operations are held by ada: “replica”"


async def test_follow_ups_that_no_worker_settles_are_told(world: World) -> None:
    await lead(world)
    await say_on_failed(world.conn, world.runtime_id, ["k"])
    await world.enqueue(max_attempts=1)
    await world.claim()
    await world.rescue(stale_after_s=-1.0)
    found = await stats.overview(world.conn)
    told = {f["code"]: (f["message"], f["what_to_do"]) for f in found["verdict"]["findings"]}
    assert told["follow_ups_owed"] == (
        "Follow-ups of failed jobs of k are owed (1), and no worker knows its on_failed.",
        "Start a worker whose task has one for it; see awa doctor.",
    )
    other = await World.on(world.conn)
    await say_on_failed(world.conn, other.runtime_id, ["k"])
    assert "follow_ups_owed" not in await codes(world)


async def test_silent_runtimes_and_old_notes_are_told(world: World) -> None:
    await lead(world)
    await world.conn.execute(
        "UPDATE awa.runtimes SET heartbeat_at = heartbeat_at - interval '20 s'"
    )
    await world.conn.execute(
        "UPDATE awa.activity_state SET until = clock_timestamp() - interval '5 min'"
    )
    assert await codes(world) == ["old_statistics", "stale_runtimes"]


@pytest.mark.lanes
async def test_the_session_that_pins_the_oldest_snapshot_is_named(
    world: World, connect: Connect
) -> None:
    reader = await connect()
    async with reader.transaction():
        await reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        await reader.execute("SELECT count(*) FROM awa.lanes")
        found = await stats.overview(world.conn)
        assert found["ring"]["oldest_snapshot"]["pid"] == reader.info.backend_pid
        assert found["ring"]["oldest_snapshot"]["state"] == "idle in transaction"
    assert found["ring"]["bytes"] == sum(found["ring"]["slot_bytes"])
    assert len(found["ring"]["slot_bytes"]) == found["ring"]["slots"] == 8


async def test_the_figures_of_the_whole(mixed: World) -> None:
    found = await stats.overview(mixed.conn)
    assert found["backlog"][0]["available"].jobs >= found["backlog"][-1]["available"].jobs
    assert found["oldest_waiting"]["age_s"] >= 0
    assert len(found["series"]) == activity.SERIES_MINUTES
    assert found["throughput"]["completed_per_s"] is None
    assert found["totals"]["failed"] == Count(2)
    assert found["runtimes"]["alive"] == 2


HEALTHY: dict[str, Any] = {
    "leader": {"id": 1},
    "statistics_age_s": 5.0,
    "runtimes": {"workers": 1, "stale": 0},
    "oldest_waiting": None,
    "operations_held": None,
    "ring": {"oldest_snapshot": None, "slot_bytes": [0], "current_slot": 0},
}
QUIET: dict[str, int] = {}


@pytest.mark.parametrize(
    ("changed", "recent", "expected"),
    [
        ({}, {"failed": 30, "completed": 70}, ["many_failures"]),
        ({}, {"failed": 3, "completed": 1}, []),
        ({}, {"failed": 30, "completed": 900}, []),
        ({"oldest_waiting": {"queue": "a", "age_s": 900.0}}, QUIET, ["long_wait"]),
        (
            {
                "ring": {
                    "oldest_snapshot": {"pid": 7, "age_s": 7200.0},
                    "slot_bytes": [0],
                    "current_slot": 0,
                }
            },
            QUIET,
            ["old_snapshot"],
        ),
        (
            {
                "ring": {
                    "oldest_snapshot": {"pid": 7, "age_s": None},
                    "slot_bytes": [2**33],
                    "current_slot": 0,
                }
            },
            QUIET,
            ["ring_stands"],
        ),
    ],
)
def test_each_finding_has_its_figures(
    changed: dict[str, Any], recent: dict[str, int], expected: list[str]
) -> None:
    waiting = {"a": Backlog({2: Count(5)})}
    told = verdict.findings(HEALTHY | changed, waiting, (), {"a"}, recent)
    assert [finding["code"] for finding in told] == expected
