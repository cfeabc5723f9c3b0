"""What a failed chunk means, told by its SQLSTATE: try again, a bad row, a hopeless operation, or no database.

Only what the data itself caused may become an item's outcome. A deadlock, a lock that was not had in
time, a time limit or a lost connection says nothing about any job.
"""

from enum import Enum
from typing import Final

import psycopg

from awa.model.errors import AwaError


class Failure(Enum):
    """What to do about it."""

    TRY_AGAIN = "the database was busy: the same again, with fewer rows"
    BAD_ROW = "some row of the chunk is at fault: halve until it stands alone"
    HOPELESS = "no chunk of this operation can succeed: it fails"
    NO_DATABASE = "the database or the connection is at fault: nothing is concluded"


TRY_AGAIN_STATES: Final = frozenset({"40001", "40P01", "55P03", "57014"})
# Data, constraints, cardinality, external routines, triggers, limits, raised errors.
BAD_ROW_CLASSES: Final = frozenset({"21", "22", "23", "27", "38", "39", "44", "54", "P0"})
# Syntax, missing objects and rights, unsupported features: filter or spec do not fit this database.
HOPELESS_CLASSES: Final = frozenset({"0A", "42"})


def sqlstate(error: BaseException) -> str | None:
    """The SQLSTATE behind an error, if the server sent one."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, psycopg.Error) and seen.sqlstate:
            return seen.sqlstate
        seen = seen.__cause__
    return None


def judge(error: AwaError) -> Failure:
    """What a chunk's failure means."""
    state = sqlstate(error)
    if state is None:
        return Failure.NO_DATABASE
    if state in TRY_AGAIN_STATES:
        return Failure.TRY_AGAIN
    if state[:2] in BAD_ROW_CLASSES:
        return Failure.BAD_ROW
    if state[:2] in HOPELESS_CLASSES:
        return Failure.HOPELESS
    return Failure.NO_DATABASE
