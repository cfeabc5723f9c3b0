"""A rescue that looks no further back than `open_since` finds everything this runtime holds."""

from datetime import UTC, datetime, timedelta
from typing import cast
from uuid import uuid4

import pytest

from awa.storage.claim import ClaimedJob
from awa.worker.attempt import Attempt
from awa.worker.ledger import CallbackDesk, Ledger

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


async def never(attempt: Attempt) -> None: ...


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(uuid4(), START, never, cast("CallbackDesk", None))  # nobody asks it


def attempt(ledger: Ledger, seq: int, claimed_at: datetime) -> Attempt:
    times = (0.0, 0.0, 0.0, claimed_at.timestamp(), None)
    row = ClaimedJob(seq, 1, 1, seq, "q", 2, "k", "{}", 1, 25, None, None, None, *times)
    return Attempt(row, ledger, 0.0)


def test_with_nothing_open_it_is_the_last_known_time(ledger: Ledger) -> None:
    ledger.db_now = at(50)
    assert ledger.beat_begins([]) == at(50)


def test_an_open_attempt_holds_it_back_until_it_is_recorded_or_over(ledger: Ledger) -> None:
    number = ledger.claim_begins()
    held = attempt(ledger, 7, at(1))
    ledger.claim_ends(number, [held])
    ledger.beat_begins([])
    ledger.db_now = at(50)
    assert ledger.beat_begins([]) == at(1)
    assert ledger.beat_begins([held]) == at(50)
    ledger.close(held)
    assert ledger.beat_begins([]) == at(50)


def test_a_claim_on_its_way_counts_from_when_it_began(ledger: Ledger) -> None:
    number = ledger.claim_begins()
    ledger.db_now = at(50)
    assert ledger.beat_begins([]) == at(0)
    assert ledger.beat_begins([]) == at(0)
    ledger.claim_ends(number, [])
    # One more beat, then nothing of it is left.
    assert ledger.beat_begins([]) == at(0)
    assert ledger.beat_begins([]) == at(50)


def test_a_claim_between_two_beats_counts_at_the_second(ledger: Ledger) -> None:
    ledger.db_now = at(10)
    ledger.beat_begins([])
    number = ledger.claim_begins()
    ledger.claim_ends(number, [])
    ledger.db_now = at(50)
    assert ledger.beat_begins([]) == at(10)
    assert ledger.beat_begins([]) == at(50)


def test_a_claim_whose_answer_was_lost_counts_until_it_is_settled(ledger: Ledger) -> None:
    ledger.claim_unanswered(ledger.claim_begins())
    for seconds in (10, 20, 30):
        ledger.db_now = at(seconds)
        assert ledger.beat_begins([]) == at(0)
    ledger.unanswered_settled(at(0))
    assert ledger.unanswered_since is None
    assert ledger.beat_begins([]) == at(30)


def test_a_position_claimed_again_is_not_hidden_by_its_first_attempt(ledger: Ledger) -> None:
    """A crash of the server took the first claim back."""
    first, second = attempt(ledger, 7, at(1)), attempt(ledger, 7, at(2))
    ledger.claim_ends(ledger.claim_begins(), [first])
    ledger.claim_ends(ledger.claim_begins(), [second])
    ledger.close(first)
    assert list(ledger) == [second]
    ledger.close(second)
    assert len(ledger) == 0


def test_a_dead_ledger_holds_nothing(ledger: Ledger) -> None:
    held = attempt(ledger, 7, at(1))
    ledger.claim_ends(ledger.claim_begins(), [held])
    assert ledger.declare_dead() == [held]
    assert (len(ledger), ledger.dead) == (0, True)
