"""What can go wrong, as values that help: what happened, what was seen, what to do.

Every error that leaves awa is an `AwaError`. The command line turns its `code` into an exit code,
the HTTP layer into a status; nobody reads the message to decide anything.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """One field of the input and what is wrong with it."""

    field: str
    message: str


class AwaError(Exception):
    """Base of all errors.

    `hint` is one sentence on what to do next. `fields` names the parts of the input that are at
    fault. `details` is JSON-able and carries facts a program may need (the present state, the holder).
    """

    code: ClassVar[str] = "error"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        fields: Iterable[FieldProblem] = (),
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.fields = tuple(fields)
        self.details: dict[str, Any] | None = None if details is None else dict(details)

    def __str__(self) -> str:
        return self.message if self.hint is None else f"{self.message} ({self.hint})"


class ValidationError(AwaError):
    """The input is wrong; `fields` says where."""

    code = "invalid"


class NotFound(AwaError):
    """There is no such thing under that id or name."""

    code = "not_found"


class Conflict(AwaError):
    """The thing exists, but its present state does not allow what was asked."""

    code = "conflict"


class UniqueConflict(Conflict):
    """Another job holds the unique key. `job_id` says which; None if nothing was inserted and the two were of one set."""

    code = "unique_conflict"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        fields: Iterable[FieldProblem] = (),
        details: Mapping[str, Any] | None = None,
        job_id: int | None = None,
    ) -> None:
        super().__init__(
            message, hint=hint, fields=fields, details={"job_id": job_id, **(details or {})}
        )
        self.job_id = job_id


class SchemaNotMigrated(AwaError):
    """The database's schema is missing, older or newer than this program."""

    code = "schema_not_migrated"


class UnknownJobKind(AwaError):
    """No handler is registered for that kind of job."""

    code = "unknown_job_kind"


class DatabaseError(AwaError):
    """The database refused, could not be reached, or broke off."""

    code = "database"


class ReadOnly(AwaError):
    """This process may look but not change."""

    code = "read_only"


class Forbidden(AwaError):
    """Known caller, but without the right."""

    code = "forbidden"


class Unauthorized(AwaError):
    """Unknown caller."""

    code = "unauthorized"


class NotConfirmed(AwaError):
    """Something large or final was asked for without the confirmation that it needs."""

    code = "not_confirmed"


class TooMany(AwaError):
    """More than the server takes at once; `details["retry_after_s"]` says when to try again."""

    code = "too_many"


class TooSlow(AwaError):
    """The answer would take longer than a look may; the hint says what to narrow."""

    code = "too_slow"


def invalid_field(field: str, message: str, *, hint: str | None = None) -> ValidationError:
    """A `ValidationError` about one field, its message readable without the list of fields."""
    return ValidationError(f"{field}: {message}", hint=hint, fields=[FieldProblem(field, message)])


def invalid_fields(what: str, problems: Iterable[FieldProblem]) -> ValidationError:
    """A `ValidationError` about several fields of one thing (`what`: "filter", "spec", …)."""
    listed = tuple(problems)
    sentences = "; ".join(f"{p.field}: {p.message}" for p in listed)
    return ValidationError(f"the {what} is not valid: {sentences}", fields=listed)
