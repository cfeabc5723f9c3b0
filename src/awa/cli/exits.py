"""What a command's end is called: the exit codes, and which error leads to which.

This table is the only place that knows. Shell scripts and CI jobs branch on these numbers, so they
are part of the contract: a new error class gets its line here and nowhere else.
"""

from typing import Final

from awa.model import errors

DONE: Final = 0
FAILED: Final = 1
"""No database, schema not migrated, or the operation itself failed."""
WRONG_INPUT: Final = 2
"""Usage, filter or spec."""
NOT_FOUND: Final = 3
REFUSED: Final = 4
"""Not confirmed, read-only, no right, or the state of things forbids it."""
INTERRUPTED: Final = 130
"""Ctrl-C, as shells count it: 128 + SIGINT."""
BROKEN_PIPE: Final = 141
"""The reader of our output went away (`awa job list | head -1`): 128 + SIGPIPE."""

# The first line that fits decides, so subclasses stand above their parents.
_BY_ERROR: Final[tuple[tuple[type[errors.AwaError], int], ...]] = (
    (errors.ValidationError, WRONG_INPUT),
    (errors.UnknownJobKind, WRONG_INPUT),
    (errors.NotFound, NOT_FOUND),
    (errors.Conflict, REFUSED),
    (errors.NotConfirmed, REFUSED),
    (errors.ReadOnly, REFUSED),
    (errors.Forbidden, REFUSED),
    (errors.Unauthorized, REFUSED),
    (errors.AwaError, FAILED),
)


def exit_code(error: errors.AwaError) -> int:
    """The exit code for an error that Awa raised."""
    return next(code for kind, code in _BY_ERROR if isinstance(error, kind))
