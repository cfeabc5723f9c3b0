"""Sizes follow time: smoothly, within bounds, and down to one row when a bad one has to stand alone."""

from hypothesis import given
from hypothesis import strategies as st

from awa.operations.pace import CHUNK_MAX_ROWS, CHUNK_MIN_ROWS, chunk_pace, page_pace


def test_a_chunk_starts_with_a_hundred_rows_and_doubles_at_most() -> None:
    pace = chunk_pace(100)
    assert pace.next_rows() == 100
    sizes = []
    for _ in range(8):
        pace.took(pace.next_rows(), 0.001)
        sizes.append(pace.rows)
    assert sizes == [200, 400, 800, 1600, 3200, 5000, 5000, 5000]


def test_a_slow_chunk_makes_the_next_smaller_but_never_less_than_ten() -> None:
    pace = chunk_pace(100)
    for expected in (50, 25, 12, 10, 10):
        pace.took(pace.next_rows(), 60.0)
        assert pace.rows == expected


def test_it_settles_where_a_chunk_takes_its_time() -> None:
    pace = chunk_pace(100)
    for _ in range(20):
        rows = pace.next_rows()
        pace.took(rows, 0.002 + rows * 0.00005)
    assert abs(0.002 + pace.rows * 0.00005 - 0.06) < 0.005


def test_a_chunk_that_had_less_to_do_says_nothing() -> None:
    pace = chunk_pace(100)
    pace.took(3, 0.001)
    assert pace.rows == 100


def test_halving_goes_down_to_one_and_growth_comes_back() -> None:
    pace = chunk_pace(100)
    sizes = []
    while pace.next_rows() > 1:
        pace.halve()
        sizes.append(pace.rows)
    assert sizes == [50, 25, 12, 6, 3, 1]
    pace.took(1, 0.001)
    assert pace.next_rows() == 2


def test_halving_begins_at_what_was_tried() -> None:
    pace = chunk_pace(100)
    assert pace.next_rows(limit=7) == 7
    pace.halve()
    assert pace.rows == 3


@given(st.lists(st.tuples(st.floats(0.0001, 100), st.sampled_from(["took", "calm"])), max_size=60))
def test_it_never_leaves_its_bounds(history: list[tuple[float, str]]) -> None:
    for pace in (chunk_pace(100), page_pace(100)):
        for seconds, what in history:
            if what == "calm":
                pace.calm()
            else:
                pace.took(pace.next_rows(), seconds)
            assert pace.least <= pace.rows <= pace.most


def test_the_bounds_are_those_of_the_design() -> None:
    pace = chunk_pace(100)
    assert (pace.rows, CHUNK_MIN_ROWS, CHUNK_MAX_ROWS) == (100, 10, 5_000)
