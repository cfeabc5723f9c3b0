"""Parameters that several routes take.

A route takes the name of a queue or schedule as `{queue:name}`: it may hold a slash, since servers decode %2F before
anybody sees it, and what may be in a name is for the name's own check to say, line breaks among it.
"""

from typing import Annotated

from fastapi import Path, Query
from starlette.convertors import StringConvertor, register_url_convertor

from awa.model.errors import NotFound
from awa.model.limits import JOB_ID_MAX, PAGE_MAX_ROWS

CURSOR_MAX_CHARS = 200


class _Name(StringConvertor):
    regex = r"[\s\S]+"


register_url_convertor("name", _Name())

# Text that is no UUID names no operation, so it is not found like any other id that nobody has.
OperationId = Annotated[
    str,
    Path(examples=["0d8f2f8e-4a39-4a7c-9a53-0a4e7b1c9f10"], json_schema_extra={"format": "uuid"}),
]
Limit = Annotated[int, Query(ge=1, le=PAGE_MAX_ROWS, description="rows of a page")]
Cursor = Annotated[
    str | None,
    Query(max_length=CURSOR_MAX_CHARS, description="`next_cursor` of the page before"),
]
# A page by name goes on after a name, which may be long.
NameCursor = Annotated[
    str | None,
    Query(max_length=1_200, description="`next_cursor` of the page before"),
]
Search = Annotated[
    str | None, Query(max_length=200, description="only names with this in them, whatever its case")
]
JobId = Annotated[str, Path(examples=["41007"], json_schema_extra={"format": "int64"})]
QueueName = Annotated[str, Path(examples=["email"])]


def job_number(text: str) -> int:
    """The id that a path names. Text that is no id names no job."""
    if text.isascii() and text.isdecimal() and len(text) <= 19 and 0 < int(text) <= JOB_ID_MAX:
        return int(text)
    raise NotFound(f"there is no job {text[:40]!r}", hint="a job's id is a whole number above 0")
