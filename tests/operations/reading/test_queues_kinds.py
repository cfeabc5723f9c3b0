"""Queues, kinds and runtimes as operators see them, against what awa.jobs says."""

from collections import Counter
from datetime import datetime
from typing import Any

import pytest

from awa.maintenance import activity as duty
from awa.model.errors import NotFound, ValidationError
from awa.operations.reading import activity, kinds, queues, runtimes
from awa.operations.reading.counts import STATES, Count
from awa.storage import queues as stored
from awa.storage import runtimes as storage
from tests.storage.world import World


async def by_force(world: World, column: str) -> dict[str, Counter[str]]:
    query = f"SELECT {column}, state, count(*) FROM awa.jobs GROUP BY 1, 2"
    cursor = await world.conn.execute(query.encode())
    found: dict[str, Counter[str]] = {}
    for name, state, jobs in await cursor.fetchall():
        found.setdefault(name, Counter())[state] = jobs
    return found


def states(counts: dict[str, Count]) -> dict[str, int]:
    return {state: count.jobs for state, count in counts.items() if count.jobs}


async def test_queues_have_the_depths_of_brute_force(mixed: World) -> None:
    await duty.run_once(mixed.conn, await mixed.now(later_s=60))
    rows, cursor = await queues.page(mixed.conn)
    assert cursor is None
    assert [row["queue"] for row in rows] == ["a", "b", "c", "late", "owed"]
    wanted = await by_force(mixed, "queue")
    for row in rows:
        assert states(row["depth"]) == dict(wanted[row["queue"]]), row["queue"]
        assert all(count.exact for state, count in row["depth"].items() if state != "completed")
        by_priority = sum(count.jobs for count in row["by_priority"].values())
        assert by_priority == row["depth"]["available"].jobs


async def test_the_oldest_waiting_job_of_a_queue_is_told(mixed: World) -> None:
    (oldest,) = await mixed.fetch(
        "SELECT min(ready_at) FROM awa.jobs WHERE queue = 'a' AND state = 'available'"
    )
    row = await queues.detail(mixed.conn, "a")
    assert row["oldest_available_at"] == oldest
    assert row["oldest_available_age_s"] >= 0


async def test_a_deep_lane_says_at_least_and_hides_no_other(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queues, "LANE_LEAST_JOBS", 5)
    monkeypatch.setattr(queues, "LANES_LOOKED_MAX", 20)
    monkeypatch.setattr(queues, "LANES_SHARED_MAX", 20)
    await world.enqueue(50, "deep")
    await world.enqueue(3, "shallow")
    deep, shallow = (await queues.page(world.conn))[0]
    # Each has half of the bound, however many lanes the first look came to.
    assert deep["depth"]["available"] == Count(10, "at_least")
    assert shallow["depth"]["available"] == Count(3)


async def test_queues_are_paged_by_name_and_found_by_a_part_of_it(world: World) -> None:
    names = ["Alpha", "beta", "Beta 2", "gamma", "новая"]
    for name in names:
        await world.enqueue(1, name)
    await world.enqueue(1, "later", run_at=await world.now(later_s=60))
    await world.pause("configured")
    seen: list[str] = []
    cursor = None
    while True:
        rows, cursor = await queues.page(world.conn, limit=2, cursor=cursor)
        seen += [row["queue"] for row in rows]
        if cursor is None:
            break
    assert sorted(seen) == sorted([*names, "later", "configured"])
    assert seen == [row["queue"] for row in (await queues.page(world.conn))[0]]
    found, _ = await queues.page(world.conn, search=" BETA")
    assert {row["queue"] for row in found} == {"beta", "Beta 2"}
    with pytest.raises(ValidationError):
        await queues.page(world.conn, cursor="!")


async def test_a_queue_tells_who_paused_it_who_serves_it_and_its_operations(world: World) -> None:
    await world.enqueue(1, "a")
    other = await World.on(world.conn)
    await storage.stop(world.conn, other.runtime_id)
    await world.conn.execute(
        "UPDATE awa.runtimes SET queues = '{\"a\": 50}' WHERE id = %s", (world.runtime_id,)
    )
    await world.conn.execute(
        "INSERT INTO awa.batch_operations (op_kind, filter, spec, state) VALUES"
        " ('move_queue', '{\"queue\": \"a\"}', '{\"queue\": \"z\"}', 'completed'),"
        " ('move_queue', '{\"kind\": \"a\"}', '{\"queue\": \"z\"}', 'completed')"
    )
    await stored.pause(world.conn, "a", "ada")
    row = await queues.detail(world.conn, "a")
    assert (row["paused"], row["paused_by"]) == (True, "ada")
    assert (row["workers"], row["slots"]) == (1, 50)
    assert [one["id"] for one in row["runtimes"]] == [world.runtime_id]
    assert [one["filter"] for one in row["operations"]] == [{"queue": "a"}]
    assert len(row["series"]) == 60
    with pytest.raises(NotFound):
        await queues.detail(world.conn, "nothing")


