"""Makes a cluster with initdb, once, and refuses one of another version. The caller holds the folder lock."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from awa.dev.account import Account
from awa.dev.binaries import PostgresBinaries, major_of
from awa.dev.folder import DataFolder
from awa.model.errors import AwaError

BUILTIN_LOCALE_SINCE_MAJOR = 17


def make_cluster(
    folder: DataFolder,
    binaries: PostgresBinaries,
    account: Account,
    socket_dir: Path,
    *,
    sync: bool,
) -> None:
    """Run initdb if there is no cluster yet. One that was left half made is thrown away first."""
    if folder.cluster.exists():
        _require_same_major(folder, binaries)
        return
    making = folder.cluster_in_the_making
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir(mode=0o700)
    account.own(making)
    with _password_file(socket_dir / "password", folder, account) as password:
        result = account.run(_initdb(binaries, making, password, sync=sync), folder.path)
    if result.returncode != 0:
        reasons = re.findall(r"(?:FATAL|error): +(.*)", result.stderr)
        raise AwaError(
            f"initdb failed: {reasons[0] if reasons else result.stderr.strip()}",
            hint=f"is there room and permission in {folder.path}?",
        )
    making.rename(folder.cluster)


def has_lz4(folder: DataFolder, binaries: PostgresBinaries, account: Account) -> bool:
    """Whether this build of PostgreSQL can compress with lz4."""
    name = "default_toast_compression"
    command = [str(binaries.program("postgres")), "-D", str(folder.cluster)]
    return account.run([*command, "-C", name, "-c", f"{name}=lz4"], folder.path).returncode == 0


@contextmanager
def _password_file(path: Path, folder: DataFolder, account: Account) -> Iterator[Path]:
    """The password where the server's user can read it, for a moment; nothing planted there is followed."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(folder.password)
    account.own(path)
    try:
        yield path
    finally:
        path.unlink()


def _initdb(
    binaries: PostgresBinaries, target: Path, password: Path, *, sync: bool
) -> list[str | Path]:
    locale = ["--locale=C"]
    if binaries.major >= BUILTIN_LOCALE_SINCE_MAJOR:
        locale += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    return [
        binaries.program("initdb"),
        f"--pgdata={target}",
        "--username=postgres",
        "--encoding=UTF8",
        *locale,
        "--auth-local=trust",  # the socket's folder lets nobody else in
        "--auth-host=scram-sha-256",
        f"--pwfile={password}",
        "--no-instructions",
        *([] if sync else ["--no-sync"]),
    ]


def _require_same_major(folder: DataFolder, binaries: PostgresBinaries) -> None:
    made_by = (folder.cluster / "PG_VERSION").read_text().strip()
    if major_of(made_by) != binaries.major:
        raise AwaError(
            f"the data in {folder.path} is of PostgreSQL {made_by}, the programs found are {binaries.version}",
            hint=f"set AWA_POSTGRES_BIN to a PostgreSQL {made_by}, or name another data folder",
        )
