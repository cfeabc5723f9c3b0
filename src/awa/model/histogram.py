"""Waits and run times as histograms: buckets whose upper bounds grow by the square root of two.

The n-th bucket (from 0) counts what took less than 2 ^ (n / 2) ms and not less than the bucket before; the last
one everything above. A percentile read from it is off by a fifth at most, and histograms add up, which
percentiles don't.
"""

from collections.abc import Sequence
from math import ceil, log2
from typing import Final

BUCKETS: Final = 48


def bucket_of(ms: float) -> int:
    """The bucket that counts a wait of so many milliseconds."""
    if ms < 1:
        return 0
    return min(BUCKETS - 1, int(2 * log2(ms)) + 1)


def upper_ms(bucket: int) -> float:
    """What everything in the bucket stays below."""
    return float(2 ** (bucket / 2))


def lower_ms(bucket: int) -> float:
    """What nothing in the bucket stays below."""
    return 0.0 if bucket == 0 else float(2 ** ((bucket - 1) / 2))


def add(into: list[int], more: Sequence[int]) -> None:
    """Add one histogram to another."""
    for bucket, count in enumerate(more):
        into[bucket] += count


def percentile_ms(counts: Sequence[int], share: float) -> float | None:
    """What `share` (0 to 1) of the waits stayed below, in between the bounds of its bucket, rounded to a µs; None without any."""
    total = sum(counts)
    if not total:
        return None
    wanted = max(1, ceil(total * share))
    below = 0
    for bucket, count in enumerate(counts):
        if below + count >= wanted:
            part = (wanted - below) / count
            low, high = lower_ms(bucket), upper_ms(bucket)
            return round(low + (high - low) * part, 3)
        below += count
    raise AssertionError("the shares of a histogram add up")
