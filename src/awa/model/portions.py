"""A set of large arguments, written portion by portion, so that the server is at one while the next is written.

The first portion is small, for the server to begin soon, and each is twice the one before, for it to be busy until the next is
there: writing and sending a job takes at most half of what storing it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson

from awa.model.draft import Options, alike_kind
from awa.model.errors import ValidationError
from awa.model.limits import ARGS_MAX_BYTES
from awa.model.payload import encode_all
from awa.model.task import Tasks

FIRST_JOBS: Final = 8
LARGE_BYTES: Final = 2 * 1024
"""Of a job's arguments, in the mean of the first few: smaller ones are sent as quickly in one go."""
SET_BYTES: Final = 256 * 1024
PORTION_BYTES: Final = 1024 * 1024
GROWTH: Final = 2


class Unwritable(Exception):
    """One of the jobs can't be written; `prepare_many` says which and why."""


def in_portions(
    jobs: Sequence[Any], options: Options, tasks: Tasks | None = None
) -> tuple[str, Iterator[list[bytes]]] | None:
    """The kind and, portion by portion, the JSON texts of a set of large jobs that differ in their arguments alone.

    None if they differ in more, or aren't large by the look of the first few. The iterator raises Unwritable.
    """
    if len(jobs) <= FIRST_JOBS or (alike := alike_kind(jobs, options, tasks)) is None:
        return None
    kind, args_type = alike
    try:
        first = _written(args_type, jobs[:FIRST_JOBS])
    except Unwritable:
        return None
    size = sum(map(len, first)) // FIRST_JOBS
    if size < LARGE_BYTES or size * len(jobs) < SET_BYTES:
        return None
    return kind, _portions(args_type, jobs, first)


def _portions(
    args_type: type[Any], jobs: Sequence[Any], first: list[bytes]
) -> Iterator[list[bytes]]:
    yield first
    done, written = len(first), sum(map(len, first))
    wanted = written
    while done < len(jobs):
        wanted = min(wanted * GROWTH, PORTION_BYTES)
        count = max(1, wanted * done // written)  # of the mean size so far
        texts = _written(args_type, jobs[done : done + count])
        yield texts
        done += len(texts)
        written += sum(map(len, texts))


def _written(args_type: type[Any], jobs: Sequence[Any]) -> list[bytes]:
    try:
        texts = encode_all(args_type, jobs)
    except (ValidationError, orjson.JSONEncodeError) as problem:
        raise Unwritable from problem
    if max(map(len, texts)) > ARGS_MAX_BYTES:
        raise Unwritable
    return texts
