"""The blocking client: Inserting. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, Unpack

from awa.model.draft import JobOptions
from awa.model.job import Job
from awa.sync.base import Base
from awa.sync.transaction import Transaction

A = TypeVar("A")


class Inserting(Base):
    """As that of the async client."""

    def insert(self, args: A, **options: Unpack[JobOptions]) -> Job[A]:
        """Insert one job; answers it with its id.

        Options: `queue` (else the task's, else "default"), `kind`, `priority` 1 (first) to 4,
        `max_attempts`, `tags`, `metadata`, `run_at` (aware; later means scheduled), `ordering_key` (jobs
        with one key are dispatched in order), `concurrency_key` (of the jobs with one key at most
        `concurrency_limit`, 1 unless said otherwise, run at once), `unique_opts` (see `awa.UniqueOpts`). Raises
        ValidationError with a field for each problem, and UniqueConflict with the `job_id` of the job that holds
        the unique key. The job's `insertion` says what happened: inserted, ignored or replaced.
        """
        return self._portal.run(self.aio.insert(args, **options))

    def insert_many(self, jobs: Sequence[Any], **options: Unpack[JobOptions]) -> list[Job[Any]]:
        """Insert several jobs into one queue, all or none, by one statement; answers them in order.

        Each is the arguments of a job, or an `awa.Draft` that says what differs for this one. Sets of
        more than 10,000 jobs or 16 MiB, and those of more than 256 KiB in arguments of 2 KiB and more, take
        several statements in one transaction. Raises as `insert`, naming the job's place in the list.
        """
        return self._portal.run(self.aio.insert_many(jobs, **options))

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        """A transaction for rows and jobs: committed at the end of the block, rolled back on an error."""
        with self._portal.entered(self.aio.transaction()) as entered:
            yield Transaction(self._portal, entered)
