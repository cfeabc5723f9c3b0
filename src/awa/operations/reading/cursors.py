"""Cursors: the key of the last row that a page showed, in a form that nobody is tempted to build."""

import base64
import binascii
from datetime import datetime
from uuid import UUID

from awa.model.errors import ValidationError, invalid_field
from awa.model.limits import JOB_ID_MAX

CURSOR_MAX_CHARS = 2_000


def encode(text: str) -> str:
    """The cursor that stands for this key."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode(cursor: str) -> str:
    """The key that a cursor stands for. Raises ValidationError for what no page returned."""
    if len(cursor) > CURSOR_MAX_CHARS:
        raise refused(cursor)
    try:
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True).decode()
    except (binascii.Error, ValueError):
        raise refused(cursor) from None
    if "\x00" in text:
        raise refused(cursor)
    return text


def decode_name(cursor: str | None) -> str | None:
    """The name after which a page by name goes on."""
    return None if cursor is None else decode(cursor)


def decode_job(cursor: str | None) -> int | None:
    """The id before which a page of jobs goes on."""
    if cursor is None:
        return None
    text = decode(cursor)
    if not (text.isascii() and text.isdecimal() and len(text) <= 19):
        raise refused(cursor)
    job_id = int(text)
    if not 1 <= job_id <= JOB_ID_MAX:
        raise refused(cursor)
    return job_id


def encode_moment(at: datetime, identity: UUID) -> str:
    """The cursor of a page by time."""
    return encode(f"{at.isoformat()} {identity}")


def decode_moment(cursor: str | None) -> tuple[datetime | None, UUID | None]:
    """The moment and identity after which a page by time goes on."""
    if cursor is None:
        return None, None
    at, _, identity = decode(cursor).partition(" ")
    try:
        moment = datetime.fromisoformat(at)
        if moment.utcoffset() is None:
            raise refused(cursor)
        return moment, UUID(identity)
    except ValueError:
        raise refused(cursor) from None


def refused(cursor: object) -> ValidationError:
    """What is said of a cursor that isn't one."""
    return invalid_field("cursor", f"{str(cursor)[:100]!r} is not a cursor that a page returned")
