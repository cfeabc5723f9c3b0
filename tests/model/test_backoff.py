"""Failed attempts come back later each time, never all at once, never later than a day and a bit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from awa.model.backoff import BACKOFF_MAX_S, backoff_s


@pytest.mark.parametrize(("attempt", "delay_s"), [(1, 2.0), (2, 4.0), (5, 32.0), (20, 86_400.0)])
def test_the_delay_doubles_up_to_a_day(attempt: int, delay_s: float) -> None:
    assert backoff_s(attempt, random=0.5) == delay_s


@given(attempt=st.integers(1, 10_000), random=st.floats(0, 1, exclude_max=True))
def test_the_delay_is_spread_by_a_quarter_and_bounded(attempt: int, random: float) -> None:
    middle = backoff_s(attempt, random=0.5)
    assert 0.75 * middle <= backoff_s(attempt, random=random) <= 1.25 * middle
    assert middle <= BACKOFF_MAX_S


def test_attempts_count_from_one() -> None:
    with pytest.raises(ValueError, match="count from 1"):
        backoff_s(0, random=0.5)
