"""What PostgreSQL and its driver raise, said as the errors of this library.

Messages of the server may quote values of a statement; connection failures may quote the connection string.
Neither a password nor a URL leaves this room.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors as pg
from psycopg_pool import PoolClosed, PoolTimeout, TooManyRequests

from awa.model.errors import AwaError, DatabaseError, SchemaNotMigrated, ValidationError

RUNTIME_GONE = "AW001"  # SQLSTATE of awa.claim for a runtime that is not alive
TRANSIENT = (
    pg.SerializationFailure,
    pg.DeadlockDetected,
    pg.LockNotAvailable,
    pg.QueryCanceled,
)
_MIGRATE_HINT = "Run: awa migrate"


class RuntimeGone(DatabaseError):
    """The runtime was declared dead or was never registered; its attempts belong to others now."""


@contextmanager
def mapped_errors() -> Iterator[None]:
    """Turns driver errors into `AwaError`s; transient ones (see `TRANSIENT`) keep their cause."""
    try:
        yield
    except (psycopg.Error, PoolTimeout, PoolClosed, TooManyRequests) as error:
        raise translate(error) from error


def is_transient(error: BaseException) -> bool:
    """Whether the same statement may succeed when it is tried again at once."""
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    return isinstance(cause, TRANSIENT)


def is_lost_connection(error: BaseException) -> bool:
    """Whether the connection is gone, so that a new one is needed."""
    cause = error if isinstance(error, psycopg.Error) else error.__cause__
    return isinstance(
        cause, (pg.AdminShutdown, pg.CrashShutdown, pg.CannotConnectNow, PoolTimeout)
    ) or (
        isinstance(cause, (psycopg.OperationalError, psycopg.InterfaceError))
        and cause.sqlstate is None
    )


def is_unstorable(error: AwaError) -> bool:
    """Whether the data is at fault (SQLSTATE class 22 or 23), so that sending it again is of no use."""
    state = getattr(error.__cause__, "sqlstate", None) or ""
    return state.startswith(("22", "23")) or isinstance(error, ValidationError)


def translate(error: Exception) -> AwaError:
    """The error of this library that says what a driver error means."""
    match error:
        case PoolTimeout() | TooManyRequests():
            return DatabaseError(
                "no database connection became free in time",
                hint="Is the server running? If it is: raise AWA_POOL_MAX_SIZE, or look for work that keeps connections.",
            )
        case PoolClosed():
            return DatabaseError("the client is closed", hint="Open a new client.")
        case pg.InvalidParameterValue():
            return ValidationError(_first_line(error))
        case pg.InvalidSchemaName() | pg.UndefinedTable() | pg.UndefinedFunction() if "awa." in str(
            error
        ) or '"awa"' in str(error):
            return SchemaNotMigrated(
                "this database has no awa schema of this version", hint=_MIGRATE_HINT
            )
        case pg.InsufficientPrivilege():
            return DatabaseError(
                f"the database role lacks a right: {_first_line(error)}",
                hint="Grant it, or connect with another role.",
            )
        case pg.DeadlockDetected() | pg.SerializationFailure() | pg.LockNotAvailable():
            return _busy(error)
        case psycopg.Error() if error.sqlstate == RUNTIME_GONE:
            return RuntimeGone(_first_line(error))
        case pg.InvalidPassword() | pg.InvalidAuthorizationSpecification():
            return _refused_login()
        case psycopg.Error() if error.sqlstate is None and _says_login_failed(str(error)):
            return _refused_login()
        case psycopg.OperationalError() if error.sqlstate is None:
            return DatabaseError(
                f"no connection to the database: {_without_secrets(_first_line(error))}",
                hint="Is the server running, and is the URL right?",
            )
        case _:
            return DatabaseError(_without_secrets(_first_line(error)), hint=_server_hint(error))


def _busy(error: psycopg.Error) -> DatabaseError:
    """Nobody's fault, and gone when it is tried again."""
    message, hint = _first_line(error), _server_hint(error) or "Run the whole transaction again."
    if isinstance(error, pg.DeadlockDetected):
        message = "two transactions waited for each other's locks, and the database ended this one; nothing of it was kept"
        # The server's own hint sends to a log that the reader may not have.
        hint = (
            "Run the whole transaction again. Several unique jobs go into one insert_many:"
            " sets take their keys in one order, and don't get there."
        )
    details = {"retryable": True, "sqlstate": error.sqlstate}
    return DatabaseError(message, hint=hint, details=details)


def _says_login_failed(message: str) -> bool:
    return "authentication failed" in message or "no password supplied" in message


def _refused_login() -> DatabaseError:
    return DatabaseError(
        "the database refused the user name or password",
        hint="Check the user and the password of the database URL.",
    )


def _first_line(error: Exception) -> str:
    diagnostic = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    return diagnostic or (str(error).strip().splitlines() or [type(error).__name__])[0]


def _server_hint(error: Exception) -> str | None:
    return error.diag.message_hint if isinstance(error, psycopg.Error) else None


def _without_secrets(message: str) -> str:
    hidden = re.sub(r"://[^@/\s]*@", "://…@", message)
    return re.sub(r"(password\s*=\s*)\S+", r"\1…", hidden, flags=re.IGNORECASE)
