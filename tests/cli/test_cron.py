"""`awa cron`: schedules are listed, held, fired by hand, and never invented."""

import asyncio

import pytest
from psycopg import AsyncConnection

from awa.model.cron import make_schedule
from awa.operations import cron
from tests.cli.conftest import Awa


@pytest.fixture(autouse=True)
def _declared(database_url: str) -> None:
    """One schedule, and one that its program has given up."""

    async def declare() -> None:
        options = {"kind": "report", "queue": "reports"}
        made = [make_schedule(n, "0 9 * * *", {}, options=options) for n in ("daily", "old")]
        async with await AsyncConnection.connect(database_url, autocommit=True) as conn:
            await cron.declare(conn, "shop", made)
            await conn.execute("UPDATE awa.cron_jobs SET retired_at = now() WHERE name = 'old'")

    asyncio.run(declare())


def test_list_leaves_out_what_is_retired_unless_asked(awa: Awa) -> None:
    listed = awa("--json", "cron", "list").document["items"]
    assert [(row["name"], row["state"]) for row in listed] == [("daily", "active")]
    everything = awa("--json", "cron", "list", "--all").document["items"]
    assert [row["state"] for row in everything] == ["active", "retired"]
    assert "daily" in awa("cron", "list").out


def test_one_is_paused_fired_and_resumed(awa: Awa) -> None:
    paused = awa("--json", "cron", "pause", "daily", "--by", "ada").document
    assert (paused["state"], paused["paused_by"], paused["next_fires"]) == ("paused", "ada", [])
    assert "paused by ada" in awa("cron", "list").out
    fired = awa("--json", "cron", "trigger", "daily").document
    assert awa("--json", "job", "show", str(fired["job_id"])).document["queue"] == "reports"
    assert awa("--json", "cron", "resume", "daily").document["state"] == "active"
    assert awa("--json", "cron", "show", "daily").document["last_job_id"] == fired["job_id"]


@pytest.mark.parametrize("deed", ["show", "pause", "resume", "trigger"])
def test_an_unknown_name_is_not_found(awa: Awa, deed: str) -> None:
    ran = awa("--json", "cron", deed, "nothing")
    assert (ran.code, ran.error["code"]) == (3, "not_found")


def test_a_unique_job_is_not_triggered_twice(awa: Awa, database_url: str) -> None:
    async def declare() -> None:
        options = {"kind": "once", "unique_opts": {"by_args": True}}
        made = make_schedule("once", "0 9 * * *", {}, options=options)
        async with await AsyncConnection.connect(database_url, autocommit=True) as conn:
            await cron.declare(conn, "shop", [made])

    asyncio.run(declare())
    job = awa("--json", "cron", "trigger", "once").document
    assert job["insertion"] == "inserted"
    again = awa("--json", "cron", "trigger", "once")
    assert (again.code, again.error["code"]) == (4, "unique_conflict")
    assert again.error["details"]["job_id"] == job["job_id"]
