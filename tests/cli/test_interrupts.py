"""Ctrl-C ends every command with 130, in a sentence, and leaves nothing half done."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import orjson
import psycopg
import pytest

from awa.cli.app import main
from tests.cli.conftest import Awa, Ran, Start, locked_tables

Rows = Callable[[str], list[tuple[Any, ...]]]

RAISE = ("--op-kind", "set_priority", "--spec", '{"priority": 1}')
WAIT_S = 100
GROUP = 6
MODULE = """
import asyncio, os, awa
client = awa.AsyncClient(os.environ["AWA_DATABASE_URL"])

@client.task(dict, kind="slow")
async def slow(job):
    print("begun", flush=True)
    while not os.path.exists("told"):
        await asyncio.sleep(0.01)
"""


def short_commands(operation: str) -> list[tuple[str, ...]]:
    return [
        ("migrate",),
        ("doctor",),
        ("enqueue", "--kind", "k"),
        ("bench", "--jobs", "10"),
        ("job", "list"),
        ("job", "show", "1"),
        ("job", "cancel", "1"),
        ("job", "retry", "1"),
        ("job", "set-priority", "1", "1"),
        ("job", "move", "1", "other"),
        ("queue", "list"),
        ("queue", "stats", "default"),
        ("queue", "pause", "default"),
        ("queue", "resume", "default"),
        ("queue", "drain", "default", "--yes"),
        ("batch-ops", "preview", *RAISE),
        ("batch-ops", "submit", *RAISE, "--all", "--yes"),
        ("batch-ops", "list"),
        ("batch-ops", "show", operation),
        ("batch-ops", "items", operation),
        ("batch-ops", "watch", operation),
        ("batch-ops", "cancel", operation),
        ("batch-ops", "purge", "--before", "2020-01-01", "--yes"),
        ("maintenance", "run"),
    ]


@pytest.mark.slow
def test_every_command_that_asks_the_database(
    awa: Awa, start: Start, rows: Rows, database_url: str
) -> None:
    """All of them stand still at a lock, are interrupted, and the database is as it was before."""
    awa("enqueue", "--kind", "k")
    operation = str(uuid4())
    before = _everything(rows)
    with locked_tables(database_url):
        rows_of_migrations = psycopg.connect(database_url)
        rows_of_migrations.execute("LOCK TABLE awa.schema_migrations")
        with rows_of_migrations:
            ended: dict[tuple[str, ...], Ran] = {}
            stood: set[int] = set()
            # A few at a time: some wait for a lock no longer than a slow machine takes to start them all.
            for commands in _in_groups_of(GROUP, short_commands(operation)):
                programs = {command: start(*command) for command in commands}
                stood |= _wait_until_blocked(database_url, len(programs), stood)
                for program in programs.values():
                    program.interrupt()
                ended |= {command: program.end() for command, program in programs.items()}
    assert len(ended) == len(short_commands(operation))
    assert {command: ran.code for command, ran in ended.items() if ran.code != 130} == {}
    assert [
        command for command, ran in ended.items() if "nterrupted" not in ran.err + ran.out
    ] == []
    assert _everything(rows) == before


def test_a_file_that_is_interrupted_leaves_no_job(start: Start, rows: Rows, tmp_path: Path) -> None:
    path = tmp_path / "jobs.ndjson"
    path.write_text('{"kind": "a"}\n' * 100_000)
    program = start("--json", "enqueue", "--file", str(path), "--repeat", "50")
    assert orjson.loads(program.line())["progress"]["done"] > 0
    program.interrupt()
    ran = program.end()
    assert ran.code == 130
    assert "nothing was enqueued" in orjson.loads(ran.err)["error"]["message"]
    assert rows("SELECT FROM awa.jobs LIMIT 1") == []


def test_watching_stops_and_the_operation_does_not(awa: Awa, start: Start, rows: Rows) -> None:
    submitted = awa("--json", "batch-ops", "submit", *RAISE, "--all", "--yes").document["id"]
    program = start("--json", "batch-ops", "watch", submitted)
    program.line()
    program.interrupt()
    ran = program.end()
    assert ran.code == 130
    assert f"awa batch-ops watch {submitted}" in ran.err
    assert rows("SELECT state FROM awa.batch_operations") == [("pending",)]


def test_a_worker_finishes_what_runs(awa: Awa, start: Start, rows: Rows, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(MODULE)
    awa("enqueue", "--kind", "slow")
    program = start("worker", "run", "shop:client", "--queue", "default=5")
    assert program.line().startswith("Working on default (5 at a time)")
    assert program.line() == "begun\n"
    program.interrupt()
    assert program.line().startswith("Stopping: finishing what runs")
    (tmp_path / "told").touch()  # so it runs still when the worker has heard
    ran = program.end()
    assert ran.code == 130
    assert "no unfinished jobs were handed back" in ran.err
    assert rows("SELECT state FROM awa.jobs") == [("completed",)]
    assert rows("SELECT state FROM awa.runtimes") == [("stopped",)]


def test_a_server_stops(start: Start) -> None:
    program = start("--json", "serve", "--port", "0")
    assert orjson.loads(program.line())["url"].startswith("http://127.0.0.1:")
    program.interrupt()
    assert program.end().code == 130


def test_before_anything_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    def pressed(_text: str | None) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("awa.cli.session.find_url", pressed)
    assert main(["job", "list"]) == 130


def _everything(rows: Rows) -> list[Any]:
    return [
        rows("SELECT id, state, queue, priority FROM awa.jobs ORDER BY id"),
        rows("SELECT queue, paused FROM awa.queue_meta"),
        rows("SELECT count(*) FROM awa.batch_operations"),
        rows("SELECT name FROM awa.schema_migrations ORDER BY name"),
    ]


def _in_groups_of(size: int, commands: list[tuple[str, ...]]) -> Iterator[list[tuple[str, ...]]]:
    for first in range(0, len(commands), size):
        yield commands[first : first + size]


def _wait_until_blocked(url: str, wanted: int, stood: set[int]) -> set[int]:
    """Comes back when so many new sessions stand at a lock; answers which."""
    until = time.monotonic() + WAIT_S
    with psycopg.connect(url, autocommit=True) as conn:
        while True:
            rows = conn.execute(
                "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
                "AND wait_event_type = 'Lock'"
            ).fetchall()
            found = {pid for (pid,) in rows} - stood
            if len(found) >= wanted:
                return found
            assert time.monotonic() < until, f"only {len(found)} of {wanted} commands came so far"
            time.sleep(0.05)
