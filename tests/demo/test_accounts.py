"""The demo's arithmetic: each job counts once, and a sum that is off by one is seen."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from awa.dev.demo_accounts import Books, checks, figures
from awa.dev.ledger import HANDLED, REFUSED, STUMBLED, Account, Ledger, fold

MOVE = {
    "processed": 6,
    "skipped": 2,
    "errored": 0,
    "total_matched": 8,
    "totals": {"skipped": {"claimed": 2}},
}
PRIORITY = {"processed": 1, "skipped": 0, "errored": 0, "total_matched": 1, "totals": {}}


@pytest.fixture
def books() -> Books:
    """Ten jobs: nine done, one forged; one was retried, two were rescued."""
    totals = {
        "jobs": 10,
        "completed": 9,
        "failed": 1,
        "elsewhere": 0,
        "attempts": 13,
        "stamped_queue": 6,
        "stamped_priority": 1,
        "rescued": 2,
    }
    return Books(
        enqueued=10,
        forged=1,
        held_when_killed=2,
        totals=totals,
        endings={"completed": 9, "failed": 1, "retried": 3},
        move=MOVE,
        priority=PRIORITY,
        ledger=Account(handled=9, refused=1),
    )


def test_true_books_pass_every_check(books: Books) -> None:
    assert [words for words, holds in checks(books) if not holds] == []
    named = {name: count for name, count, _ in figures(books)}
    assert (named["retried"], named["rescued"], named["moved"]) == (1, 2, 6)


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({"enqueued": 11}, "every job"),
        ({"held_when_killed": 3}, "rescued"),
        ({"forged": 2}, "own records"),
        ({"move": {**MOVE, "processed": 5}}, "the move is"),
        ({"move": {**MOVE, "totals": {}}}, "the move is"),
        ({"endings": {"completed": 9, "failed": 1, "retried": 4}}, "every attempt"),
        ({"ledger": Account(handled=8, refused=1)}, "own records"),
    ],
)
def test_a_wrong_sum_fails_its_check(books: Books, change: dict[str, object], broken: str) -> None:
    failed = [words for words, holds in checks(replace(books, **change)) if not holds]  # type: ignore[arg-type]
    assert any(broken in words for words in failed), failed


def test_a_job_that_was_worked_on_twice_counts_once(tmp_path: Path) -> None:
    first, second = _ledger(tmp_path, "1"), _ledger(tmp_path, "2")
    first.write(1, 1, HANDLED, "a/b", 100)
    second.write(1, 2, HANDLED, "a/b", 100)
    first.write(2, 1, STUMBLED, "a/b", 50)
    second.write(2, 2, HANDLED, "a/b", 50)
    second.write(3, 1, REFUSED, "c/d", 10)
    account = fold(tmp_path)
    assert (account.handled, account.handled_again, account.refused, account.stumbled) == (
        2,
        1,
        1,
        1,
    )
    (repository,) = account.biggest(5)
    assert (repository.name, repository.deliveries, repository.bytes) == ("a/b", 2, 150)


def _ledger(folder: Path, name: str) -> Ledger:
    """A ledger as another process would have it."""
    ledger = Ledger(folder)
    (folder / f"worker-{os.getpid()}.tsv").rename(folder / f"worker-{name}.tsv")
    return ledger
