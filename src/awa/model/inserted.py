"""A job of a set that was inserted together: what all of them share is kept once.

Making a full `Job` of twenty fields for each of a hundred thousand costs more than inserting them.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import Any, TypeVar

from awa.model.job import JOB_COLUMNS, Job

A = TypeVar("A")


def _shared(column: str) -> Any:
    return property(lambda job: getattr(job._like, column))


class InsertedJob(Job[A]):
    """A job just inserted; equal to any `Job` that says the same."""

    __slots__ = ("_args", "_id", "_like")

    _id: int
    _args: A
    _like: Job[Any]

    id = property(lambda job: job._id)
    args = property(lambda job: job._args)
    kind = _shared("kind")
    state = _shared("state")
    queue = _shared("queue")
    priority = _shared("priority")
    attempt = _shared("attempt")
    max_attempts = _shared("max_attempts")
    tags = _shared("tags")
    metadata = property(lambda job: dict(job._like.metadata))
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
    insertion = _shared("insertion")

    def __hash__(self) -> int:
        return hash(self._id)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Job) and all(
            getattr(self, column) == getattr(other, column) for column in JOB_COLUMNS
        )


_new: Callable[[type[Any]], Any] = object.__new__
_SLOTS = [vars(InsertedJob)[name].__set__ for name in ("_id", "_args", "_like")]


def inserted_jobs(ids: Sequence[int], args: Sequence[Any], like: Job[Any]) -> list[Job[Any]]:
    """A job for each id; they share what `like` says. All in C: a constructor's call would cost more than the job."""
    if len(ids) != len(args):
        raise ValueError(f"{len(args)} jobs were inserted, and {len(ids)} ids came back")
    with _collector_paused():
        jobs: list[Any] = list(map(_new, repeat(InsertedJob, len(ids))))
        for set_slot, values in zip(_SLOTS, (ids, args, repeat(like)), strict=True):
            deque(map(set_slot, jobs, values), maxlen=0)
    return jobs


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Thousands of objects are made here, all of them in use: looking through them for garbage costs more than making them."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
