"""A PgBouncer in transaction mode between the test and its database."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from awa.dev.account import choose_account
from awa.dev.temporary import temporary_base
from tests.dev.helpers import eventually

PORT = 6432
SERVER_CONNECTIONS = 3
CONFIGURATION = """
[databases]
* = host={host} port={port} user=postgres

[pgbouncer]
pool_mode = transaction
default_pool_size = {connections}
unix_socket_dir = {folder}
listen_port = {own_port}
auth_type = any
pidfile = {folder}/pgbouncer.pid
"""


@pytest.fixture
def pooled_url(database_url: str) -> Iterator[str]:
    """This test's database through a transaction-mode pooler with few connections to share."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed")
    folder = Path(tempfile.mkdtemp(prefix="awa-pooler-", dir=temporary_base()))
    try:
        process = start(program, folder, database_url)
        try:
            url = database_url_through(folder, database_url)
            eventually(lambda: answers(url, process))
            yield url
        finally:
            process.kill()
            process.wait()
    finally:
        shutil.rmtree(folder)


def start(program: str, folder: Path, database_url: str) -> subprocess.Popen[bytes]:
    account = choose_account()
    server = conninfo_to_dict(database_url)
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(
        CONFIGURATION.format(
            host=server["host"],
            port=server.get("port", 5432),
            connections=SERVER_CONNECTIONS,
            folder=folder,
            own_port=PORT,
        )
    )
    for path in (folder, configuration):
        account.own(path)
    with (folder / "log").open("wb") as log:
        return account.launch([program, str(configuration)], folder, log)


def database_url_through(folder: Path, database_url: str) -> str:
    return f"postgresql://{urlsplit(database_url).path}?host={folder}&port={PORT}&user=postgres"


def answers(url: str, process: subprocess.Popen[bytes]) -> bool:
    assert process.poll() is None, "PgBouncer did not start"
    try:
        psycopg.connect(url, connect_timeout=60).close()
    except psycopg.OperationalError:
        return False
    return True
