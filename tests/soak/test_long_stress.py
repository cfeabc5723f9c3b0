"""The random stress, a minute a seed."""

import pytest

from tests.stress.engine import stress

SECONDS = 60.0
SEEDS = range(100, 115)


@pytest.mark.soak
@pytest.mark.parametrize("seed", SEEDS)
async def test_nothing_is_lost_and_nothing_served_twice(database_url: str, seed: int) -> None:
    books = await stress(database_url, SECONDS, seed=seed)
    assert len(books.enqueued) > 5_000
