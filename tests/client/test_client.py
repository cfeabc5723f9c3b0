"""A client connects when it has to, says why it can't, and closes what it opened."""

import inspect
from dataclasses import dataclass
from typing import Any

import pytest
from psycopg.conninfo import make_conninfo

import awa
from awa.db.pool import make_pool


@dataclass
class Work:
    n: int = 0


async def test_nothing_is_connected_before_the_first_call() -> None:
    client = awa.AsyncClient("postgresql://nobody@127.0.0.1:1/none")
    with pytest.raises(awa.DatabaseError, match="no connection"):
        await client.get_job(1)
    await client.close()


def test_without_a_url_the_client_says_where_one_may_come_from() -> None:
    with pytest.raises(awa.ValidationError, match="AWA_DATABASE_URL"):
        awa.AsyncClient()


@pytest.mark.parametrize("variable", ["AWA_DATABASE_URL", "DATABASE_URL"])
async def test_the_url_comes_from_the_environment(
    variable: str, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, database_url)
    async with awa.AsyncClient() as client:
        assert await client.list_jobs() == []


def test_a_url_that_cannot_be_read_is_not_repeated() -> None:
    with pytest.raises(awa.ValidationError) as refused:
        awa.AsyncClient("postgresql://u:secret@host:notaport?x")
    assert "secret" not in str(refused.value)


async def test_a_wrong_user_is_the_servers_own_reason(database_url: str) -> None:
    client = awa.AsyncClient(make_conninfo(database_url, user="nobody_here"))
    with pytest.raises(awa.DatabaseError) as refused:
        await client.open()
    await client.close()
    assert "nobody_here" in refused.value.message


async def test_migrate_says_what_it_did(empty_database_url: str) -> None:
    async with awa.AsyncClient(empty_database_url) as client:
        with pytest.raises(awa.SchemaNotMigrated):
            await client.insert(Work())
        assert "0001_lanes" in await client.migrate()
        assert await client.migrate() == []
        assert (await client.insert(Work())).id > 0


async def test_a_closed_client_says_so(database_url: str) -> None:
    client = awa.AsyncClient(database_url)
    await client.open()
    await client.close()
    await client.close()
    with pytest.raises(awa.ValidationError, match="closed"):
        await client.insert(Work())


async def test_a_pool_of_the_caller_stays_the_callers(database_url: str) -> None:
    pool = make_pool(database_url)
    async with pool:
        async with awa.AsyncClient(pool) as client:
            job = await client.insert(Work())
        async with awa.AsyncClient(pool) as again:
            assert (await again.get_job(job.id)).id == job.id


def test_two_handlers_for_one_kind_are_refused() -> None:
    client = awa.AsyncClient("postgresql:///none")
    client.task(Work)(lambda job: None)
    with pytest.raises(awa.Conflict, match="has a handler already"):
        client.task(dict, kind="work")(lambda job: None)


@pytest.mark.parametrize("args", [int, str, "Work", Work(), None])
def test_what_can_not_be_arguments_is_refused(args: Any) -> None:
    client = awa.AsyncClient("postgresql:///none")
    with pytest.raises(awa.ValidationError):
        client.task(args)(lambda job: None)


def test_every_public_method_says_what_it_does() -> None:
    for name, method in inspect.getmembers(awa.AsyncClient, callable):
        if not name.startswith("_") and name != "node_factory":
            assert inspect.getdoc(method), name
