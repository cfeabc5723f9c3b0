"""What happens to jobs, told in sets: one call for each claim and each flush, never one for each job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from awa.events.instruments import Counter, Duration, Gauge

_inserted = Counter("awa_jobs_inserted_total", "Jobs inserted by this process", ["queue"])
_claimed = Counter("awa_jobs_claimed_total", "Attempts that this process claimed", ["queue"])
_held = Counter("awa_claims_held_total", "Claims that a limit of the queue cut", ["queue", "why"])
_ended = Counter("awa_jobs_ended_total", "Attempts that ended, by outcome", ["queue", "outcome"])
_lost = Counter("awa_attempts_lost_total", "Attempts that ended here, but were no longer ours")
_settled = Counter(
    "awa_follow_ups_settled_total", "Owed follow-ups of failed jobs that this process settled"
)
_busy_s = Counter("awa_jobs_run_seconds_total", "Seconds that handlers ran", ["queue"])
_running = Gauge("awa_jobs_running", "Attempts that this process holds", ["queue"])
_claim_s = Duration("awa_claim_duration_seconds", "Duration of one claim call", ["queue"])
_finish_s = Duration("awa_finish_duration_seconds", "Duration of one call that ends attempts")


def inserted(queue: str, jobs: int) -> None:
    """Jobs were inserted."""
    _inserted.add(jobs, queue)


def claimed(queue: str, jobs: int, seconds: float) -> None:
    """One claim call returned `jobs` attempts after `seconds`."""
    _claim_s.observe(seconds, queue)
    _claimed.add(jobs, queue)


def claim_held(queue: str, why: str) -> None:
    """A limit of the queue cut a claim: max_running or rate, or another claim was just counting (busy)."""
    _held.add(1, queue, why)


def holding(queue: str, attempts: int) -> None:
    """So many attempts of this queue are claimed and not ended now."""
    _running.set(attempts, queue)


def ended(counts: Mapping[tuple[str, str], int], busy_s: Mapping[str, float], lost: int) -> None:
    """A set of attempts ended: how many by (queue, outcome), the handlers' seconds by queue."""
    for (queue, outcome), jobs in counts.items():
        _ended.add(jobs, queue, outcome)
    for queue, seconds in busy_s.items():
        _busy_s.add(seconds, queue)
    _lost.add(lost)


def settled(owed: int) -> None:
    """What was owed to follow so many failed jobs was inserted, as far as their tasks wanted anything."""
    _settled.add(owed)


def finish_took(seconds: float) -> None:
    """One call that ends a set of attempts came back."""
    _finish_s.observe(seconds)


def names() -> Iterable[str]:
    """The names of these metrics, for the documentation's check."""
    own = (
        _inserted,
        _claimed,
        _held,
        _ended,
        _lost,
        _settled,
        _busy_s,
        _running,
        _claim_s,
        _finish_s,
    )
    return (metric.name for metric in own)
