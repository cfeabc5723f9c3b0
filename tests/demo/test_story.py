"""The whole demo, small: real processes, a real kill, and sums that come out. And it stops when told to."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import orjson
import psycopg
import pytest

from awa.dev.folder import DataFolder
from awa.dev.process import shut_down
from awa.dev.temporary import memory_base, temporary_base

TIMEOUT_S = 240


@contextmanager
def program(*arguments: str, **environment: str) -> Iterator["subprocess.Popen[str]"]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWA_")}
    with subprocess.Popen(
        [sys.executable, "-m", "awa", *arguments],
        env={**kept, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def lines(process: "subprocess.Popen[str]") -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    for line in process.stdout:
        yield orjson.loads(line)


@pytest.mark.slow
def test_it_tells_its_story_and_the_sums_come_out() -> None:
    with program("--json", "demo", "--rounds", "4") as process:
        story = list(lines(process))
        assert process.wait(TIMEOUT_S) == 0
    (end,) = [line for line in story if "checks" in line]
    figures = {(row["name"], row["words"]): row["count"] for row in end["figures"]}
    counts = {name: count for (name, _), count in figures.items()}
    assert counts["enqueued"] == 1_020
    assert counts["completed"] + counts["failed"] == 1_020
    assert counts["failed"] == 1
    assert counts["moved"] > 0
    assert counts["rescued"] > 0
    assert [check["check"] for check in end["checks"] if not check["ok"]] == []
    assert [line["operation"]["op_kind"] for line in story if "operation" in line] == [
        "move_queue",
        "set_priority",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_told_to_stop_it_stops_the_server_and_both_processes(number: signal.Signals) -> None:
    with program("--json", "demo", "--rounds", "4") as process:
        pids = []
        for line in lines(process):
            said = line.get("said", "")
            if "as process" in said:
                pids.append(int(said.rstrip(".").rsplit(" ", 1)[1]))
            if said.startswith("Housekeeper"):
                words = said.rstrip(".").replace(",", "").split()
                pids += [int(word) for word in words if word.isdecimal()]
                break
        process.send_signal(number)
        _, err = process.communicate(timeout=TIMEOUT_S)
        assert process.returncode == 130
    assert "stopped" in orjson.loads(err)["error"]["message"]
    assert len(pids) == 3
    assert [pid for pid in pids if _lives(pid)] == []


@pytest.mark.slow
def test_dev_runs_until_told_and_keeps_its_data(place: Path) -> None:
    settings = {"AWA_DATA_DIR": str(place / "dev")}
    with program("--json", "dev", "--no-api", **settings) as process:
        running = next(lines(process))
        assert running["seeded"] > 3_000
        _wait_for_completed(running["url"])
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert "kept" in orjson.loads(err)["error"]["message"]
    assert not _lives(running["worker_pid"])
    with program("--json", "--embedded", "queue", "list", **settings) as process:
        (listed,) = lines(process)
    assert {row["queue"] for row in listed["items"]} == {"webhooks", "backlog"}


@pytest.mark.slow
def test_dev_opens_a_console_in_which_there_is_something_to_see(place: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    settings = {"AWA_DATA_DIR": str(place / "dev")}
    with program("--json", "dev", f"--port={port}", **settings) as process:
        running = next(lines(process))
        page = httpx.get(
            f"{running['console']}/queues", headers={"Accept": "text/html"}, timeout=60
        )
        assert page.status_code == 200
        assert "/queues/webhooks" in page.text
        assert "/queues/backlog" in page.text
        _try_a_schedule(running["api"])
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty folder that the embedded server's user can reach."""
    path = Path(tempfile.mkdtemp(prefix="awa-test-", dir=memory_base() or temporary_base()))
    path.chmod(0o755)
    yield path
    for found in path.rglob("pgdata"):
        shut_down(DataFolder(found.parent), "immediate", 20)
    shutil.rmtree(path)


def _wait_for_completed(url: str) -> None:
    until = time.monotonic() + TIMEOUT_S
    with psycopg.connect(url, autocommit=True) as conn:
        while not conn.execute("SELECT 1 FROM awa.attempt_closures").fetchone():
            assert time.monotonic() < until, "no job was completed"
            time.sleep(0.1)


def _try_a_schedule(api: str) -> None:
    """The worker has declared its schedules; one that is fired by hand is worked on."""
    until = time.monotonic() + TIMEOUT_S
    with httpx.Client(base_url=api, timeout=60) as asking:
        _fire_and_wait(asking, until)


def _fire_and_wait(asking: httpx.Client, until: float) -> None:
    while len(asking.get("/api/cron").json()["items"]) < 2:
        assert time.monotonic() < until, "no schedule was declared"
        time.sleep(0.1)
    fired = asking.post("/api/cron/backlog-on-workdays/trigger")
    assert fired.status_code == 200, fired.text
    while True:
        job = asking.get(f"/api/jobs/{fired.json()['job_id']}").json()
        if job["state"] == "completed":
            break
        assert time.monotonic() < until, job
        time.sleep(0.1)
    assert job["args"] == {"for": "the morning mail"}


def _lives(pid: int) -> bool:
    try:
        return "zombie" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
