"""Inserting: one job, many jobs, and jobs together with a program's own rows."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar, Unpack

from awa.client.base import Base
from awa.client.transaction import Transaction
from awa.model.draft import JobOptions, check_options
from awa.model.job import Job
from awa.operations.insert import insert_job, insert_jobs

A = TypeVar("A")


class Inserting(Base):
    """The client's chapter on inserting."""

    async def insert(self, args: A, **options: Unpack[JobOptions]) -> Job[A]:
        """Insert one job; answers it with its id.

        Options: `queue` (else the task's, else "default"), `kind`, `priority` 1 (first) to 4,
        `max_attempts`, `tags`, `metadata`, `run_at` (aware; later means scheduled), `ordering_key` (jobs
        with one key are dispatched in order), `concurrency_key` (of the jobs with one key at most
        `concurrency_limit`, 1 unless said otherwise, run at once), `unique_opts` (see `awa.UniqueOpts`). Raises
        ValidationError with a field for each problem, and UniqueConflict with the `job_id` of the job that holds
        the unique key. The job's `insertion` says what happened: inserted, ignored or replaced.
        """
        checked = check_options(options)
        async with self.connection() as conn:
            return await insert_job(conn, args, checked, self.tasks, alone=conn.autocommit)

    async def insert_many(
        self, jobs: Sequence[Any], **options: Unpack[JobOptions]
    ) -> list[Job[Any]]:
        """Insert several jobs into one queue, all or none, by one statement; answers them in order.

        Each is the arguments of a job, or an `awa.Draft` that says what differs for this one. Sets of
        more than 10,000 jobs or 16 MiB, and those of more than 256 KiB in arguments of 2 KiB and more, take
        several statements in one transaction. Raises as `insert`, naming the job's place in the list.
        """
        checked = check_options(options)
        async with self.connection() as conn:
            return await insert_jobs(conn, jobs, checked, self.tasks, alone=conn.autocommit)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """A transaction for rows and jobs: committed at the end of the block, rolled back on an error."""
        async with self._in_transaction() as conn:
            yield Transaction(conn, self.tasks)
