"""Words that the tests of the embedded server share."""

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg

from awa.dev.postgres import Server

QUICK = {"fsync": "off", "shared_buffers": "16MB", "max_wal_size": "256MB"}

SHARER = """
import sys
from pathlib import Path
from awa.dev.postgres import start_server
server = start_server(Path(sys.argv[1]), settings={"fsync": "off", "shared_buffers": "16MB"})
print(server.pid, server.url(), flush=True)
sys.stdin.readline()
server.stop()
print("left", flush=True)
"""


class Sharer:
    """Another process that uses the server of a data folder until it is told to leave, or killed."""

    def __init__(self, data_dir: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", SHARER, str(data_dir)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def joined(self) -> tuple[int, str]:
        """Wait until it has joined; the server's process id and URL as it sees them."""
        assert self.process.stdout is not None
        pid, url = self.process.stdout.readline().split()
        return int(pid), url

    def leave(self) -> None:
        """Let it leave in good order."""
        self.process.communicate("\n")

    def kill(self) -> None:
        """Let it die without a word."""
        self.process.kill()
        self.process.communicate()


def ask(server: Server | str, query: str) -> object:
    """The first value of the first row."""
    url = server if isinstance(server, str) else server.url()
    with psycopg.connect(url, autocommit=True) as conn:
        row = conn.execute(query.encode()).fetchone()
        return row[0] if row else None


def run(server: Server, statement: str) -> None:
    """Execute and commit."""
    with psycopg.connect(server.url(), autocommit=True) as conn:
        conn.execute(statement.encode())


def eventually(condition: Callable[[], bool], limit_s: float = 60) -> None:
    """Return as soon as the condition holds; fail if it never does."""
    timer = threading.Event()
    alarm = threading.Timer(limit_s, timer.set)
    alarm.start()
    try:
        while not condition():
            assert not timer.wait(0.01), f"{condition} did not come true in {limit_s} s"
    finally:
        alarm.cancel()
