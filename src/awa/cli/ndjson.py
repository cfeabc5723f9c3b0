"""Jobs from a file, one JSON object a line, packed with gzip or not.

A wrong line is refused with its number before anything of the file has been committed.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import orjson

from awa.cli.values import aware_time, wrong
from awa.model import limits
from awa.model.errors import ValidationError
from awa.storage.enqueue import NewJob

GZIP_MAGIC: Final = b"\x1f\x8b"
KEYS: Final = (
    "kind",
    "args",
    "queue",
    "priority",
    "run_at",
    "max_attempts",
    "tags",
    "metadata",
    "ordering_key",
)


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a line does not say itself."""

    kind: str | None = None
    queue: str = limits.QUEUE_DEFAULT
    priority: int = limits.PRIORITY_DEFAULT
    run_at: datetime | None = None
    max_attempts: int = limits.MAX_ATTEMPTS_DEFAULT
    tags: tuple[str, ...] = ()


class JobFile:
    """A file of jobs that can be gone through several times, never held in memory whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def count(self) -> int:
        """How many jobs there are, for the progress bar."""
        return sum(1 for line in self._lines() if line.strip())

    def jobs(self, defaults: Defaults) -> Iterator[tuple[str, NewJob]]:
        """(queue, job) of each line. Raises ValidationError with the number of the first wrong line."""
        for number, line in enumerate(self._lines(), 1):
            if not line.strip():
                continue
            try:
                yield one_job(_object(line), defaults)
            except ValidationError as error:
                where = f"line {number} of {self.path}: {error.message}"
                raise ValidationError(where, hint=error.hint, fields=error.fields) from None

    def _lines(self) -> Iterator[bytes]:
        try:
            with self.path.open("rb") as plain:
                packed = plain.read(len(GZIP_MAGIC)) == GZIP_MAGIC
                plain.seek(0)
                yield from gzip.GzipFile(fileobj=plain) if packed else plain
        except (OSError, EOFError, zlib.error) as error:
            raise wrong("--file", f"{self.path} cannot be read: {error}") from None


def one_job(document: Mapping[str, Any], defaults: Defaults) -> tuple[str, NewJob]:
    """(queue, job) of one JSON object, checked."""
    for key in document:
        if key not in KEYS:
            raise _unknown(key)
    tags = limits.check_tags([*document.get("tags", ()), *defaults.tags])
    run_at = document.get("run_at")
    job = NewJob(
        kind=limits.check_kind(document.get("kind", defaults.kind)),
        args_json=orjson.dumps(document.get("args", {})).decode(),
        priority=limits.check_priority(document.get("priority", defaults.priority)),
        run_at=defaults.run_at if run_at is None else aware_time(run_at, "run_at"),
        max_attempts=limits.check_max_attempts(document.get("max_attempts", defaults.max_attempts)),
        tags=tuple(tags),
        metadata=document.get("metadata"),
        ordering_key=document.get("ordering_key"),
    )
    return limits.check_queue(document.get("queue", defaults.queue)), job


def _object(line: bytes) -> dict[str, Any]:
    try:
        document = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise wrong("file", f"not JSON: {error}") from None
    if not isinstance(document, dict):
        raise wrong("file", "not a JSON object")
    return document


def _unknown(key: str) -> ValidationError:
    close = get_close_matches(key, KEYS, n=1)
    advice = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(KEYS)}"
    return wrong(key, f"unknown field {key!r}, {advice}")
