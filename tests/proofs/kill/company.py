"""The processes under siege: started from the nursery, known by their role, killed without warning."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parents[3]


class Company:
    """Processes by role; whoever is killed is replaced at once."""

    def __init__(self, url: str, log: Path) -> None:
        self._log = log.open("w")
        self._nursery = subprocess.Popen(
            [sys.executable, "-m", "tests.proofs.kill.nursery", url],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self.roles: dict[int, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for pid in list(self.roles):
            self._end(pid)
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.close()
        self._nursery.wait(timeout=60)
        self._nursery.stdout.close()
        self._log.close()

    def start(self, role: str) -> int:
        """One more process of this role."""
        assert self._nursery.stdin is not None
        assert self._nursery.stdout is not None
        self._nursery.stdin.write(f"{role}\n")
        self._nursery.stdin.flush()
        pid = int(self._nursery.stdout.readline())
        self.roles[pid] = role
        return pid

    def kill(self, pid: int) -> None:
        """kill -9, and another takes its place."""
        role = self.roles[pid]
        self._end(pid)
        self.start(role)

    def _end(self, pid: int) -> None:
        del self.roles[pid]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def of(self, role: str) -> set[int]:
        """The living processes of a role."""
        return {pid for pid, its in self.roles.items() if its == role}
