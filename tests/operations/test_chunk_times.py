"""An operation remembers how long its chunks took: all of them while they are few, sums of them when they are many."""

from awa.model.operation import chunk_times
from awa.operations import read
from awa.operations.runner import Runner
from awa.operations.submit import submit
from tests.operations.kit import Conn, add_jobs, operate, value

MANY = """
WITH RECURSIVE growing (n, record) AS (
    SELECT 0, NULL::int[]
    UNION ALL
    SELECT n + 1, awa.note_chunk(record, 10 * (n + 1), 7, CASE n WHEN 123 THEN 900 ELSE 50 END) FROM growing WHERE n < %s
)
SELECT record FROM growing WHERE n = %s
"""


async def test_each_chunk_is_a_point_until_there_are_sixty(conn: Conn) -> None:
    points = chunk_times(await value(conn, MANY, 60, 60))
    assert len(points) == 60
    assert points[0] == {"at_s": 0.1, "chunks": 1, "items": 7, "mean_ms": 50, "max_ms": 50}
    assert points[-1]["at_s"] == 6.0


async def test_many_chunks_stay_sixty_points_and_nothing_is_lost_of_their_sums(conn: Conn) -> None:
    for chunks in (61, 62, 119, 120, 121, 500, 1_000):
        points = chunk_times(await value(conn, MANY, chunks, chunks))
        assert len(points) <= 60
        assert sum(point["chunks"] for point in points) == chunks
        assert sum(point["items"] for point in points) == 7 * chunks
        took = sum(point["mean_ms"] * point["chunks"] for point in points)
        assert round(took) == 50 * chunks + (850 if chunks > 123 else 0)
        assert [point["at_s"] for point in points] == sorted(point["at_s"] for point in points)
        assert points[-1]["at_s"] == chunks / 10
        assert max(point["max_ms"] for point in points) == (900 if chunks > 123 else 50)


async def test_what_is_too_large_for_a_number_is_the_largest(conn: Conn) -> None:
    record = await value(
        conn, "SELECT awa.note_chunk('{1}', 9e18::bigint, 9e18::bigint, 9e18::bigint)"
    )
    assert record == [1, 2**31 - 1, 1, 2**31 - 1, 2**31 - 1, 2**31 - 1]
    record = await value(conn, "SELECT awa.note_chunk('{2,1,1,2147483647,2147483647,5}', 2, 9, 9)")
    assert record == [2, 2, 2, 2**31 - 1, 2**31 - 1, 9]


async def test_an_operation_tells_of_its_chunks(conn: Conn, runner: Runner) -> None:
    waiting = await submit(conn, "set_priority", {"queue": "none"}, {"priority": 1})
    assert waiting["chunk_times"] == []
    await add_jobs(conn, 450)
    done = await operate(conn, runner, "set_priority", {"priority": 1}, {"queue": "default"})
    times = done["chunk_times"]
    assert len(times) > 1
    assert sum(point["items"] for point in times) == 450
    assert all(0 <= point["mean_ms"] <= point["max_ms"] < 60_000 for point in times)
    listed, _ = await read.operations_page(conn)
    assert all("chunks" not in row and "chunk_times" not in row for row in listed)
