"""Sets that differ in their arguments alone go a faster way; what comes of them is the same."""

import pytest

from awa.db.arrays import int4_array, int8_array, text_array
from awa.model.errors import ValidationError
from awa.storage import queues
from awa.storage.enqueue import CHUNK_JOBS, NewJob, enqueue_alike, enqueue_many
from tests.storage.world import World

LIKE = NewJob("k", "", priority=3, max_attempts=4, tags=["a", "b"], metadata={"trace": 1})


async def test_alike_jobs_say_what_many_jobs_say(world: World) -> None:
    documents = ['{"n": 1}', '"é\\"{,}"', "[]"]
    (alike,) = await enqueue_alike(world.conn, "q", LIKE, [d.encode() for d in documents])
    many = await enqueue_many(world.conn, "q", [LIKE._replace(args_json=d) for d in documents])
    for one, other in zip(alike.job_ids, many, strict=True):
        fast, slow = await world.job(one), await world.job(other.job_id)
        for row in (fast, slow):
            for own in ("id", "created_at", "ready_at", "run_at"):
                row.pop(own)
        assert fast == slow
    assert alike.state == "available"
    assert alike.job_ids == sorted(alike.job_ids)


async def test_later_jobs_are_deferred(world: World) -> None:
    at = await world.now(later_s=60)
    (alike,) = await enqueue_alike(world.conn, "q", LIKE._replace(run_at=at), [b"1", b"2"])
    assert alike.state == "scheduled"
    rows = [await world.job(job_id) for job_id in alike.job_ids]
    assert [(row["state"], row["args"], row["run_at"], row["tags"]) for row in rows] == [
        ("scheduled", n, at, ["a", "b"]) for n in (1, 2)
    ]


async def test_an_ordering_key_keeps_them_in_one_lane_and_without_it_they_spread(
    world: World,
) -> None:
    await queues.set_enqueue_shards(world.conn, "q", 4)
    together = LIKE._replace(ordering_key="customer:7")
    for like, lanes in ((together, 1), (LIKE, 4)):
        (alike,) = await enqueue_alike(world.conn, "q", like, [b"{}"] * 200)
        (found,) = await world.fetch(
            "SELECT count(DISTINCT lane_id) FROM awa.ready_entries WHERE job_id = ANY (%s)",
            alike.job_ids,
        )
        assert found == lanes


async def test_large_sets_go_in_parts_and_an_empty_one_in_none(world: World) -> None:
    parts = await enqueue_alike(world.conn, "q", LIKE, [b"{}"] * (CHUNK_JOBS + 1))
    assert [len(part.job_ids) for part in parts] == [CHUNK_JOBS, 1]
    assert await enqueue_alike(world.conn, "q", LIKE, []) == []


async def test_what_is_wrong_is_refused_and_nothing_is_written(world: World) -> None:
    with pytest.raises(ValidationError, match="priority is 1"):
        await enqueue_alike(world.conn, "q", LIKE._replace(priority=5), [b"{}"])
    with pytest.raises(ValidationError, match="metadata is a JSON object"):
        await enqueue_alike(world.conn, "q", LIKE._replace(metadata=["no object"]), [b"{}"])  # type: ignore[arg-type]
    assert await world.fetch("SELECT count(*) FROM awa.jobs") == (0,)


async def test_packed_arrays_arrive_as_they_were(world: World) -> None:
    integers = [0, -1, 2**31 - 1]
    for values in (integers, [], [5]):
        cursor = await world.conn.execute(
            "SELECT %b::int4[], %b::int8[], %b::text[]",
            (int4_array(values), int8_array(values), text_array([str(v).encode() for v in values])),
        )
        assert await cursor.fetchone() == (values, values, [str(v) for v in values])
    cursor = await world.conn.execute("SELECT %b::int8[]", (int8_array([2**63 - 1, -(2**63)]),))
    assert await cursor.fetchone() == ([2**63 - 1, -(2**63)],)
