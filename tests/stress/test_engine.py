"""A short stress in every run; `make soak` runs long ones."""

import pytest

from tests.stress.engine import stress


@pytest.mark.parametrize("seed", [1, 2])
async def test_a_random_stress_loses_nothing_and_serves_nothing_twice(
    database_url: str, seed: int
) -> None:
    least = {
        "enqueued": 1_000,
        "move moved": 100,
        "enqueue rolled back": 10,
        "claim rolled back": 5,
    }
    books = await stress(database_url, 6.0, seed=seed, least=least)
    assert len(books.enqueued) >= 1_000
