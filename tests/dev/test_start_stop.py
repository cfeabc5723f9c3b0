"""A server of one's own starts, takes settings and connections, and stops."""

import stat
from pathlib import Path

import psycopg
import pytest

from awa.dev.pidfile import is_alive
from awa.dev.postgres import start_server
from awa.model.errors import AwaError
from tests.dev.helpers import QUICK, ask, run


def test_it_starts_answers_and_is_gone_after_the_block(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK) as server:
        pid = server.pid
        assert pid is not None
        assert ask(server, "SELECT 1") == 1
    assert not is_alive(pid)
    assert server.pid is None
    assert not list(data_dir.glob("socket/.s.PGSQL.*"))


def test_data_stays_from_one_start_to_the_next(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK) as server:
        run(server, "CREATE TABLE kept AS SELECT 42 AS n")
    with start_server(data_dir, settings=QUICK) as server:
        assert ask(server, "SELECT n FROM kept") == 42


def test_text_is_utf8_and_sorted_by_code_point(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK) as server:
        assert ask(server, "SHOW server_encoding") == "UTF8"
        assert ask(server, "SELECT 'Z' < 'a' AND 'z' < 'ä'") is True


def test_settings_that_were_asked_for_win_over_the_defaults(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK | {"work_mem": "7MB"}) as server:
        assert ask(server, "SHOW work_mem") == "7MB"
        assert ask(server, "SHOW shared_buffers") == "16MB"
        assert ask(server, "SHOW jit") == "off"


def test_toast_is_compressed_with_the_best_that_the_server_has(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK) as server:
        has_lz4 = ask(
            server,
            "SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'",
        )
        expected = "lz4" if has_lz4 else "pglz"
        assert ask(server, "SHOW default_toast_compression") == expected


def test_what_the_package_manages_itself_cannot_be_set(data_dir: Path) -> None:
    with pytest.raises(AwaError, match="port"):
        start_server(data_dir, settings={"port": "1"})
    assert not data_dir.exists()


def test_a_start_that_fails_says_why(data_dir: Path) -> None:
    with pytest.raises(AwaError, match=r"did not start: invalid value .*shared_buffers"):
        start_server(data_dir, settings={"shared_buffers": "banana"})
    with start_server(data_dir, settings=QUICK) as server:
        assert ask(server, "SELECT 1") == 1


def test_stopping_twice_and_stopping_at_once_are_fine(data_dir: Path) -> None:
    server = start_server(data_dir, settings=QUICK)
    server.stop("immediate")
    server.stop()
    assert server.pid is None


def test_a_fast_stop_does_not_wait_for_open_connections(data_dir: Path) -> None:
    server = start_server(data_dir, settings=QUICK)
    with psycopg.connect(server.url()) as conn:
        conn.execute("SELECT 1")
        server.stop()
        with pytest.raises(psycopg.OperationalError):
            conn.execute("SELECT 1")


def test_the_url_survives_a_restart_and_a_pause(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK) as server:
        url, first = server.url(), server.pid
        server.restart("immediate")
        assert server.pid != first
        assert ask(url, "SELECT 1") == 1
        server.halt()
        with pytest.raises(psycopg.OperationalError):
            ask(url, "SELECT 1")
        server.restart()
        assert ask(url, "SELECT 1") == 1


def test_without_a_port_nothing_listens_on_tcp(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK) as server:
        assert ask(server, "SHOW listen_addresses") == ""
        with pytest.raises(AwaError, match="no TCP port"):
            server.tcp_url()


def test_tcp_takes_the_generated_password_and_no_other(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK, tcp_port=0) as server:
        assert ask(server.tcp_url(), "SELECT 1") == 1
        password = (data_dir / "password").read_text()
        with pytest.raises(psycopg.OperationalError, match="password"):
            ask(server.tcp_url().replace(password, "wrong"), "SELECT 1")
    assert stat.S_IMODE((data_dir / "password").stat().st_mode) == 0o600


def test_a_data_folder_too_deep_for_a_socket_works(place: Path) -> None:
    data_dir = place.joinpath(*["deep" * 10] * 5)
    with start_server(data_dir, settings=QUICK) as server:
        assert ask(server, "SELECT 1") == 1
        outside = (data_dir / "socket").readlink()
        assert len(str(outside)) < 60
    assert not outside.exists()


def test_a_folder_with_other_things_in_it_is_refused_and_left_alone(data_dir: Path) -> None:
    data_dir.mkdir(mode=0o750)
    (data_dir / "thesis.txt").write_text("years of work")
    with pytest.raises(AwaError, match="not empty"):
        start_server(data_dir)
    assert [path.name for path in data_dir.iterdir()] == ["thesis.txt"]
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o750


def test_data_of_another_version_is_refused_with_a_way_out(data_dir: Path) -> None:
    with start_server(data_dir, settings=QUICK):
        pass
    (data_dir / "pgdata" / "PG_VERSION").write_text("12\n")
    with pytest.raises(AwaError, match="PostgreSQL 12"):
        start_server(data_dir)


def test_a_cluster_that_was_left_half_made_is_made_again(data_dir: Path) -> None:
    rubbish = data_dir / "pgdata.new" / "base"
    rubbish.mkdir(parents=True)
    (data_dir / "lock").touch()
    with start_server(data_dir, settings=QUICK) as server:
        assert ask(server, "SELECT 1") == 1
    assert not (data_dir / "pgdata.new").exists()
