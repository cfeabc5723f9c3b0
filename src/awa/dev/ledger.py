"""What the demo's handlers did, told by themselves: one line per attempt, in a file of each worker's own.

The demo ends by comparing two witnesses who know nothing of each other, the database and these
files. A line is one `write`, so a worker that is killed leaves whole lines behind. Delivery is
at-least-once: a job whose worker died after the line and before the completion is here twice, and
whoever adds up must count each job once. That is what `fold` does.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

HANDLED: Final = "handled"
STUMBLED: Final = "stumbled"
REFUSED: Final = "refused"


class Ledger:
    """The file of one worker process."""

    def __init__(self, folder: Path) -> None:
        path = folder / f"worker-{os.getpid()}.tsv"
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def write(self, job_id: int, attempt: int, ending: str, repository: str, size: int) -> None:
        """One attempt, as soon as its work is done and before the database hears of it."""
        line = f"{job_id}\t{attempt}\t{ending}\t{repository}\t{size}\n"
        os.write(self._file, line.encode())


@dataclass(slots=True)
class Repository:
    """What was folded for one repository."""

    name: str
    deliveries: int = 0
    bytes: int = 0


@dataclass(slots=True)
class Account:
    """What the workers say they did, each job counted once."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    handled: int = 0
    handled_again: int = 0
    refused: int = 0
    stumbled: int = 0
    attempts: int = 0

    def biggest(self, count: int) -> list[Repository]:
        """The repositories with most deliveries."""
        ranked = sorted(self.repositories.values(), key=lambda r: (-r.deliveries, r.name))
        return ranked[:count]


def fold(folder: Path) -> Account:
    """Add up what all workers wrote."""
    account = Account()
    handled: set[int] = set()
    refused: set[int] = set()
    stumbled: set[int] = set()
    for job_id, ending, repository, size in _lines(folder):
        account.attempts += 1
        if ending == REFUSED:
            refused.add(job_id)
        elif ending == STUMBLED:
            stumbled.add(job_id)
        elif job_id in handled:
            account.handled_again += 1
        else:
            handled.add(job_id)
            _add(account, repository, size)
    account.handled, account.refused, account.stumbled = len(handled), len(refused), len(stumbled)
    return account


def _add(account: Account, repository: str, size: int) -> None:
    entry = account.repositories.setdefault(repository, Repository(repository))
    entry.deliveries += 1
    entry.bytes += size


def _lines(folder: Path) -> Iterator[tuple[int, str, str, int]]:
    for path in sorted(folder.glob("worker-*.tsv")):
        for line in path.read_text().splitlines():
            job_id, _attempt, ending, repository, size = line.split("\t")
            yield int(job_id), ending, repository, int(size)
