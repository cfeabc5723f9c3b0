"""The blocking transaction. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar, Unpack

from awa.client.transaction import Transaction as AsyncTransaction
from awa.model.draft import JobOptions
from awa.model.job import Job
from awa.sync.portal import Portal

A = TypeVar("A")


class Transaction:
    """What the blocking `client.transaction()` hands out."""

    def __init__(self, portal: Portal, transaction: AsyncTransaction) -> None:
        self._portal = portal
        self._async = transaction

    def execute(self, query: str, *params: Any) -> int:
        """Run a statement; answers how many rows it touched.

        Placeholders are psycopg's (`%s`, or `%(name)s` with one mapping) or `$1`, `$2`, ….
        """
        return self._portal.run(self._async.execute(query, *params))

    def fetch_one(self, query: str, *params: Any) -> dict[str, Any] | None:
        """The first row as a dict, or None."""
        return self._portal.run(self._async.fetch_one(query, *params))

    def fetch_all(self, query: str, *params: Any) -> list[dict[str, Any]]:
        """All rows as dicts."""
        return self._portal.run(self._async.fetch_all(query, *params))

    def insert(self, args: A, **options: Unpack[JobOptions]) -> Job[A]:
        """Insert one job; workers see it when this transaction commits. As `AsyncClient.insert`."""
        return self._portal.run(self._async.insert(args, **options))

    def insert_many(self, jobs: Sequence[Any], **options: Unpack[JobOptions]) -> list[Job[Any]]:
        """Insert several jobs by one statement. As `AsyncClient.insert_many`."""
        return self._portal.run(self._async.insert_many(jobs, **options))
