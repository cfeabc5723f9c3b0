"""When a failed attempt is tried again: exponential, bounded, with jitter.

This is the reference. `awa.finish` has its own copy in SQL, because the database's clock decides;
a test holds the two together. Without jitter, jobs that failed together would come back together.
"""

from typing import Final

BACKOFF_BASE_S: Final = 2.0
BACKOFF_MAX_S: Final = 24 * 3600.0
BACKOFF_JITTER: Final = 0.25
_DOUBLINGS_MAX: Final = 40


def backoff_s(attempt: int, *, random: float) -> float:
    """Seconds until the next attempt, after `attempt` (1 is the first) has failed.

    `random` is drawn by the caller from [0, 1). The delay doubles with each attempt from 2 seconds
    up to a day, and is spread by a quarter to either side: delay * (0.75 … 1.25).
    """
    if attempt < 1:
        raise ValueError(f"attempts count from 1, got {attempt}")
    delay = min(BACKOFF_BASE_S * 2.0 ** min(attempt - 1, _DOUBLINGS_MAX), BACKOFF_MAX_S)
    return delay * (1.0 - BACKOFF_JITTER + 2.0 * BACKOFF_JITTER * random)
