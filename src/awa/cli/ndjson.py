"""Jobs from a file, one JSON object a line, packed with gzip or not.

A wrong line is refused with its number before anything of the file has been committed.
"""

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import orjson

from awa.cli.values import aware_time, reason_of, wrong
from awa.model import exact
from awa.model.draft import JobOptions, check_options, prepare
from awa.model.errors import ValidationError
from awa.model.limits import QUEUE_DEFAULT
from awa.operations.insert import new_job
from awa.storage.enqueue import NewJob

GZIP_MAGIC: Final = b"\x1f\x8b"

Placed: TypeAlias = tuple[str, NewJob]


class JobFile:
    """A file of jobs that can be gone through several times, never held in memory whole."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def count(self) -> int:
        """How many jobs there are, for the progress bar."""
        return sum(1 for line in self._lines() if line.strip())

    def jobs(self, defaults: JobOptions) -> Iterator[Placed]:
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
            raise wrong("--file", f"{self.path} cannot be read: {reason_of(error)}") from None


def one_job(document: Mapping[str, Any], defaults: JobOptions) -> Placed:
    """(queue, job) of one JSON object, checked; what it leaves out is said by the defaults."""
    args = document.get("args", {})
    if not isinstance(args, dict):
        raise wrong("args", f"args: expected a JSON object, got {type(args).__name__}")
    said: dict[str, Any] = {**defaults, **document}
    said.pop("args", None)
    if said.get("kind") is None:
        raise wrong("kind", "kind: is required", "Say it in the line, or for all with --kind.")
    if isinstance(said.get("run_at"), str):
        said["run_at"] = aware_time(said["run_at"], "run_at")
    options = check_options(cast("JobOptions", said))
    prepared = prepare(args, options)
    return options.queue or QUEUE_DEFAULT, new_job(prepared)


def _object(line: bytes) -> dict[str, Any]:
    try:
        document = exact.loads(line)
    except orjson.JSONDecodeError as error:
        raise wrong("file", f"not JSON: {error}") from None
    if not isinstance(document, dict):
        raise wrong("file", "not a JSON object")
    return document
