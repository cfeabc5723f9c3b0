"""Which library a connection belongs to. Libraries are looked for among those that are imported, and never imported."""

from __future__ import annotations

from typing import Any, Final

from awa.bridge import alchemy, django, drivers
from awa.bridge.speaker import Speaker
from awa.model.errors import ValidationError, invalid_field

ASYNC: Final = (
    "psycopg.AsyncConnection, asyncpg.Connection, SQLAlchemy's AsyncSession or AsyncConnection"
)
BLOCKING: Final = "psycopg.Connection, psycopg2's connection, SQLAlchemy's Session or Connection, django.db.connection"


def speaker_for(connection: Any, *, blocking: bool) -> Speaker:
    """The speaker for a connection. Raises ValidationError that names what is accepted."""
    speaker = find(connection)
    if speaker is None:
        raise _unknown(connection, BLOCKING if blocking else ASYNC)
    if speaker.blocking and not blocking:
        raise _other(connection, "a blocking connection", "insert_job_sync, insert_many_jobs_sync")
    if blocking and not speaker.blocking:
        raise _other(connection, "an async connection", "await insert_job, insert_many_jobs")
    return speaker


def find(connection: Any) -> Speaker | None:
    """The speaker for a connection of any library, or None."""
    return drivers.find(connection) or alchemy.find(connection) or django.find(connection)


def _other(connection: object, kind: str, functions: str) -> ValidationError:
    return invalid_field(
        "connection", f"{_name(connection)} is {kind}", hint=f"for these: {functions}"
    )


def _unknown(connection: object, accepted: str) -> ValidationError:
    return invalid_field(
        "connection",
        f"expected one of {accepted}; got {_name(connection)}",
        hint="an engine or a pool has no transaction: give a connection of it",
    )


def _name(connection: object) -> str:
    return f"{type(connection).__module__}.{type(connection).__qualname__}"
