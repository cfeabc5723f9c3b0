"""What `postmaster.pid` says, and whether to believe it.

The file outlives a crash, and its process id may belong to another program by then. PostgreSQL looks only for a live
process of that id and would refuse to start; it also finds in the file the shared memory whose leftover users it has
to wait for, so a stale file is never removed here: its id is replaced by one that no process can have.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

IMPOSSIBLE_PID = 2**31 - 1  # above the highest pid of every kernel
PS_TIMEOUT_S = 10
READY = "ready"
STOPPING = "stopping"


@dataclass(frozen=True, slots=True)
class Postmaster:
    """A running server as it describes itself."""

    pid: int
    port: int
    socket_dir: Path
    listens: bool
    status: str


def running_postmaster(cluster: Path) -> Postmaster | None:
    """The live server of this cluster, in whatever state; None if there is none."""
    found = read_postmaster(cluster)
    return found if found and is_server_of(found.pid, cluster) else None


def read_postmaster(cluster: Path) -> Postmaster | None:
    """What the file says, true or stale; None while there is no complete file."""
    try:
        lines = (cluster / "postmaster.pid").read_text().splitlines()
        pid, port, socket_dir, listens = int(lines[0]), int(lines[3]), lines[4], lines[5]
    except (FileNotFoundError, IndexError, ValueError):
        return None
    status = lines[7].strip() if len(lines) > 7 else ""
    return Postmaster(pid, port, Path(socket_dir), bool(listens.strip()), status)


def defuse_stale_file(cluster: Path) -> None:
    """If the file names a process that isn't this cluster's server, let it name no process at all.

    A killed server whose parent has not waited for it counts as well: PostgreSQL takes a zombie for alive.
    """
    path = cluster / "postmaster.pid"
    try:
        pid = int(path.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return
    if not _exists(pid) or is_server_of(pid, cluster):
        return
    file = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        _, newline, rest = os.read(file, 10_000).partition(b"\n")
        os.ftruncate(file, 0)
        os.pwrite(file, str(IMPOSSIBLE_PID).encode() + newline + rest, 0)
    finally:
        os.close(file)


def is_server_of(pid: int, cluster: Path) -> bool:
    """Whether this process is a PostgreSQL that works in this folder."""
    if not is_alive(pid):
        return False
    if not sys.platform.startswith("linux"):
        command = _ps(pid, "command=")
        return "postgres" in command and str(cluster) in command
    process = Path("/proc") / str(pid)
    try:
        name = (process / "comm").read_text().strip()
        return name.startswith("post") and (process / "cwd").readlink() == cluster
    except OSError:
        return False


def is_alive(pid: int) -> bool:
    """Whether the process runs; one that ended and was not waited for yet (a zombie) does not."""
    if not _exists(pid):
        return False
    if not sys.platform.startswith("linux"):
        return not _ps(pid, "state=").startswith("Z")
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"Z", "X"}


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _ps(pid: int, column: str) -> str:
    command = ["ps", "-o", column, "-p", str(pid)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PS_TIMEOUT_S
    ).stdout.strip()
