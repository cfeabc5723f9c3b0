"""The fixtures that every test stands on."""

from typing import Any

from psycopg import AsyncConnection

from awa.dev.postgres import Server
from tests.conftest import Connect
from tests.dev.helpers import ask, run


async def test_a_database_of_the_test_is_migrated(conn: AsyncConnection[Any]) -> None:
    cursor = await conn.execute("SELECT count(*) FROM awa.jobs")
    assert await cursor.fetchone() == (0,)


async def test_connections_of_one_test_see_the_same_database(connect: Connect) -> None:
    first, second = await connect(), await connect(autocommit=False)
    await first.execute("CREATE TABLE mine AS SELECT 1 AS n")
    assert await (await second.execute("SELECT n FROM mine")).fetchone() == (1,)


def test_databases_are_strangers(database_url: str, empty_database_url: str) -> None:
    assert database_url != empty_database_url
    assert ask(database_url, "SELECT to_regclass('mine') IS NULL") is True
    assert ask(empty_database_url, "SELECT to_regnamespace('awa') IS NULL") is True


def test_a_server_of_ones_own_may_be_killed(own_server: Server) -> None:
    run(own_server, "CREATE TABLE kept AS SELECT 1 AS n")
    own_server.restart("immediate")
    assert ask(own_server, "SELECT n FROM kept") == 1
