"""Several questions to the database in one round trip.

A page asks a dozen small things. Each by itself is answered in less time than it takes to hand it over and wait, most of
all while others work; so they are sent together, and the answers are read together.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from psycopg import sql

from awa.db import run
from awa.db.run import Connection, Params, Row

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Look(Generic[T]):
    """A statement, by name or composed, its parameters, and what its rows say."""

    asks: str | sql.Composable
    params: Params
    tell: Callable[[list[Row]], T]

    @property
    def statement(self) -> sql.Composable:
        """What is sent."""
        return run.statement(self.asks) if isinstance(self.asks, str) else self.asks


async def look(conn: Connection, one: Look[T]) -> T:
    """The answer to one question."""
    return one.tell(await run.rows_of(conn, one.statement, one.params))


async def together(conn: Connection, looks: Mapping[str, Look[Any]]) -> dict[str, Any]:
    """The answers to several, by the names they were given."""
    asked = [(one.statement, one.params) for one in looks.values()]
    answers = await run.rows_of_all(conn, asked)
    return {name: one.tell(rows) for (name, one), rows in zip(looks.items(), answers, strict=True)}


def first(rows: list[Row]) -> Row | None:
    """The only row, or None."""
    return rows[0] if rows else None


def only(rows: list[Row]) -> Row:
    """The only row."""
    (row,) = rows
    return row
