"""What a bridge needs of a library: one statement run on one connection, and whether a transaction is open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypeAlias

import psycopg
from psycopg import errors, sql

Statement: TypeAlias = "str | sql.Composable"
Params: TypeAlias = "Mapping[str, Any] | None"


class Answer(NamedTuple):
    """What a statement answered."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


class Speaker(Protocol):
    """One connection of some library. A blocking one never waits within `run`."""

    blocking: bool

    async def run(self, statement: Statement, params: Params, *, binary: bool) -> Answer:
        """Run a statement with psycopg's placeholders. Raises psycopg's errors, whoever the driver is."""
        ...

    async def in_transaction(self) -> bool:
        """Whether what is run now is committed later, by somebody else."""
        ...


@contextmanager
def as_psycopg(*kinds: type[BaseException]) -> Iterator[None]:
    """Turns errors of another driver into psycopg's of the same SQLSTATE, which one place translates."""
    try:
        yield
    except psycopg.Error:
        raise
    except kinds as error:
        raise _of_psycopg(error) from error


def _of_psycopg(error: BaseException) -> psycopg.Error:
    """The error that the driver itself raised, beneath those that the libraries have wrapped around it."""
    inner = error
    while isinstance(inner.__cause__, psycopg.Error) or _sqlstate(inner.__cause__) is not None:
        inner = inner.__cause__  # type: ignore[assignment]
    if isinstance(inner, psycopg.Error):
        return inner
    state = _sqlstate(inner)
    try:
        return errors.lookup(state)(str(inner)) if state else psycopg.DatabaseError(str(inner))
    except KeyError:
        return psycopg.DatabaseError(str(inner))


def _sqlstate(error: BaseException | None) -> str | None:
    found = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None)
    return found if isinstance(found, str) else None
