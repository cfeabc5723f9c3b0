"""A database that is not there, not open to us or not ours to use: exit 1 and what to do about it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from awa.dev.postgres import Server
from awa.dev.temporary import memory_base, temporary_server
from tests.cli.conftest import Awa

COMMANDS = [
    ("job", "list"),
    ("job", "cancel", "1"),
    ("queue", "list"),
    ("queue", "pause", "q"),
    ("enqueue", "--kind", "k"),
    ("batch-ops", "list"),
    ("batch-ops", "preview", "--op-kind", "set_priority", "--spec", '{"priority": 1}'),
    ("maintenance", "run"),
    ("serve",),
    ("bench",),
]
each_command = pytest.mark.parametrize("command", COMMANDS, ids=" ".join)


@pytest.fixture(scope="module")
def guarded_server() -> Iterator[Server]:
    """A server that asks for a password."""
    settings = {"fsync": "off", "shared_buffers": "16MB"}
    with temporary_server(settings=settings, tcp_port=0, base=memory_base()) as server:
        yield server


@each_command
def test_nobody_named_one(bare: Awa, command: tuple[str, ...]) -> None:
    ran = bare(*command)
    assert ran.code == 1, ran.err
    assert "no database was named" in ran.err
    assert "--embedded" in ran.err


@pytest.mark.parametrize("command", [*COMMANDS, ("migrate",), ("doctor",)], ids=" ".join)
def test_nobody_answers(bare: Awa, command: tuple[str, ...]) -> None:
    ran = bare("--database-url", "postgresql://ann:s3cret@127.0.0.1:1/app", *command)
    assert ran.code == 1, ran.err
    assert "Connection refused" in ran.err + ran.out
    assert "s3cret" not in ran.err + ran.out


def test_the_password_is_wrong(bare: Awa, guarded_server: Server) -> None:
    url = guarded_server.tcp_url()
    password = url.split(":")[2].split("@")[0]
    ran = bare("--json", "--database-url", url.replace(password, "guessed"), "job", "list")
    assert ran.code == 1
    assert "user name or password" in ran.error["message"]
    assert "guessed" not in ran.err


@each_command
def test_the_schema_is_not_there(
    bare: Awa, empty_database_url: str, command: tuple[str, ...]
) -> None:
    ran = bare("--json", "--database-url", empty_database_url, *command)
    assert ran.code == 1, ran.err
    assert ran.error["code"] == "schema_not_migrated"
    assert "awa migrate" in ran.error["hint"]


@pytest.mark.parametrize("command", [*COMMANDS, ("migrate",)], ids=" ".join)
def test_the_schema_is_newer(
    awa: Awa, rows: Callable[[str], list[Any]], command: tuple[str, ...]
) -> None:
    rows(
        "INSERT INTO awa.schema_migrations (name, checksum) VALUES ('9999_later', repeat('0', 64))"
    )
    ran = awa("--json", *command)
    assert ran.code == 1, ran.err
    assert ran.error["code"] == "schema_not_migrated"
    assert "newer than this program" in ran.error["message"]
    assert "9999_later" in ran.error["message"]


@pytest.mark.parametrize("url", ['os.environ["AWA_DATABASE_URL"]', ""])
def test_a_worker_whose_module_names_none_either(bare: Awa, tmp_path: Path, url: str) -> None:
    name = f"module_{len(url)}"
    lines = ["import os", "import awa", f"client = awa.AsyncClient({url})"]
    (tmp_path / f"{name}.py").write_text("\n".join(lines))
    ran = bare("worker", "run", f"{name}:client")
    assert ran.code == 1
    assert "--embedded" in ran.err
