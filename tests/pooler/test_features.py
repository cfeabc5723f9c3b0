"""What stands on the queue works behind a transaction-mode pooler as well: keys, limits, callbacks, dead letters, schedules, storages."""

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

import awa
from awa.db.migrate import migrate

NOTHING: dict[str, Any] = {}
LIMIT_S = 60.0


async def until(client: awa.AsyncClient, id_: int, state: str) -> None:
    """Comes back once the job is in this state."""
    async with asyncio.timeout(LIMIT_S):
        while (await client.get_job(id_)).state != state:  # noqa: ASYNC110 -- nobody announces it
            await asyncio.sleep(0.02)


async def test_one_of_many_inserts_at_once_has_the_unique_key(pooled_url: str) -> None:
    async with awa.AsyncClient(pooled_url) as client:
        seen = await asyncio.gather(
            *(
                client.insert({"to": "ada"}, kind="mail", unique_opts={"by_args": True})
                for _ in range(12)
            ),
            return_exceptions=True,
        )
        (job,) = [one for one in seen if isinstance(one, awa.Job)]
        refused = [one for one in seen if isinstance(one, awa.UniqueConflict)]
        assert len(refused) == 11
        await client.cancel(job.id)
        again = await client.insert({"to": "ada"}, kind="mail", unique_opts={"by_args": True})
        assert again.id != job.id


async def test_sets_of_large_jobs_at_once_are_inserted_whole_or_not_at_all(pooled_url: str) -> None:
    def large(n: int) -> list[dict[str, Any]]:
        return [{"n": n, "text": "x" * 10_000} for _ in range(100)]

    async with awa.AsyncClient(pooled_url) as client:
        wrong = [*large(-1), {"n": object(), "text": ""}]
        seen = await asyncio.gather(
            *(client.insert_many(large(n), kind="k") for n in range(6)),
            client.insert_many(wrong, kind="k"),
            return_exceptions=True,
        )
        assert isinstance(seen.pop(), awa.ValidationError)
        ids = [job.id for jobs in seen if isinstance(jobs, list) for job in jobs]
        assert len(set(ids)) == 600
        async with client.connection() as conn:
            cursor = await conn.execute("SELECT count(*) FROM awa.jobs WHERE kind = 'k'")
            assert await cursor.fetchone() == (600,)
        assert {(await client.get_job(id_)).args["n"] for id_ in ids[::100]} == set(range(6))


async def test_limits_of_queue_and_key_hold_for_two_workers(pooled_url: str) -> None:
    at_once: dict[str, int] = {"queue": 0, "key": 0}
    most = dict(at_once)
    done, all_done = 0, asyncio.Event()

    def handler(name: str) -> Callable[[awa.Job[Any]], Any]:
        async def handle(job: awa.Job[Any]) -> None:
            nonlocal done
            at_once[name] += 1
            most[name] = max(most[name], at_once[name])
            await asyncio.sleep(0.01)
            at_once[name] -= 1
            done += 1
            if done == 24:
                all_done.set()

        return handle

    clients = [awa.AsyncClient(pooled_url) for _ in range(2)]
    for client in clients:
        client.task(dict, kind="queue")(handler("queue"))
        client.task(dict, kind="key")(handler("key"))
    one, other = clients
    async with one, other:
        await one.set_queue_limits("narrow", max_running=2)
        await one.insert_many([NOTHING] * 12, kind="queue", queue="narrow")
        await one.insert_many(
            [NOTHING] * 12, kind="key", queue="wide", concurrency_key="tenant", concurrency_limit=2
        )
        for client in clients:
            await client.start([("narrow", 10), ("wide", 10)])
        async with asyncio.timeout(LIMIT_S):
            await all_done.wait()
        for client in clients:
            await client.shutdown(timeout=60)
    assert done == 24
    assert most["queue"] <= 2
    assert most["key"] <= 2


async def test_a_job_waits_for_its_callback_and_goes_on(pooled_url: str) -> None:
    tokens: list[Any] = []
    client = awa.AsyncClient(pooled_url)

    @client.task(dict, kind="charge")
    async def charge(job: awa.Job[Any]) -> awa.WaitForCallback | None:
        if job.callback_result is not None:
            return None
        tokens.append(await job.register_callback(timeout_seconds=600))
        return awa.WaitForCallback(tokens[0])

    async with client:
        job = await client.insert(NOTHING, kind="charge")
        await client.start([("default", 2)])
        await until(client, job.id, "waiting_external")
        await client.resume_external(tokens[0], {"card": "visa"})
        await until(client, job.id, "completed")
        with pytest.raises(awa.Conflict):
            await client.resume_external(tokens[0], {"card": "visa"})
        await client.shutdown(timeout=60)


async def test_a_dead_letter_is_retried_elsewhere(pooled_url: str) -> None:
    client = awa.AsyncClient(pooled_url)

    @client.task(dict, kind="fragile")
    async def fragile(job: awa.Job[Any]) -> None:
        if job.queue == "default":
            raise awa.TerminalError("no template")

    async with client:
        await client.set_dlq("default", enabled=True)
        job = await client.insert(NOTHING, kind="fragile")
        await client.start([("default", 2), ("other", 2)])
        await until(client, job.id, "failed")
        assert [letter["id"] for letter in await client.list_dlq()] == [job.id]
        await client.retry_from_dlq(job.id, queue="other")
        await until(client, job.id, "completed")
        await client.shutdown(timeout=60)


async def test_a_schedule_fires(pooled_url: str) -> None:
    client = awa.AsyncClient(pooled_url)
    fired: list[int] = []

    @client.task(dict, kind="tick")
    async def tick(job: awa.Job[Any]) -> None:
        fired.append(job.id)

    client.periodic("ticking", "0 0 1 1 *", NOTHING, kind="tick")
    async with client:
        await client.start([("default", 2)])
        async with asyncio.timeout(LIMIT_S):
            while not await client.list_cron_jobs():  # noqa: ASYNC110 -- as above
                await asyncio.sleep(0.02)
        job = await client.trigger_cron_job("ticking")
        await until(client, job.id, "completed")
        await client.shutdown(timeout=60)
    assert fired == [job.id]


async def test_the_canonical_storage_works_there_too(pooled_url: str) -> None:
    conn = await psycopg.AsyncConnection.connect(pooled_url, autocommit=True)
    async with conn:
        await conn.execute("DROP SCHEMA awa CASCADE")
        await migrate(conn, "canonical")
    seen: list[int] = []
    client = awa.AsyncClient(pooled_url)

    @client.task(dict, kind="step")
    async def step(job: awa.Job[Any]) -> None:
        seen.append(job.id)

    async with client:
        jobs = await client.insert_many([NOTHING] * 60, kind="step", queue="a")
        operation = await client.move_queue("b", filter={"queue": "a"})
        await client.start([("b", 5)])
        ended = await client.wait_batch_operation(operation["id"], timeout=60)
        assert ended["processed"] == 60
        for job in jobs:
            await until(client, job.id, "completed")
        await client.shutdown(timeout=60)
    assert sorted(seen) == sorted(job.id for job in jobs)
