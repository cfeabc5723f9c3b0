"""A program with schedules: declared when it starts, fired by the leader, run by its worker, retired when it is gone."""

import asyncio
from dataclasses import dataclass
from datetime import datetime

import pytest

import awa


@dataclass
class Beat:
    """What the schedule sends."""

    n: int


async def test_a_schedule_is_declared_fired_and_run(database_url: str) -> None:
    ticks: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    async with awa.AsyncClient(database_url, app="shop") as client:

        @client.task(Beat, queue="beats")
        async def beat(job: awa.Job[Beat]) -> None:
            ticks.put_nowait({**job.metadata["_awa_cron"], "n": str(job.args.n)})

        client.periodic("beat", "* * * * * *", Beat(7))
        await client.start([("beats", 2)])
        async with asyncio.timeout(60):
            first, second = await ticks.get(), await ticks.get()
        listed = await client.list_cron_jobs()
    assert (first["name"], first["n"]) == ("beat", "7")
    assert datetime.fromisoformat(first["tick"]) < datetime.fromisoformat(second["tick"])
    assert [(row["name"], row["app"], row["queue"]) for row in listed] == [
        ("beat", "shop", "beats")
    ]


async def test_a_maintenance_only_process_fires_and_has_no_say_in_what_there_is(
    database_url: str,
) -> None:
    """It fires what a program declared that is not running now."""
    ran = asyncio.Event()
    async with awa.AsyncClient(database_url) as program:
        program.periodic("beat", "* * * * * *", Beat(1))
        await program.start([("elsewhere", 1)], roles={"worker"})
        await program.shutdown()
    other = awa.AsyncClient(database_url, app="other")
    async with awa.AsyncClient(database_url) as house, other as worker:

        @worker.task(Beat)
        async def beat(_job: awa.Job[Beat]) -> None:
            ran.set()

        await house.start(roles={"maintenance"})
        async with asyncio.timeout(60):
            await worker.start([("default", 1)], roles={"worker"})
            await ran.wait()
        assert (await house.get_cron_job("beat"))["fired_count"] > 0


async def test_a_name_is_given_once(database_url: str) -> None:
    client = awa.AsyncClient(database_url)
    client.periodic("beat", "* * * * *", Beat, Beat(1))
    with pytest.raises(awa.Conflict, match="'beat' already"):
        client.periodic("beat", "0 * * * *", Beat(1))


async def test_what_is_wrong_is_refused_when_it_is_declared(database_url: str) -> None:
    client = awa.AsyncClient(database_url)
    with pytest.raises(awa.ValidationError) as refusal:
        client.periodic("beat", "99 * * * *", Beat(1), timezone="Mars/Olympus")
    assert {problem.field for problem in refusal.value.fields} == {"cron_expr", "timezone"}
    assert client.schedules == {}
