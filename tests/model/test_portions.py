"""A set of large jobs is written in portions that grow, and in none where that is of no use."""

from typing import Any

import pytest

import awa
from awa.model.draft import check_options, prepare_alike
from awa.model.portions import (
    FIRST_JOBS,
    LARGE_BYTES,
    PORTION_BYTES,
    SET_BYTES,
    Unwritable,
    in_portions,
)

OPTIONS = check_options({"kind": "k"})


def jobs(count: int, size: int) -> list[dict[str, Any]]:
    """So many jobs of about this size."""
    return [{"n": n, "text": "x" * size} for n in range(count)]


@pytest.mark.parametrize("size", [LARGE_BYTES, 10_000, 3 * PORTION_BYTES])
def test_portions_are_the_set_in_its_order(size: int) -> None:
    given = jobs(max(FIRST_JOBS + 4, 6 * PORTION_BYTES // size), size)
    found = in_portions(given, OPTIONS)
    assert found is not None
    kind, portions = found
    parts = list(portions)
    assert (kind, [text for part in parts for text in part]) == prepare_alike(given, OPTIONS)
    assert len(parts[0]) == FIRST_JOBS
    sizes = [sum(map(len, part)) for part in parts[1:-1]]
    assert sizes == sorted(sizes)
    assert max(sizes) <= max(PORTION_BYTES, 2 * size)


@pytest.mark.parametrize(
    "given",
    [
        [],
        jobs(FIRST_JOBS, PORTION_BYTES),
        jobs(10_000, 10),
        jobs(FIRST_JOBS + 1, SET_BYTES // FIRST_JOBS // 2),
        [awa.Draft({"text": "x" * SET_BYTES})] * 20,
        [{"text": "x" * SET_BYTES, "n": object()}, *jobs(20, SET_BYTES)],
    ],
    ids=["none", "few", "small", "little in all", "drafts", "the first can't be written"],
)
def test_other_sets_are_not_taken_apart(given: list[Any]) -> None:
    assert in_portions(given, OPTIONS) is None


def test_jobs_that_may_have_keys_are_not() -> None:
    unique = check_options({"kind": "k", "unique_opts": {"by_args": True}})
    assert in_portions(jobs(100, 10_000), unique) is None


def test_one_that_cannot_be_written_ends_it() -> None:
    given = jobs(200, 10_000)
    given[150]["n"] = float("inf")
    found = in_portions(given, OPTIONS)
    assert found is not None
    with pytest.raises(Unwritable):
        list(found[1])
