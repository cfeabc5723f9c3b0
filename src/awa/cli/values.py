"""Values that come from a command line: JSON, times, queues with their widths.

What is wrong with a value is said in terms of the option it was given to, and always as a
ValidationError, so that it ends in exit code 2 like any other wrong input.
"""

from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import orjson

from awa.model import exact
from awa.model.errors import FieldProblem, ValidationError


def json_object(text: str, option: str) -> dict[str, Any]:
    """A JSON object from an option, or from a file with `@path`."""
    value = json_value(text, option)
    if not isinstance(value, dict):
        raise wrong(option, f"{option} is {_kind_of(value)}, not a JSON object", _quoting(option))
    return value


def json_value(text: str, option: str) -> Any:
    """Any JSON value from an option, or from a file with `@path`."""
    said = text
    if text.startswith("@"):
        text = _read(Path(text[1:]), option)
    try:
        return exact.loads(text)
    except orjson.JSONDecodeError as error:
        if said is not text:
            raise wrong(
                option, f"{option} names the file {said[1:]}, which is not JSON: {error}"
            ) from None
        shown = text if len(text) <= 60 else f"{text[:57]}…"
        message = f"{option} is not JSON: {error}; it was {shown!r}"
        raise wrong(option, message, _quoting(option)) from None


def _quoting(option: str) -> str:
    example = _EXAMPLES.get(option, '{"to": "ada@example.org"}')
    return f"In a shell, put JSON into single quotes: {option} '{example}'"


_EXAMPLES = {"--filter": '{"queue": "default"}', "--spec": '{"priority": 1}'}


def aware_time(text: str | None, option: str) -> datetime | None:
    """An ISO 8601 time with its zone. A time without one is refused: whose noon would it be?"""
    if text is None:
        return None
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        message = f"{option} is {text!r}, not a time"
        raise wrong(option, message, "Write it like 2026-06-01T12:00:00Z.") from None
    if value.tzinfo is None:
        message = f"{option} is {text!r}, a time without a zone"
        raise wrong(option, message, f"Add one: {text}Z or {text}+02:00.")
    return value


def time_or_date(text: str, option: str) -> datetime:
    """An ISO 8601 time with its zone, or a day, which begins at midnight UTC."""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        moment = aware_time(text, option)
        assert moment is not None, "a text was given"
        return moment
    return datetime.combine(day, time.min, tzinfo=UTC)


def queue_spec(text: str) -> dict[str, Any]:
    """`email=50:weight=3,rate=10` as an entry of `client.start`; what isn't said is left to the configuration.

    A colon may also be part of the name: only what follows the last one and begins with the name of an option is one.
    """
    said, colon, tail = text.rpartition(":")
    if not colon or tail.partition("=")[0].strip() not in _QUEUE_OPTIONS:
        said, tail = text, ""
    name, equals, width = said.partition("=")
    spec: dict[str, Any] = {"queue": name}
    if equals:
        if not width.isdecimal() or int(width) < 1:
            message = f"--queue is {text!r}, whose width {width!r} is no number of 1 or more"
            raise wrong("--queue", message, "Write --queue email=50 for 50 jobs at a time.")
        spec["max_workers"] = int(width)
    for part in tail.split(",") if tail else ():
        option, _, value = part.partition("=")
        spec |= _queue_option(text, option.strip(), value.strip())
    return spec


_QUEUE_OPTIONS = {
    "weight": "weight",
    "min": "min_workers",
    "rate": "rate_limit",
    "deadline": "deadline_seconds",
}


def _queue_option(text: str, option: str, value: str) -> dict[str, Any]:
    if option not in _QUEUE_OPTIONS:
        known = ", ".join(_QUEUE_OPTIONS)
        message = f"--queue is {text!r}, and {option!r} is no option of a queue"
        raise wrong("--queue", message, f"Known are {known}; write --queue email:weight=3.")
    try:
        number = int(value) if value.isdecimal() else float(value)
    except ValueError:
        message = f"--queue is {text!r}, whose {option} {value!r} is no number"
        raise wrong("--queue", message, f"Write --queue email:{option}=3.") from None
    return {_QUEUE_OPTIONS[option]: number}


def wrong(option: str, message: str, hint: str | None = None) -> ValidationError:
    """A ValidationError about one option."""
    field = option.lstrip("-").replace("-", "_")
    return ValidationError(message, hint=hint, fields=(FieldProblem(field, message),))


def _read(path: Path, option: str) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = reason_of(error)
        raise wrong(
            option, f"{option} names the file {path}, which cannot be read: {reason}"
        ) from None


def reason_of(error: Exception) -> str:
    """Why a file could not be read, without the number and the name that Python puts around it."""
    said = error.strerror if isinstance(error, OSError) else None
    return (said or str(error)).lower()


def _kind_of(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
    return type(value).__name__
