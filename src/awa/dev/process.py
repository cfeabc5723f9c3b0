"""Starts and stops the server of a cluster, with patience. The caller holds the folder lock."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from awa.dev.account import Account
from awa.dev.binaries import PostgresBinaries
from awa.dev.folder import DataFolder, keep_log_small, open_log
from awa.dev.pidfile import (
    READY,
    Postmaster,
    defuse_stale_file,
    is_alive,
    read_postmaster,
    running_postmaster,
)
from awa.dev.settings import as_arguments
from awa.model.errors import AwaError

StopMode = Literal["fast", "immediate"]

POLL_S = 0.02
RETRY_S = 0.1
GIVE_UP_TIMEOUT_S = 10
LOG_TAIL_BYTES = 4_000
SIGNALS = {"fast": signal.SIGINT, "immediate": signal.SIGQUIT}

_children: list[subprocess.Popen[bytes]] = []


class Patience:
    """A limit on silence: the clock starts again whenever what is seen changes."""

    def __init__(self, limit_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit_s = limit_s
        self._clock = clock
        self._seen: object = None
        self._since = clock()

    def is_over(self, seen: object) -> bool:
        """Whether nothing has changed for longer than the limit."""
        if seen != self._seen:
            self._seen, self._since = seen, self._clock()
        return self._clock() - self._since > self.limit_s


def launch(
    folder: DataFolder,
    binaries: PostgresBinaries,
    account: Account,
    settings: Mapping[str, str],
    silence_s: float,
) -> Postmaster:
    """Start the server and wait until it takes connections, through crash recovery if it comes to that.

    Processes of a server that was killed may outlive it for a while and hold its memory; then this tries again.
    """
    defuse_stale_file(folder.cluster)
    keep_log_small(folder)
    server = [str(binaries.program("postgres")), "-D", str(folder.cluster)]
    command = [*server, *as_arguments(settings)]
    patience = Patience(silence_s)
    while True:
        with open_log(folder) as log:
            begin = log.seek(0, os.SEEK_END)
            child = account.launch(command, folder.path, log)
        _children.append(child)
        try:
            started = wait_until_ready(folder, child.pid, silence_s)
        except BaseException:  # Ctrl-C as well: nothing is left behind half started
            _give_up_on(child)
            raise
        if started:
            return started
        said = _said_since(folder.log, begin)
        if "shared memory block" not in said or patience.is_over("leftover processes"):
            raise _did_not_start(folder, said)
        time.sleep(RETRY_S)


def wait_until_ready(folder: DataFolder, pid: int, silence_s: float) -> Postmaster | None:
    """Wait while there are signs of life; None if the process ended, AwaError if it only hangs."""
    patience = Patience(silence_s)
    begin = folder.log.stat().st_size if folder.log.exists() else 0
    while _lives(pid):
        found = read_postmaster(folder.cluster)
        mine = found if found and found.pid == pid else None
        if mine and mine.status == READY:
            return mine
        said = _said_since(folder.log, begin)
        if patience.is_over((mine and mine.status, said.count("LOG:"))):
            raise AwaError(
                f"PostgreSQL is starting, but gave no sign of life for {silence_s:g} s",
                hint=f"read {folder.log}; wait longer with start_timeout_s",
            )
        time.sleep(POLL_S)
    return None


def shut_down(folder: DataFolder, mode: StopMode, timeout_s: float) -> None:
    """Stop the server if it runs: as asked at first, and without ceremony if that takes too long."""
    found = running_postmaster(folder.cluster)
    if found is None:
        return
    modes: tuple[StopMode, ...] = ("fast", "immediate") if mode == "fast" else ("immediate",)
    for step in modes:
        os.kill(found.pid, SIGNALS[step])
        if wait_until_gone(found.pid, timeout_s):
            return
    raise AwaError(
        f"the PostgreSQL process {found.pid} did not stop within {timeout_s:g} s",
        hint=f"read {folder.log}",
    )


def wait_until_gone(pid: int, timeout_s: float) -> bool:
    """Wait for the end of a process; False if it still runs after the timeout."""
    give_up_at = time.monotonic() + timeout_s
    while _lives(pid):
        if time.monotonic() >= give_up_at:
            return False
        time.sleep(POLL_S)
    return True


def _give_up_on(child: subprocess.Popen[bytes]) -> None:
    """End a start that hangs; the next one begins recovery again where the last checkpoint was."""
    child.send_signal(SIGNALS["immediate"])
    if not wait_until_gone(child.pid, GIVE_UP_TIMEOUT_S):
        child.kill()
        child.wait()


def _lives(pid: int) -> bool:
    for child in list(_children):  # a child that ended stays a zombie until it is waited for
        if child.poll() is not None:
            _children.remove(child)
    return is_alive(pid)


def _said_since(log: Path, begin: int) -> str:
    try:
        with log.open("rb") as file:
            file.seek(begin)
            return file.read().decode(errors="replace")
    except FileNotFoundError:
        return ""


def _did_not_start(folder: DataFolder, said: str) -> AwaError:
    fatal = re.findall(r"FATAL: +(.*)", said)
    reason = fatal[-1] if fatal else _last_line(said[-LOG_TAIL_BYTES:])
    return AwaError(f"PostgreSQL did not start: {reason}", hint=f"read {folder.log}")


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else "it said nothing"
