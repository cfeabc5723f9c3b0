"""A start waits through a long crash recovery as long as there is progress, and gives up on silence."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from awa.dev import process
from awa.dev.account import choose_account
from awa.dev.binaries import PostgresBinaries, find_binaries
from awa.dev.postgres import start_server
from awa.dev.relocate import reachable_binaries
from awa.model.errors import AwaError
from tests.dev.helpers import QUICK, ask

SLOW_SERVER = """#!/bin/sh
# A postgres that takes its time before it serves, as a long recovery does.
case "$*" in *--version*|*" -C "*) exec {real} "$@";; esac
{delay}
exec {real} "$@"
"""


@pytest.fixture
def slow_binaries(place: Path) -> Callable[[str], PostgresBinaries]:
    """The binaries, with a `postgres` that does something else first."""

    def make(delay: str) -> PostgresBinaries:
        real = reachable_binaries(find_binaries(), choose_account())
        bin_dir = place / "bin"
        bin_dir.mkdir()
        (bin_dir / "initdb").symlink_to(real.program("initdb"))
        script = bin_dir / "postgres"
        script.write_text(SLOW_SERVER.format(real=real.program("postgres"), delay=delay))
        script.chmod(0o755)
        return replace(real, bin_dir=bin_dir)

    return make


class LogClock:
    """Time that goes by with the lines of the log: what the machine takes for a line doesn't count."""

    LINE_S = 25.0

    def __init__(self, log: Path) -> None:
        self._log = log
        self.now_s = 0.0

    def __call__(self) -> float:
        written = self._log.read_text().count("redo in progress") if self._log.exists() else 0
        self.now_s = min(self.now_s + self.LINE_S, written * self.LINE_S)
        return self.now_s


def test_progress_in_the_log_renews_the_wait(
    data_dir: Path,
    slow_binaries: Callable[[str], PostgresBinaries],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight lines take two hundred seconds, of which no sixty pass in silence."""
    clock = LogClock(data_dir / "server.log")
    patience = partial(process.Patience, clock=clock)
    monkeypatch.setattr(process, "Patience", patience)
    delay = 'for i in 1 2 3 4 5 6 7 8; do echo "LOG:  redo in progress" >&2; sleep 0.2; done'
    with start_server(
        data_dir, settings=QUICK, binaries=slow_binaries(delay), start_timeout_s=60
    ) as server:
        assert ask(server, "SELECT 1") == 1
        assert server.log.read_text().count("redo in progress") == 8
    assert clock.now_s > 60


def test_silence_ends_the_wait(
    data_dir: Path, slow_binaries: Callable[[str], PostgresBinaries]
) -> None:
    before = set(process._children)
    with pytest.raises(AwaError, match=r"no sign of life for 0\.2 s"):
        start_server(
            data_dir,
            settings=QUICK,
            binaries=slow_binaries("exec cat /dev/zero > /dev/null"),
            start_timeout_s=0.2,
        )
    assert {child for child in process._children if child.poll() is None} <= before
