"""Django: `django.db.connection`, or one of `django.db.connections`, with its transactions as `atomic` makes them.

Statements go through Django's cursor, so that its checks, its wrappers and its log of queries see them. That is
psycopg's, since Django takes psycopg 3 wherever that is installed, and Awa needs it.
"""

from __future__ import annotations

import sys
from typing import Any

from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.json import JsonbLoader, JsonLoader

from awa.bridge.speaker import Answer, Params, Speaker, Statement, as_psycopg
from awa.bridge.statements import named
from awa.model.errors import invalid_field


class Django:
    """A connection of Django to PostgreSQL."""

    blocking = True

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    async def run(self, statement: Statement, params: Params, *, binary: bool) -> Answer:
        from django.db import Error

        text, values = named(statement, params)
        with as_psycopg(Error), self._connection.cursor() as cursor:
            _read_plainly(cursor.cursor)
            cursor.execute(text, values)
            columns = [column[0] for column in cursor.description or ()]
            return Answer(columns, cursor.fetchall() if columns else ())

    async def in_transaction(self) -> bool:
        return bool(self._connection.in_atomic_block or not self._connection.get_autocommit())


def find(given: Any) -> Speaker | None:
    """The speaker for a connection of Django; None if it's something else."""
    proxies: Any = sys.modules.get("django.utils.connection")
    if proxies is None:
        return None
    if isinstance(given, proxies.ConnectionProxy):
        given = given._connections[given._alias]
    # After that: a proxy that nobody has asked anything yet is what loads Django's backend.
    base: Any = sys.modules.get("django.db.backends.base.base")
    if base is None or not isinstance(given, base.BaseDatabaseWrapper):
        return None
    if given.vendor != "postgresql":
        raise invalid_field(
            "connection",
            f"Django's connection {given.alias!r} is to {given.vendor}",
            hint='jobs are in PostgreSQL: give that one, django.db.connections["…"]',
        )
    return Django(given)


def _read_plainly(cursor: Any) -> None:
    """Undo what Django sets: times without zone if USE_TZ is off, documents as texts."""
    cursor.adapters.register_loader("timestamptz", TimestamptzLoader)
    cursor.adapters.register_loader("json", JsonLoader)
    cursor.adapters.register_loader("jsonb", JsonbLoader)
