"""The systems under test: where each one's Python is, and how its runner is started and listened to.

Peers are installed from the package index into virtual environments of their own under `bench/.envs`, at fixed
versions; the product never depends on them.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HERE = Path(__file__).parent
ENVS = HERE / ".envs"
INSTALL_TIMEOUT_S = 600
RUN_TIMEOUT_S = 900
STOP_TIMEOUT_S = 10
STAND_INS = "BENCH_STAND_INS"


class BenchError(Exception):
    """A measurement could not be made; the message says why."""


@dataclass(frozen=True, slots=True)
class System:
    """A job queue: its name in the table, its runner's file, and what pip installs for it (nothing: it is ours)."""

    name: str
    runner: str
    requirements: tuple[str, ...] = ()

    def python(self) -> Path:
        """The Python that runs it; makes the environment at first use."""
        if not self.requirements:
            return Path(sys.executable)
        return _environment(self)

    def played(self) -> "System":
        """Itself, or our own runner under its name, where a test asks whether the rows run and peers needn't be there."""
        return replace(AWA, name=self.name) if os.environ.get(STAND_INS) else self


AWA = System("awa", "awa_runner")
AWA_CANONICAL = System("awa canonical", "awa_canonical_runner")
PGQUEUER = System("PgQueuer", "pgqueuer_runner", ("pgqueuer[asyncpg]==1.6.0", "uvloop==0.23.0"))
AWA_PG = System("awa-pg", "awa_pg_runner", ("awa-pg==0.6.9",))
PROCRASTINATE = System("procrastinate", "procrastinate_runner", ("procrastinate==3.10.0",))


class Running:
    """A runner at work. Use it as a context manager: it doesn't outlive the block."""

    def __init__(self, system: System, order: dict[str, Any]) -> None:
        self._system = system
        self._order = order
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - closed in __exit__
        script = HERE / "runners" / f"{system.runner}.py"
        self._process = subprocess.Popen(
            [str(system.python()), str(script), json.dumps(order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=_environment_variables(system),
        )
        self._watchdog = threading.Timer(RUN_TIMEOUT_S, self._process.kill)
        self._watchdog.daemon = True
        self._watchdog.start()

    def event(self, name: str) -> dict[str, Any]:
        """Wait for an event. Raises BenchError with the end of the runner's standard error if it dies before."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said: dict[str, Any] = json.loads(line)
            if said["event"] == name:
                return said
        self._process.wait(STOP_TIMEOUT_S)
        raise BenchError(f"{self._system.name} {self._order['command']}: {self._last_words()}")

    def result(self) -> dict[str, Any]:
        """Wait for its end and answer what it measured."""
        return self.event("result")

    def finish(self) -> dict[str, Any]:
        """Close its standard input, which tells a lasting runner to come to its end."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self.result()

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = [line for line in self._errors.read().splitlines() if line.strip()]
        return lines[-1] if lines else f"ended with exit code {self._process.returncode}"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._watchdog.cancel()
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(STOP_TIMEOUT_S)
        for pipe in (self._process.stdin, self._process.stdout, self._errors):
            if pipe is not None:
                pipe.close()


@contextmanager
def running(system: System, command: str, url: str, **order: Any) -> Iterator[Running]:
    """Start a runner; the block may wait for its events while other things go on."""
    with Running(system.played(), {"command": command, "url": url, **order}) as runner:
        yield runner


def run(system: System, command: str, url: str, **order: Any) -> dict[str, Any]:
    """Start a runner and wait for its result."""
    with running(system, command, url, **order) as runner:
        return runner.result()


def _environment(system: System) -> Path:
    """The Python of a peer's environment; installed anew when the wanted versions change."""
    folder = ENVS / system.name.lower()
    python = folder / "bin" / "python"
    wanted = "\n".join(system.requirements)
    made = folder / "requirements.txt"
    if made.exists() and made.read_text() == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    _quietly([sys.executable, "-m", "venv", str(folder)], system)
    _quietly([str(python), "-m", "pip", "install", "--quiet", *system.requirements], system)
    made.write_text(wanted)
    return python


def _quietly(command: list[str], system: System) -> None:
    """Run an installation step without the product's version constraints."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=INSTALL_TIMEOUT_S,
        env=_environment_variables(system),
    )
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
        raise BenchError(f"{system.name} could not be installed: {last}")


def _environment_variables(system: System) -> dict[str, str]:
    """Ours for our own runner; a peer must see neither our version constraints nor our path: its package may be `awa`."""
    kept_from_peers = ("PIP_CONSTRAINT", "PIP_BUILD_CONSTRAINT", "PYTHONPATH")
    return {
        name: value
        for name, value in os.environ.items()
        if not system.requirements or name not in kept_from_peers
    }
