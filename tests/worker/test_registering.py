"""A runtime says who it is when it begins: where it runs, what it serves, and which version it is."""

import os
from importlib.metadata import version

import psycopg

import awa


async def test_it_names_its_process_its_queues_and_its_version(
    client: awa.AsyncClient, database_url: str
) -> None:
    await client.start([("email", 3)])
    with psycopg.connect(database_url) as own:
        row = own.execute("SELECT pid, queues, version FROM awa.runtimes").fetchone()
    assert row == (os.getpid(), {"email": 3}, version("awa-jobs"))