FRESH = activity.Freshness(1.0, 60.0)


@pytest.mark.parametrize(
    ("waiting", "noted", "fresh", "drain_s", "words"),
    [
        (600, {"arrived": 60, "started": 660}, FRESH, 60.0, "shrinking"),
        (600, {"arrived": 660, "started": 60}, FRESH, None, "growing"),
        (600, {"arrived": 600, "started": 601}, FRESH, None, "steady"),
        (600, {}, FRESH, None, "steady"),
        (0, {"arrived": 60, "started": 60}, FRESH, 0.0, "empty"),
        (600, {"started": 60}, activity.Freshness(None, 0), None, "unknown"),
        (600, {"started": 60}, activity.Freshness(500.0, 60), None, "unknown"),
    ],
)
def test_the_time_to_drain_is_told_only_where_it_is_one(
    waiting: int, noted: dict[str, Any], fresh: activity.Freshness, drain_s: float, words: str
) -> None:
    told = queues.flow(waiting, noted, fresh)
    assert (told["time_to_drain_s"], told["drain_words"]) == (drain_s, words)
    assert (told["rate_in_per_s"] is None) == (words == "unknown")


async def test_kinds_have_the_counts_of_brute_force(mixed: World) -> None:
    await duty.run_once(mixed.conn, await mixed.now(later_s=60))
    rows, cursor = await kinds.page(mixed.conn)
    assert cursor is None
    assert [row["kind"] for row in rows] == ["k", "late", "mail", "sms"]
    wanted = await by_force(mixed, "kind")
    for row in rows:
        assert list(row["counts"]) == list(STATES)
        assert states(row["counts"]) == dict(wanted[row["kind"]]), row["kind"]
    assert [row["queues"] for row in rows if row["kind"] == "sms"] == [["a", "b", "c"]]


async def test_kinds_are_paged_by_name_and_found_by_a_part_of_it(mixed: World) -> None:
    first, cursor = await kinds.page(mixed.conn, limit=3)
    rest, end = await kinds.page(mixed.conn, limit=3, cursor=cursor)
    assert [row["kind"] for row in (*first, *rest)] == ["k", "late", "mail", "sms"]
    assert end is None
    assert [row["kind"] for row in (await kinds.page(mixed.conn, search="MA"))[0]] == ["mail"]


async def test_runtimes_tell_what_they_hold_and_who_is_silent(world: World) -> None:
    silent = await World.on(world.conn)
    ended = await World.on(world.conn)
    await world.enqueue(5)
    await world.claim(3)
    await silent.claim(2)
    await storage.stop(world.conn, ended.runtime_id)
    await world.conn.execute(
        "UPDATE awa.runtimes SET heartbeat_at = heartbeat_at - interval '20 s' WHERE id = %s",
        (silent.runtime_id,),
    )
    rows, _ = await runtimes.page(world.conn)
    seen = {row["id"]: (row["holds"], row["stale"], row["holds_exact"]) for row in rows}
    assert seen == {world.runtime_id: (3, False, True), silent.runtime_id: (2, True, True)}
    everyone: list[Any] = []
    cursor = None
    while True:
        rows, cursor = await runtimes.page(world.conn, limit=1, cursor=cursor, include_ended=True)
        everyone += [row["id"] for row in rows]
        if cursor is None:
            break
    assert everyone == [ended.runtime_id, silent.runtime_id, world.runtime_id]
    for wrong in ("x", "MjAyNg", "MjAyNi0wMS0wMSAxMg"):
        with pytest.raises(ValidationError):
            await runtimes.page(world.conn, cursor=wrong)


async def test_the_leader_is_told_while_its_lease_lasts(world: World) -> None:
    assert await runtimes.leader(world.conn) is None
    await world.fetch("SELECT held FROM awa.take_lease('maintenance', %s, 300)", world.runtime_id)
    leader = await runtimes.leader(world.conn)
    assert leader is not None
    assert leader["id"] == world.runtime_id
    assert 0 < leader["lease_left_s"] <= 300
    (row,) = (await runtimes.page(world.conn))[0]
    assert row["is_leader"]
    assert isinstance(row["started_at"], datetime)
