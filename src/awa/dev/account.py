"""The user that the server runs as: PostgreSQL refuses to run as root.

Under root an account that exists already is taken, and only child processes change to it. Nothing above the data
folder is loosened for it: a place it cannot reach is an error that names the folder which stands in the way.
"""

import os
import pwd
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from awa.model.errors import AwaError

CANDIDATES = ("nobody", "postgres", "daemon")
COMMAND_TIMEOUT_S = 300
HINT_URL = "use a running server with --database-url instead"


@dataclass(frozen=True, slots=True)
class Account:
    """A system user for child processes; `None` ids mean: the user we are."""

    name: str
    uid: int | None
    gid: int | None

    def run(self, command: Sequence[str | Path], cwd: Path) -> subprocess.CompletedProcess[str]:
        """Run one short program as this user and return what it said."""
        with _refusals_explained(self):
            return subprocess.run(
                command,
                cwd=cwd,
                env=_environment(),
                user=self.uid,
                group=self.gid,
                extra_groups=self._extra_groups(),
                umask=0o077,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=COMMAND_TIMEOUT_S,
            )

    def launch(
        self, command: Sequence[str | Path], cwd: Path, log: IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """Start a program as this user, in a session of its own: Ctrl-C and our death pass it by."""
        with _refusals_explained(self):
            return subprocess.Popen(
                command,
                cwd=cwd,
                env=_environment(),
                user=self.uid,
                group=self.gid,
                extra_groups=self._extra_groups(),
                umask=0o077,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def can_enter(self, folder: Path) -> bool:
        """Whether this user may use what lies in the folder, all folders above it included."""
        if self.uid is None:
            return os.access(folder, os.X_OK)
        return self.run(["/bin/sh", "-c", 'cd -- "$1"', "sh", folder], Path("/")).returncode == 0

    def own(self, path: Path) -> None:
        """Give the path to this user."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def _extra_groups(self) -> list[int] | None:
        return None if self.uid is None else []


def choose_account(cluster: Path | None = None) -> Account:
    """Ourselves, or under root the owner of an existing cluster, or else the first known unprivileged user."""
    if os.geteuid() != 0:
        return Account(_name_of(os.geteuid()), None, None)
    if cluster and cluster.exists() and (owner := cluster.stat().st_uid) != 0:
        return _account(pwd.getpwuid(owner))
    for name in CANDIDATES:
        try:
            return _account(pwd.getpwnam(name))
        except KeyError:
            continue
    raise AwaError(
        f"PostgreSQL does not run as root, and none of the users {', '.join(CANDIDATES)} exists",
        hint=f"run as an ordinary user, or {HINT_URL}",
    )


def require_reach(account: Account, folder: Path) -> None:
    """Raise AwaError unless the account can enter the folder; names the first folder that stands in the way."""
    if account.can_enter(folder):
        return
    way = [*reversed(folder.parents), folder]
    obstacle = next((step for step in way if not account.can_enter(step)), folder)
    raise AwaError(
        f"the server runs as the user {account.name}, which may not enter {obstacle}",
        hint=f"choose a data folder outside of it, for instance {default_data_dir()}",
    )


def default_data_dir(name: str = "main") -> Path:
    """Where an embedded server keeps its data unless told otherwise; under root a place its user can reach."""
    if os.geteuid() == 0:
        return Path("/var/lib/awa") / name
    home = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(home) / "awa" / name


def _account(entry: pwd.struct_passwd) -> Account:
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid)


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _environment() -> dict[str, str]:
    kept = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
    return {key: os.environ[key] for key in kept if key in os.environ} | {"LC_ALL": "C"}


@contextmanager
def _refusals_explained(account: Account) -> Iterator[None]:
    try:
        yield
    except (OSError, subprocess.SubprocessError) as error:
        raise AwaError(
            f"could not run a program of PostgreSQL as the user {account.name}: {error}",
            hint=HINT_URL,
        ) from error
