"""Whatever dies, the data and the next start survive."""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from awa.dev.account import choose_account
from awa.dev.pidfile import IMPOSSIBLE_PID, is_alive
from awa.dev.postgres import Server, start_server
from awa.dev.process import Patience
from awa.dev.temporary import remove_abandoned, temporary_server
from tests.dev.helpers import QUICK, Sharer, ask, eventually, run


def kill_server(server: Server) -> int:
    pid = server.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    eventually(lambda: server.pid is None)
    return pid


def test_a_killed_server_recovers_what_was_committed(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK) as server:
        run(server, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")
        kill_server(server)
        with start_server(data_dir, settings=QUICK) as again:
            assert ask(again, "SELECT count(*) FROM kept") == 1000
            assert ask(server.url(), "SELECT 1") == 1


def test_a_start_waits_for_what_a_killed_server_left_running(data_dir: Path) -> None:
    """A busy backend outlives its postmaster and holds its memory; a second server beside it would ruin the data."""
    server = start_server(data_dir, settings=QUICK)
    conn = psycopg.connect(server.url(), autocommit=True)
    busy = conn.info.backend_pid
    busy_query = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"
    conn.pgconn.send_query(busy_query.encode())
    eventually(
        lambda: ask(server, f"SELECT state FROM pg_stat_activity WHERE pid = {busy}") == "active"
    )
    kill_server(server)

    started: list[Server] = []
    starter = threading.Thread(
        target=lambda: started.append(start_server(data_dir, settings=QUICK))
    )
    starter.start()
    try:
        eventually(lambda: "shared memory block" in server.log.read_text())
        assert not started
    finally:
        os.kill(busy, signal.SIGKILL)
        starter.join(60)
        conn.close()
    assert ask(started[0], "SELECT 1") == 1


@pytest.mark.parametrize("owner", ["nobody lives there", "another program of the same user"])
def test_a_stale_pid_file_does_not_stop_a_start(data_dir: Path, owner: str) -> None:
    with start_server(data_dir, settings=QUICK) as server:
        run(server, "CREATE TABLE kept AS SELECT 42 AS n")
        kill_server(server)
        pid_file = data_dir / "pgdata" / "postmaster.pid"
        stale = pid_file.read_text().partition("\n")[2]
        account = choose_account(data_dir / "pgdata")
        with (data_dir / "log-of-another").open("wb") as log:
            other = account.launch(["cat", "/dev/zero"], data_dir, log)
        try:
            pid = other.pid if owner.startswith("another") else IMPOSSIBLE_PID
            pid_file.write_text(f"{pid}\n{stale}")
            server.restart()
            assert ask(server, "SELECT n FROM kept") == 42
            assert is_alive(other.pid)
        finally:
            other.kill()
            other.wait()


def test_a_server_outlives_its_parent_and_is_taken_over(
    data_dir: Path, sharer: Callable[[], Sharer]
) -> None:
    parent = sharer()
    pid, url = parent.joined()
    parent.kill()
    assert ask(url, "SELECT 1") == 1
    with start_server(data_dir) as server:
        assert server.pid == pid
        assert server.url() == url
    assert not is_alive(pid)


def test_the_last_one_to_leave_stops_the_server(
    data_dir: Path, sharer: Callable[[], Sharer]
) -> None:
    server = start_server(data_dir, settings=QUICK)
    other = sharer()
    pid, url = other.joined()
    assert pid == server.pid
    server.stop()
    assert ask(url, "SELECT 1") == 1
    other.leave()
    assert not is_alive(pid)


def test_a_killed_server_whose_parent_does_not_notice_is_started_again(
    data_dir: Path, sharer: Callable[[], Sharer]
) -> None:
    """The parent sits there and never waits for its child, which stays in the process table as a zombie."""
    pid, url = sharer().joined()
    with start_server(data_dir) as server:
        assert kill_server(server) == pid
        server.restart()
        assert server.pid != pid
        assert ask(url, "SELECT 1") == 1


def test_a_user_that_was_killed_does_not_keep_the_server_up(
    data_dir: Path, sharer: Callable[[], Sharer]
) -> None:
    server = start_server(data_dir, settings=QUICK)
    other = sharer()
    pid, _ = other.joined()
    other.kill()
    server.stop()
    assert not is_alive(pid)


def test_processes_that_start_at_once_get_one_server(sharer: Callable[[], Sharer]) -> None:
    sharers = [sharer() for _ in range(4)]
    assert len({one.joined() for one in sharers}) == 1


def test_two_users_in_one_process_count_as_two(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK) as first:
        with start_server(data_dir) as second:
            assert second.pid == first.pid
        assert ask(first, "SELECT 1") == 1


def test_a_temporary_server_leaves_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(place))
    with temporary_server(settings=QUICK) as server:
        pid = server.pid
        assert ask(server, "SELECT 1") == 1
        assert remove_abandoned(place) == 0
    assert pid is not None
    assert not is_alive(pid)
    assert not list(place.iterdir())


def test_a_temporary_server_whose_owner_was_killed_is_cleared_away(place: Path) -> None:
    orphan = Sharer(place / "awa-tmp-orphan")
    pid, _ = orphan.joined()
    assert remove_abandoned(place) == 0
    orphan.kill()
    assert remove_abandoned(place) == 1
    assert not is_alive(pid)
    assert not list(place.iterdir())


def test_patience_ends_with_silence_and_not_with_time() -> None:
    now = 0.0
    patience = Patience(10, clock=lambda: now)
    for sign_of_life in range(100):
        now += 9
        assert not patience.is_over(sign_of_life)
    now += 9
    assert not patience.is_over(99)
    now += 2
    assert patience.is_over(99)
