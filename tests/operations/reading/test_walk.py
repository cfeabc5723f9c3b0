"""A walk back through ids reads as much at once as it means to, wherever the rows lie."""

from typing import Any

import pytest

from awa.db.run import Row
from awa.model.filter import JobFilter
from awa.operations.reading import jobs, walk
from awa.storage import read
from tests.storage.world import World

MOST_ROWS = 16


@pytest.mark.lanes
async def test_a_stretch_counts_rows_and_not_ids(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids that lie far apart, and behind them a backlog that was moved to and fro: many rows under each id."""
    old = await world.enqueue(40)
    for priority in (1, 3, 1, 3):
        await world.move(old, None, priority)
    new = await world.enqueue(8)
    monkeypatch.setattr(walk, "NEWEST_FEW_ROWS", 4)
    monkeypatch.setattr(walk, "STRETCH_FIRST_ROWS", 4)
    monkeypatch.setattr(walk, "STRETCH_MOST_ROWS", MOST_ROWS)
    monkeypatch.setattr(walk, "WALK_BUDGET_S", 1e9)
    monkeypatch.setattr(read, "FEW_WAITING_JOBS", 0)
    bounds: list[tuple[int, int]] = []
    stretch = read.stretch

    async def noted(*given: Any, before_id: int, from_id: int, limit: int) -> list[Row]:
        bounds.append((from_id, before_id))
        return await stretch(*given, before_id=before_id, from_id=from_id, limit=limit)

    monkeypatch.setattr(read, "stretch", noted)
    assert await jobs.page(world.conn, JobFilter.parse({"kind": "none"})) == ([], None)

    rows = [await _rows_between(world, *one) for one in bounds]
    assert sum(rows) == len(old) * 5 + len(new)
    # The last id of a stretch brings all of its rows.
    assert max(rows) < MOST_ROWS + 5
    assert bounds[0] == (new[-4], new[-1] + 1)


async def _rows_between(world: World, from_id: int, before_id: int) -> int:
    query = b"SELECT count(*) FROM awa.ready_entries r WHERE r.job_id >= %s AND r.job_id < %s"
    (count,) = await (await world.conn.execute(query, (from_id, before_id))).fetchone() or (0,)
    return int(count)
