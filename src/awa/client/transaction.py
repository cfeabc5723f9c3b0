"""A transaction in which a program's own rows and its jobs are committed together, or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar, Unpack

import psycopg
from psycopg.raw_cursor import AsyncRawCursor
from psycopg.rows import dict_row

from awa.db.failures import mapped_errors
from awa.model.draft import JobOptions, check_options
from awa.model.job import Job
from awa.model.task import Tasks
from awa.operations.insert import insert_job, insert_jobs

A = TypeVar("A")

_NUMBERED: Final = re.compile(r"\$\d")


class Transaction:
    """What `client.transaction()` hands out. `connection` is psycopg's, for everything else."""

    def __init__(self, connection: psycopg.AsyncConnection[Any], tasks: Tasks) -> None:
        self.connection = connection
        self._tasks = tasks

    async def execute(self, query: str, *params: Any) -> int:
        """Run a statement; answers how many rows it touched.

        Placeholders are psycopg's (`%s`, or `%(name)s` with one mapping) or `$1`, `$2`, ….
        """
        async with await self._run(query, params) as cursor:
            return max(cursor.rowcount, 0)

    async def fetch_one(self, query: str, *params: Any) -> dict[str, Any] | None:
        """The first row as a dict, or None."""
        async with await self._run(query, params) as cursor:
            return await cursor.fetchone()

    async def fetch_all(self, query: str, *params: Any) -> list[dict[str, Any]]:
        """All rows as dicts."""
        async with await self._run(query, params) as cursor:
            return await cursor.fetchall()

    async def insert(self, args: A, **options: Unpack[JobOptions]) -> Job[A]:
        """Insert one job; workers see it when this transaction commits. As `AsyncClient.insert`."""
        return await insert_job(self.connection, args, check_options(options), self._tasks)

    async def insert_many(
        self, jobs: Sequence[Any], **options: Unpack[JobOptions]
    ) -> list[Job[Any]]:
        """Insert several jobs by one statement. As `AsyncClient.insert_many`."""
        return await insert_jobs(self.connection, jobs, check_options(options), self._tasks)

    async def _run(
        self, query: str, params: tuple[Any, ...]
    ) -> psycopg.AsyncCursor[dict[str, Any]]:
        given: Any = params or None
        if len(params) == 1 and isinstance(params[0], Mapping | list | tuple):
            given = params[0]
        numbered = bool(params) and "%" not in query and _NUMBERED.search(query)
        cursor: psycopg.AsyncCursor[dict[str, Any]] = (
            AsyncRawCursor(self.connection, row_factory=dict_row)
            if numbered
            else self.connection.cursor(row_factory=dict_row)
        )
        with mapped_errors():
            return await cursor.execute(query.encode(), given)
