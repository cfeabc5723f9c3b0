"""The program as an operator runs it: in this process for most, in one of its own where signals matter."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import psycopg
import pytest

from awa.cli.app import main

TIMEOUT_S = 120


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The last JSON line on stdout."""
        return orjson.loads(self.out.splitlines()[-1])

    @property
    def error(self) -> dict[str, Any]:
        """The error object on stderr."""
        error: dict[str, Any] = orjson.loads(self.err)["error"]
        return error


Awa = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _no_context(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No context file, debug switch or colour of whoever runs the tests."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("AWA_CONTEXT", "AWA_DEBUG", "AWA_API_TOKENS", "AWA_API_TOKENS_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def bare(capsys: pytest.CaptureFixture[str]) -> Awa:
    """Runs `awa …` in this process, without naming a database."""

    def run(*arguments: str) -> Ran:
        capsys.readouterr()
        code = main(arguments)
        said = capsys.readouterr()
        assert "Traceback" not in said.err
        return Ran(code, said.out, said.err)

    return run


@pytest.fixture
def awa(bare: Awa, database_url: str) -> Awa:
    """Runs `awa …` in this process, on this test's database."""
    return lambda *arguments: bare("--database-url", database_url, *arguments)


@pytest.fixture
def rows(database_url: str) -> Callable[[str], list[tuple[Any, ...]]]:
    """Asks this test's database something."""

    def ask(statement: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(database_url, autocommit=True) as conn:
            cursor = conn.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    return ask


class Program:
    """`awa …` in a process of its own."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def line(self) -> str:
        """The next line it says on stdout."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def interrupt(self) -> None:
        """Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def end(self) -> Ran:
        """Wait for its end."""
        out, err = self.process.communicate(timeout=TIMEOUT_S)
        assert "Traceback" not in err
        return Ran(self.process.returncode, out, err)


Start = Callable[..., Program]


@pytest.fixture
def start(database_url: str, tmp_path: Path) -> Iterator[Start]:
    """Starts `awa …` in a process of its own, on this test's database; whatever still runs is killed."""
    programs: list[Program] = []

    def begin(*arguments: str, **environment: str) -> Program:
        programs.append(Program(_popen(arguments, database_url, tmp_path, environment)))
        return programs[-1]

    yield begin
    for program in programs:
        with program.process:
            program.process.kill()


@pytest.fixture
def leader(start: Start) -> Program:
    """A process that keeps house on this test's database."""
    program = start("--json", "maintenance", "run")
    assert "maintenance" in program.line()
    return program


@contextmanager
def locked_tables(database_url: str) -> Iterator[psycopg.Connection[Any]]:
    """Every table but that of the migrations held, so that each command stands still in its work."""
    with psycopg.connect(database_url) as conn:
        names = conn.execute(
            "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relnamespace = 'awa'::regnamespace "
            "AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> 'schema_migrations'"
        ).fetchall()
        conn.execute(f"LOCK TABLE {', '.join(name for (name,) in names)}".encode())
        yield conn
        conn.rollback()


def _popen(
    arguments: tuple[str, ...], url: str, folder: Path, environment: dict[str, str]
) -> "subprocess.Popen[str]":
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return subprocess.Popen(
        [sys.executable, "-m", "awa", *arguments],
        cwd=folder,
        env={**kept, "AWA_DATABASE_URL": url, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
