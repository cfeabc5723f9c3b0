"""On a terminal the program asks before it does something large, and shows bars; an answer is believed."""

import os
import pty
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import TIMEOUT_S, Awa

Rows = Callable[[str], list[tuple[Any, ...]]]

SUBMIT = (
    "batch-ops", "submit", "--op-kind", "move_queue", "--filter", '{"tag": "slow"}',
    "--spec", '{"queue": "other"}',
)  # fmt: skip


# Ctrl-C is for whoever the terminal belongs to.
PROGRAM = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from awa.cli.app import main
sys.exit(main())
"""


class Terminal:
    """A program at a terminal of 80 columns."""

    def __init__(self, screen: int, process: "subprocess.Popen[bytes]") -> None:
        self._screen, self._process = screen, process
        self._seen = ""

    def wait_for(self, words: str) -> None:
        while words not in self._seen:
            piece = self._read()
            assert piece, f"it ended and had only said {self._seen!r}"
            self._seen += piece

    def type(self, keys: str) -> None:
        os.write(self._screen, keys.encode())

    def end(self) -> tuple[int, str]:
        """Its exit code and all that it showed."""
        while piece := self._read():
            self._seen += piece
        return self._process.wait(TIMEOUT_S), re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self._seen)

    def _read(self) -> str:
        try:
            return os.read(self._screen, 65536).decode(errors="replace")
        except OSError:  # the other side is closed
            return ""


@pytest.fixture
def terminal(database_url: str, tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[tuple[int, subprocess.Popen[bytes]]] = []

    def begin(*arguments: str) -> Terminal:
        screen, side = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *arguments],
            cwd=tmp_path,
            env={**os.environ, "AWA_DATABASE_URL": database_url, "COLUMNS": "80", "TERM": "xterm"},
            stdin=side,
            stdout=side,
            stderr=side,
            start_new_session=True,
        )
        os.close(side)
        opened.append((screen, process))
        return Terminal(screen, process)

    yield begin
    for screen, process in opened:
        with process:
            process.kill()
        os.close(screen)


@pytest.fixture(autouse=True)
def backlog(awa: Awa) -> None:
    """Two jobs to be moved and one to be left alone."""
    for tag in ("slow", "slow", "fast"):
        awa("enqueue", "--kind", "send", "--tag", tag)


def test_no_is_no(terminal: Callable[..., Terminal], rows: Rows) -> None:
    program = terminal(*SUBMIT)
    program.wait_for("2 jobs will go to the queue other. Submit?")
    program.type("n\r")
    code, screen = program.end()
    assert code == 4
    assert "nothing was done" in screen
    assert rows("SELECT FROM awa.batch_operations") == []


def test_silence_is_no(terminal: Callable[..., Terminal], rows: Rows) -> None:
    program = terminal(*SUBMIT)
    program.wait_for("Submit?")
    program.type("\x04")  # end of input
    assert program.end()[0] == 4
    assert rows("SELECT FROM awa.batch_operations") == []


def test_ctrl_c_is_no(terminal: Callable[..., Terminal], rows: Rows) -> None:
    program = terminal(*SUBMIT)
    program.wait_for("Submit?")
    program.type("\x03")
    code, screen = program.end()
    assert code == 130
    assert "\nInterrupted; nothing was submitted" in screen
    assert rows("SELECT FROM awa.batch_operations") == []


def test_yes_is_yes(terminal: Callable[..., Terminal], rows: Rows) -> None:
    program = terminal(*SUBMIT)
    program.wait_for("Submit?")
    program.type("y\r")
    code, screen = program.end()
    assert code == 0
    assert "awa batch-ops watch" in screen
    assert rows("SELECT op_kind, state FROM awa.batch_operations") == [("move_queue", "pending")]


def test_a_yes_is_to_the_numbers_that_were_shown(
    terminal: Callable[..., Terminal], awa: Awa, rows: Rows
) -> None:
    program = terminal(*SUBMIT)
    program.wait_for("2 jobs will go to the queue other. Submit?")
    awa("enqueue", "--kind", "send", "--tag", "slow")
    program.type("y\r")
    code, screen = program.end()
    assert code == 4
    words = " ".join(screen.split())
    assert "2 jobs planned, 3 now: 1 more in queue default; 1 more available" in words
    assert "nothing was submitted" in words
    assert rows("SELECT FROM awa.batch_operations") == []

    again = terminal(*SUBMIT)
    again.wait_for("3 jobs will go to the queue other. Submit?")
    again.type("y\r")
    assert again.end()[0] == 0
    assert rows("SELECT state FROM awa.batch_operations") == [("pending",)]


def test_a_bar_shows_rate_and_end(terminal: Callable[..., Terminal], tmp_path: Path) -> None:
    path = tmp_path / "jobs.ndjson"
    path.write_text('{"kind": "a"}\n' * 3_000)
    code, screen = terminal("enqueue", "--file", str(path)).end()
    assert code == 0
    assert "3,000 of 3,000 jobs" in screen
    assert "/s" in screen


def test_watching_says_what_an_operation_waits_for(terminal: Callable[..., Terminal]) -> None:
    program = terminal(*SUBMIT, "--yes", "--watch")
    program.wait_for("waiting for the maintenance leader")
    program.type("\x03")
    code, screen = program.end()
    assert code == 130
    assert "the operation goes on" in screen
    assert "0/s" not in screen


@pytest.mark.usefixtures("leader")
def test_an_undo_is_asked_about_too(
    awa: Awa, terminal: Callable[..., Terminal], rows: Rows
) -> None:
    assert awa(*SUBMIT, "--yes", "--watch").code == 0
    ((operation,),) = rows("SELECT id::text FROM awa.batch_operations")
    program = terminal("batch-ops", "undo", operation)
    program.wait_for("2 jobs will be put back. Submit?")
    program.type("n\r")
    assert program.end()[0] == 4
    assert rows("SELECT count(*) FROM awa.batch_operations") == [(1,)]
