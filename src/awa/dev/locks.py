"""Who may touch a data folder now, and who is using its server: two files and `flock`.

The kernel gives a lock back when its holder dies, so a crash leaves nothing to clean up.
"""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from awa.model.errors import AwaError

LOCK_POLL_S = 0.02


@contextmanager
def folder_lock(data_dir: Path, timeout_s: float) -> Iterator[None]:
    """The one lock around initdb, start and stop. Raises AwaError after the timeout, naming the holder."""
    file = os.open(data_dir / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _wait_for(file, data_dir, timeout_s)
        os.ftruncate(file, 0)
        os.pwrite(file, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(file)


class Membership:
    """One user of the server: a shared lock on the file `users`. Whoever leaves last may stop the server."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / "users"
        self._file: int | None = None

    def join(self) -> None:
        """Be counted as a user. Call it under the folder lock."""
        if self._file is None:
            self._file = _open_users(self._path)
            fcntl.flock(self._file, fcntl.LOCK_SH)

    def leave(self) -> bool:
        """Be counted no longer; True if that was the last user. Call it under the folder lock."""
        if self._file is None:
            return False
        file, self._file = self._file, None
        try:
            fcntl.flock(file, fcntl.LOCK_UN)
            return _try_exclusive(file)
        finally:
            fcntl.flock(file, fcntl.LOCK_UN)  # a forked child may keep the file open
            os.close(file)


def is_used(data_dir: Path) -> bool:
    """Whether any living process uses this server. Call it under the folder lock."""
    file = _open_users(data_dir / "users")
    try:
        return not _try_exclusive(file)
    finally:
        os.close(file)


def _open_users(path: Path) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _wait_for(file: int, data_dir: Path, timeout_s: float) -> None:
    give_up_at = time.monotonic() + timeout_s
    while not _try_exclusive(file):
        if time.monotonic() >= give_up_at:
            holder = os.pread(file, 20, 0).decode().strip() or "another process"
            raise AwaError(
                f"{data_dir} is being started or stopped by process {holder} since {timeout_s:g} s",
                hint=f"wait for it, or end process {holder}",
            )
        time.sleep(LOCK_POLL_S)


def _try_exclusive(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
