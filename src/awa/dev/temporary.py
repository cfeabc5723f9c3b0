"""Servers that leave nothing behind: for the tests and the demo."""

import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from shutil import disk_usage, rmtree

from awa.dev.account import choose_account
from awa.dev.binaries import PostgresBinaries
from awa.dev.folder import DataFolder, remove_socket_dir
from awa.dev.locks import folder_lock, is_used
from awa.dev.postgres import Server, start_server
from awa.dev.process import shut_down
from awa.model.errors import AwaError

PREFIX = "awa-tmp-"
STOP_TIMEOUT_S = 20.0
MEMORY_WANTED_BYTES = 4 * 2**30


@contextmanager
def temporary_server(
    *,
    settings: Mapping[str, str] | None = None,
    tcp_port: int | None = None,
    binaries: PostgresBinaries | None = None,
    base: Path | None = None,
) -> Iterator[Server]:
    """A new server in a new folder below `base`; both are gone afterwards, whoever else still uses them.

    What earlier processes left there because they were killed is cleared away first.
    """
    base = base or temporary_base()
    remove_abandoned(base)
    data_dir = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
    try:
        server = start_server(data_dir, settings=settings, tcp_port=tcp_port, binaries=binaries)
        try:
            yield server
        finally:
            server.halt("immediate", STOP_TIMEOUT_S)
            server.stop("immediate", STOP_TIMEOUT_S)
    finally:
        rmtree(data_dir, ignore_errors=True)


def temporary_base() -> Path:
    """The first temporary folder that the server's user can enter."""
    account = choose_account()
    bases = [Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp")]
    return next((base for base in bases if account.can_enter(base)), bases[0])


def memory_base() -> Path | None:
    """The folder that lives in memory, if it is there and large: making a database there takes 9 ms, not 150."""
    base = Path("/dev/shm")
    if not base.is_dir() or not os.access(base, os.W_OK):
        return None
    return base if disk_usage(base).free >= MEMORY_WANTED_BYTES else None


def remove_abandoned(base: Path) -> int:
    """Stop and remove our temporary servers in this folder that no living process uses; says how many."""
    return sum(_remove_if_abandoned(path) for path in base.glob(f"{PREFIX}*"))


def _remove_if_abandoned(path: Path) -> bool:
    try:
        if path.lstat().st_uid != os.geteuid() or not (path / "users").is_file():
            return False
        with folder_lock(path, 0):
            if is_used(path):
                return False
            folder = DataFolder(path)
            shut_down(folder, "immediate", STOP_TIMEOUT_S)
            remove_socket_dir(folder)
            rmtree(path, ignore_errors=True)
            return True
    except (OSError, AwaError):  # somebody is at work there, or was quicker
        return False
