"""The loader of statements: a name such as `operations/list` is the file `sql/operations/list.sql`.

The same name stands in the comment that `pg_stat_activity` shows, so a statement seen on a server is found
in the sources by its name.

The schema comes in two storages. What both have lies in the folders `migrations`, `functions` and `views`, what one
of them has alone in a folder of its name therein.
"""

from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Final, Literal, TypeAlias

Storage: TypeAlias = Literal["lanes", "canonical"]
LANES: Final = "lanes"
CANONICAL: Final = "canonical"
STORAGES: Final[tuple[Storage, ...]] = (LANES, CANONICAL)

_ROOT = files("awa.sql")


@cache
def text(name: str) -> str:
    """The statement `name`, without its header comment, marked with `/* awa:name */`.

    Raises `FileNotFoundError` for a name that has no file.
    """
    source = _ROOT.joinpath(f"{name}.sql").read_text(encoding="utf-8")
    return f"/* awa:{name} */ {_without_header(source)}"


@cache
def migrations(storage: Storage = LANES) -> tuple[tuple[str, str], ...]:
    """(name, SQL) of each migration of a storage, in the order in which they are applied."""
    return _folder("migrations", storage)


@cache
def definitions(storage: Storage = LANES) -> tuple[tuple[str, str], ...]:
    """(name, SQL) of each function and view of a storage, in the order in which they are applied."""
    return _folder("functions", storage) + _folder("views", storage)


def definitions_checksum(storage: Storage = LANES) -> str:
    """One checksum over all functions and views: another value means they must be applied again."""
    return checksum("".join(source for _, source in definitions(storage)))


def checksum(source: str) -> str:
    """The checksum that a migration is recorded with, 64 hexadecimal digits."""
    return sha256(source.encode()).hexdigest()


def _folder(folder: str, storage: Storage) -> tuple[tuple[str, str], ...]:
    """The files of a folder and those of the storage's own folder in it, by name whichever they are in."""
    found = sorted(
        (entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8"))
        for place in (_ROOT.joinpath(folder), _ROOT.joinpath(folder, storage))
        for entry in place.iterdir()
        if entry.name.endswith(".sql")
    )
    return tuple(found)


def _without_header(source: str) -> str:
    lines = source.splitlines()
    while lines and (lines[0].startswith("--") or not lines[0].strip()):
        lines.pop(0)
    return "\n".join(lines).strip().removesuffix(";")
