"""A job of a set that was inserted together: what all of them share is kept once.

Making a full `Job` of twenty fields for each of a hundred thousand costs more than inserting them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import repeat
from typing import Any, TypeVar

from awa.model.job import JOB_COLUMNS, Job

A = TypeVar("A")
_set = object.__setattr__


def _shared(column: str) -> Any:
    return property(lambda job: getattr(job._told[2], column))


class InsertedJob(Job[A]):
    """A job just inserted; equal to any `Job` that says the same."""

    __slots__ = ("_told",)

    _told: tuple[int, A, Job[Any]]

    def __init__(self, told: tuple[int, A, Job[Any]]) -> None:
        """`told`: its id, its arguments, and a job that says the rest."""
        _set(self, "_told", told)

    id = property(lambda job: job._told[0])
    args = property(lambda job: job._told[1])
    kind = _shared("kind")
    state = _shared("state")
    queue = _shared("queue")
    priority = _shared("priority")
    attempt = _shared("attempt")
    max_attempts = _shared("max_attempts")
    tags = _shared("tags")
    metadata = property(lambda job: dict(job._told[2].metadata))
    errors = _shared("errors")
    run_at = _shared("run_at")
    created_at = _shared("created_at")
    ready_at = _shared("ready_at")
    attempted_at = _shared("attempted_at")
    finalized_at = _shared("finalized_at")
    deadline_at = _shared("deadline_at")
    runtime_id = _shared("runtime_id")
    enqueue_shard = _shared("enqueue_shard")
    progress = _shared("progress")

    def __hash__(self) -> int:
        return hash(self._told[0])

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Job) and all(
            getattr(self, column) == getattr(other, column) for column in JOB_COLUMNS
        )


def inserted_jobs(ids: Sequence[int], args: Sequence[Any], like: Job[Any]) -> list[Job[Any]]:
    """A job for each id; they share what `like` says."""
    return list(map(InsertedJob, zip(ids, args, repeat(like, len(ids)), strict=True)))
