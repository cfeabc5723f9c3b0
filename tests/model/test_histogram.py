"""Histograms of waits: each wait in the bucket that its bounds say, percentiles within a fifth."""

import random

from hypothesis import example, given
from hypothesis import strategies as st

from awa.model import histogram as h

ROUNDED_MS = 0.0005


@given(st.floats(0, 1e9))
def test_a_wait_is_in_the_bucket_of_its_bounds(ms: float) -> None:
    bucket = h.bucket_of(ms)
    assert h.lower_ms(bucket) <= ms * (1 + 1e-9)
    assert bucket == h.BUCKETS - 1 or ms < h.upper_ms(bucket) * (1 + 1e-9)


@example([4.0] * 20, 0.99)  # the upper bound itself, 5.65685…, rounded up
@given(st.lists(st.floats(1, 1e6), min_size=20, max_size=200), st.sampled_from([0.5, 0.95, 0.99]))
def test_a_percentile_is_in_the_bucket_of_the_true_one(waits: list[float], share: float) -> None:
    counts = [0] * h.BUCKETS
    for ms in waits:
        counts[h.bucket_of(ms)] += 1
    true = sorted(waits)[max(0, -int(-len(waits) * share // 1) - 1)]
    seen = h.percentile_ms(counts, share)
    assert seen is not None
    bucket = h.bucket_of(true)
    assert h.lower_ms(bucket) - ROUNDED_MS <= seen <= h.upper_ms(bucket) + ROUNDED_MS


def test_many_even_waits_are_told_closely() -> None:
    random.seed(1)
    counts = [0] * h.BUCKETS
    for _ in range(10_000):
        counts[h.bucket_of(random.uniform(0, 100))] += 1
    median = h.percentile_ms(counts, 0.5)
    assert median is not None
    assert 45 < median < 55
    assert h.percentile_ms([0] * h.BUCKETS, 0.5) is None
