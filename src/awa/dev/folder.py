"""The layout of a data folder, and the care taken about who may enter it.

<data folder>/      ours, root's under root; the server's user may pass through, nobody else may look
  lock, users       see `locks`
  password          for TCP only, readable by us alone
  server.log        written through a descriptor that the server inherits
  pgdata/           the cluster, the server's user's
  socket            a folder of the server's user, or a link to one where the path would be too long
"""

import os
import secrets
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from awa.dev.account import Account, require_reach
from awa.model.errors import AwaError

SOCKET_PATH_LIMIT_BYTES = (
    103  # sun_path holds 104 bytes on macOS and 108 on Linux, with a closing zero
)
SOCKET_BASES = (Path("/tmp"), Path("/var/tmp"))
LOG_LIMIT_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class DataFolder:
    """The paths of one embedded server."""

    path: Path

    @property
    def cluster(self) -> Path:
        """What PostgreSQL calls its data directory."""
        return self.path / "pgdata"

    @property
    def cluster_in_the_making(self) -> Path:
        """Where initdb works; renamed when it is done."""
        return self.path / "pgdata.new"

    @property
    def log(self) -> Path:
        """What the server says."""
        return self.path / "server.log"

    @property
    def socket(self) -> Path:
        """The folder of the Unix socket, or the link to it."""
        return self.path / "socket"

    @property
    def password(self) -> str:
        """The password for TCP; made at the first call."""
        file = self.path / "password"
        if not file.exists():
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(file, flags, 0o600), "w") as out:
                out.write(secrets.token_urlsafe(24))
        return file.read_text()

    def is_known(self) -> bool:
        """Whether an embedded server lived here before."""
        return (self.path / "lock").exists()


def prepare_folder(folder: DataFolder, account: Account) -> None:
    """Make the folder if need be and let the server's user pass; refuses a folder with other things in it."""
    require_reach(account, next(path for path in folder.path.parents if path.is_dir()))
    _make_with_parents(folder.path, account)
    if not folder.is_known() and any(folder.path.iterdir()):
        raise AwaError(
            f"{folder.path} is not empty and is not the data folder of an embedded server",
            hint="name an empty or a new folder",
        )
    if folder.path.stat().st_uid != os.geteuid():
        raise AwaError(
            f"{folder.path} belongs to another user",
            hint="run as that user, or name another data folder",
        )
    folder.path.chmod(0o700 if account.uid is None else 0o711)
    require_reach(account, folder.path)


def prepare_socket_dir(folder: DataFolder, account: Account) -> Path:
    """The folder for the Unix socket, its path short enough for the kernel; the same one at each start.

    What a killed server left in it is removed: its lock file would stop a start for as long as its process id is taken.
    """
    target = _known_socket_dir(folder, account) or _new_socket_dir(folder, account)
    for leftover in target.glob(".s.PGSQL.*"):
        leftover.unlink()
    return target


def remove_socket_dir(folder: DataFolder) -> None:
    """Take away the socket's folder if it lies outside the data folder."""
    if folder.socket.is_symlink():
        target = folder.socket.readlink()
        folder.socket.unlink()
        if target.is_dir() and not any(target.iterdir()):
            target.rmdir()


def open_log(folder: DataFolder) -> IO[bytes]:
    """The log to append to; it may quote statements, so nobody else reads it."""
    return os.fdopen(os.open(folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")


def keep_log_small(folder: DataFolder) -> None:
    """Set a large log aside, in place of the one set aside before."""
    if folder.log.exists() and folder.log.stat().st_size > LOG_LIMIT_BYTES:
        folder.log.replace(folder.log.with_suffix(".log.1"))


def _known_socket_dir(folder: DataFolder, account: Account) -> Path | None:
    link = folder.socket
    target = link.readlink() if link.is_symlink() else link
    if _belongs_to(target, account):
        return target
    if link.is_symlink():
        link.unlink()
    return None


def _new_socket_dir(folder: DataFolder, account: Account) -> Path:
    target = folder.socket
    if len(os.fsencode(target / ".s.PGSQL.65535")) > SOCKET_PATH_LIMIT_BYTES:
        base = next((base for base in SOCKET_BASES if account.can_enter(base)), SOCKET_BASES[0])
        target = Path(tempfile.mkdtemp(prefix="awa-socket-", dir=base))
        folder.socket.symlink_to(target)
    else:
        target.mkdir(mode=0o700, exist_ok=True)
    account.own(target)
    return target


def _make_with_parents(path: Path, account: Account) -> None:
    if path.is_dir():
        return
    if path.exists():
        raise AwaError(f"{path} is not a folder", hint="name an empty or a new folder")
    _make_with_parents(path.parent, account)
    path.mkdir(exist_ok=True)
    if account.uid is not None:
        path.chmod(
            0o755
        )  # whatever the umask: it is new, so nothing that somebody had closed is opened


def _belongs_to(path: Path, account: Account) -> bool:
    try:
        seen = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(seen.st_mode) and seen.st_uid == (
        os.geteuid() if account.uid is None else account.uid
    )
