"""Running named statements: names in, rows out.

A statement is a file of `awa.sql` (see `awa.sql.catalog`). Nothing here opens a transaction; the caller owns it.
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import psycopg
from psycopg import sql
from psycopg.rows import dict_row, tuple_row

from awa.db.failures import mapped_errors
from awa.sql import catalog

Connection = psycopg.AsyncConnection[Any]
Row = dict[str, Any]
Params = Mapping[str, Any]


async def rows(conn: Connection, name: str, params: Params | None = None) -> list[Row]:
    """All rows of the statement `name`, as dictionaries by column name.

    Raises `AwaError` kinds of `awa.db.failures`.
    """
    return await rows_of(conn, _named(name), params)


async def row(conn: Connection, name: str, params: Params | None = None) -> Row | None:
    """The first row of the statement `name`, or None."""
    found = await rows(conn, name, params)
    return found[0] if found else None


async def value(conn: Connection, name: str, params: Params | None = None) -> Any:
    """The first column of the first row of the statement `name`, or None."""
    found = await row(conn, name, params)
    return next(iter(found.values())) if found else None


async def count(conn: Connection, name: str, params: Params | None = None) -> int:
    """How many rows the statement `name` touched."""
    with mapped_errors():
        cursor = await conn.execute(_named(name), params)
        return cursor.rowcount


async def script(conn: Connection, name: str) -> None:
    """Run several statements that take no parameters and answer nothing."""
    with mapped_errors():
        await conn.execute(catalog.text(name).encode())


async def tuples(
    conn: Connection, name: str, params: Params | None = None, *, binary: bool = False
) -> Sequence[tuple[Any, ...]]:
    """All rows of the statement `name` as tuples in column order; the fast way, for the hot path."""
    with mapped_errors():
        async with conn.cursor(binary=binary, row_factory=tuple_row) as cursor:
            await cursor.execute(_named(name), params)
            return await cursor.fetchall()


async def rows_of(
    conn: Connection, statement: sql.Composable | str, params: Params | None = None
) -> list[Row]:
    """All rows of a composed statement (compiled filters), as dictionaries."""
    with mapped_errors():
        async with conn.cursor(row_factory=dict_row) as cursor:
            await cursor.execute(cast("sql.Composed", statement), params)
            return await cursor.fetchall() if cursor.description else []


async def rows_of_all(
    conn: Connection, asked: Sequence[tuple[sql.Composable, Params | None]]
) -> list[list[Row]]:
    """The rows of several composed statements, sent in one go; after one that fails the others aren't run."""
    with mapped_errors():
        cursors = []
        async with conn.pipeline():
            for composed, params in asked:
                cursor = conn.cursor(row_factory=dict_row)
                await cursor.execute(cast("sql.Composed", composed), params)
                cursors.append(cursor)
        return [await cursor.fetchall() for cursor in cursors]


def statement(name: str) -> sql.SQL:
    """The statement `name` as a template to compose with a compiled filter."""
    return sql.SQL(catalog.text(name))


def _named(name: str) -> str:
    return catalog.text(name)
