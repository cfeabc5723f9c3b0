"""The load of `awa dev` comes in a wave and does not end."""

from typing import Any

import pytest
from psycopg import AsyncConnection

from awa.dev.load import MEAN_JOBS, ROUND_JOBS, SWING_JOBS, SWING_S, Load, due
from awa.dev.seed import WORKED_QUEUE


@pytest.mark.parametrize("now_s", [0, SWING_S / 4, SWING_S / 2, 3 * SWING_S / 4, 1_790_000_000.5])
def test_something_is_always_due_and_never_much(now_s: float) -> None:
    assert MEAN_JOBS - SWING_JOBS <= due(now_s) <= MEAN_JOBS + SWING_JOBS


def test_there_is_more_at_one_time_than_at_another() -> None:
    assert due(SWING_S / 4) == MEAN_JOBS + SWING_JOBS
    assert due(3 * SWING_S / 4) == MEAN_JOBS - SWING_JOBS


async def test_it_goes_to_the_queue_that_is_worked_on_and_goes_on(
    conn: AsyncConnection[Any],
) -> None:
    load = Load("any secret")
    crest = SWING_S / 4
    added = 0
    while added <= ROUND_JOBS:
        added += await load.enqueue_some(conn, crest)
    rows = await (
        await conn.execute("SELECT queue, metadata->>'delivery' FROM awa.jobs ORDER BY id")
    ).fetchall()
    assert {queue for queue, _ in rows} == {WORKED_QUEUE}
    assert [int(number) for _, number in rows] == list(range(added))
