"""The loader of statements: a name such as `operations/list` is the file `sql/operations/list.sql`.

The same name stands in the comment that `pg_stat_activity` shows, so a statement seen on a server is found
in the sources by its name.
"""

from functools import cache
from hashlib import sha256
from importlib.resources import files

_ROOT = files("awa.sql")


@cache
def text(name: str) -> str:
    """The statement `name`, without its header comment, marked with `/* awa:name */`.

    Raises `FileNotFoundError` for a name that has no file.
    """
    source = _ROOT.joinpath(f"{name}.sql").read_text(encoding="utf-8")
    return f"/* awa:{name} */ {_without_header(source)}"


@cache
def migrations() -> tuple[tuple[str, str], ...]:
    """(name, SQL) of each migration, in the order in which they are applied."""
    return _folder("migrations")


@cache
def definitions() -> tuple[tuple[str, str], ...]:
    """(name, SQL) of each function and view, in the order in which they are applied."""
    return _folder("functions") + _folder("views")


def definitions_checksum() -> str:
    """One checksum over all functions and views: another value means they must be applied again."""
    return checksum("".join(source for _, source in definitions()))


def checksum(source: str) -> str:
    """The checksum that a migration is recorded with, 64 hexadecimal digits."""
    return sha256(source.encode()).hexdigest()


def _folder(folder: str) -> tuple[tuple[str, str], ...]:
    found = sorted(
        entry.name for entry in _ROOT.joinpath(folder).iterdir() if entry.name.endswith(".sql")
    )
    return tuple(
        (name.removesuffix(".sql"), _ROOT.joinpath(folder, name).read_text(encoding="utf-8"))
        for name in found
    )


def _without_header(source: str) -> str:
    lines = source.splitlines()
    while lines and (lines[0].startswith("--") or not lines[0].strip()):
        lines.pop(0)
    return "\n".join(lines).strip().removesuffix(";")
