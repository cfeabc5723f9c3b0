"""Programs that the demo and `awa dev` run beside themselves: real processes, as in production.

They are started in a process group of their own, so that Ctrl-C reaches only us and we can end them
in order; and they are told by the kernel to go with us should we be killed.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

from awa.model.errors import AwaError

STOP_TIMEOUT_S: Final = 20.0
_LOG_LINES: Final = 15

# prctl(PR_SET_PDEATHSIG, SIGTERM), by the child itself: code between fork and exec is not safe here.
_BOOT: Final = """
import sys
if sys.platform == "linux":
    import ctypes, signal
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
from awa.__main__ import main
sys.exit(main())
"""


class Child:
    """One `awa …` process."""

    def __init__(
        self, name: str, arguments: Sequence[str], environment: Mapping[str, str], log: Path
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as file:
            self._process = _launch(arguments, environment, file)

    @property
    def pid(self) -> int:
        return self._process.pid

    def running(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """SIGKILL: no farewell, no clean-up, as when the machine loses power."""
        self._process.kill()
        self._process.wait()

    def ask_to_stop(self) -> None:
        """SIGTERM; `wait` is for what comes after."""
        if self.running():
            self._process.terminate()

    def wait(self) -> None:
        """Until it has ended; SIGKILL should that take too long."""
        try:
            self._process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.kill()

    def check(self) -> None:
        """Raise an error with the end of its log if it has ended by itself."""
        if not self.running():
            lines = self.log.read_text(errors="replace").splitlines()[-_LOG_LINES:]
            raise AwaError(
                f"the {self.name} process ended by itself with exit code {self._process.returncode}",
                hint="The end of its log:\n" + "\n".join(f"  {line}" for line in lines),
            )


def stop_all(children: Sequence[Child]) -> None:
    """Stop several side by side, so that it takes as long as the slowest and not as their sum."""
    for child in children:
        child.ask_to_stop()
    for child in children:
        child.wait()


def _launch(
    arguments: Sequence[str], environment: Mapping[str, str], log: IO[bytes]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", _BOOT, *arguments],
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        start_new_session=True,
    )
