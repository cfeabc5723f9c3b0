"""Where measurements are made: one embedded server with full durability, and a fresh database for each of them.

A system's schema is installed once, into a template; a measurement gets a copy of it and leaves nothing behind. A
checkpoint before each one keeps what the last one wrote out of its account.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import sql

from awa.dev.postgres import Server
from bench.cpu import server_cpu_s
from bench.peers import System, run
from bench.statements import statement

# The same for every system. Large enough that no checkpoint falls into a measurement; fsync and the rest stay on. Files of
# the log are used again, as on a server that has run for a while: a new one is 16 MB of zeros that all commits wait for.
SERVER_SETTINGS = {
    "shared_buffers": "2GB",
    "max_wal_size": "32GB",
    "min_wal_size": "4GB",
    "checkpoint_timeout": "60min",
    "max_connections": "200",
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track": "top",
}
SETTLE_S = 0.1
SETTLE_TIMEOUT_S = 10.0


class Arena:
    """What a row is given to measure with. `quick` scales everything down: it shows that a row runs, no more."""

    def __init__(
        self, server: Server, *, quick: bool, rounds: int, say: Callable[[str], None]
    ) -> None:
        self.quick = quick
        self.rounds = rounds
        self.say = say
        self._server = server
        self._templates: set[str] = set()

    def server_cpu_s(self, url: str) -> float:
        """CPU seconds that the server has used so far, once the sessions of this database are over and accounted."""
        give_up = time.monotonic() + SETTLE_TIMEOUT_S
        while self.value(url, "other_sessions") and time.monotonic() < give_up:
            time.sleep(SETTLE_S)
        time.sleep(SETTLE_S)
        return server_cpu_s(self._server.pid)

    def settle(self) -> None:
        """Write out what a preparation has left in the operating system's memory.

        It does so by itself half a minute later and all at once, and whatever commits then waits behind it.
        """
        if not self.quick:
            os.sync()

    def scaled(self, full: int, quick: int) -> int:
        """A size: the first for a full run, the second for a quick one."""
        return quick if self.quick else full

    @contextmanager
    def fresh(self, system: System, name: str = "bench") -> Iterator[str]:
        """The URL of a new database with the system's schema; the database is gone after the block."""
        template = f"template_{system.runner}"
        with self.connect("postgres") as admin:
            if template not in self._templates:
                self._drop(admin, template)
                self._create(admin, template, "template1")
                run(system, "install", self.url(template))
                self._templates.add(template)
            self._drop(admin, name)
            self._create(admin, name, template)
            admin.execute("checkpoint")
            try:
                yield self.url(name)
            finally:
                self._drop(admin, name)

    def url(self, database: str) -> str:
        """The URL of a database of this server."""
        return self._server.url(database)

    @contextmanager
    def connect(self, database_or_url: str) -> Iterator[psycopg.Connection[Any]]:
        """An autocommit connection, by name or by URL."""
        is_url = "://" in database_or_url
        url = database_or_url if is_url else self.url(database_or_url)
        with psycopg.connect(url, autocommit=True) as connection:
            yield connection

    def value(self, url: str, name: str, params: dict[str, Any] | None = None) -> Any:
        """The single value that a statement of bench/sql answers."""
        with self.connect(url) as connection:
            row = connection.execute(statement(name).encode(), params).fetchone()
        assert row is not None
        return row[0]

    def _create(self, admin: psycopg.Connection[Any], name: str, template: str) -> None:
        admin.execute(
            sql.SQL(statement("create_database")).format(
                name=sql.Identifier(name), template=sql.Identifier(template)
            )
        )

    def _drop(self, admin: psycopg.Connection[Any], name: str) -> None:
        admin.execute(sql.SQL(statement("drop_database")).format(name=sql.Identifier(name)))
