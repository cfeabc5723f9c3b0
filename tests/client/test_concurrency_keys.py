"""Concurrency keys from Python: said by an insert or by a task, kept by workers, seen by operators."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest

import awa
from awa.model.states import JobState
from awa.operations import scan
from awa.operations.reading import counting, jobs, kinds, queues
from awa.storage.limited import concurrency_of


@dataclass
class Sync:
    tenant: int = 7


@pytest.fixture
async def client(database_url: str) -> AsyncIterator[awa.AsyncClient]:
    settings = awa.Settings(heartbeat_interval_s=0.2)
    async with awa.AsyncClient(database_url, settings=settings) as client:
        yield client
        await client.shutdown(timeout=0)


async def key_of(client: awa.AsyncClient, job: awa.Job[Any]) -> tuple[str, int] | None:
    async with client.connection() as conn:
        found = await concurrency_of(conn, job.id)
    return None if found is None else (found["key"], found["limit"])


async def test_an_insert_says_a_key(client: awa.AsyncClient) -> None:
    job = await client.insert(Sync(), concurrency_key="tenant-7", concurrency_limit=2)
    assert await key_of(client, job) == ("tenant-7", 2)
    one = await client.insert(Sync(), concurrency_key="tenant-7")
    assert await key_of(client, one) == ("tenant-7", 1)


async def test_a_set_may_say_one_and_each_job_another(client: awa.AsyncClient) -> None:
    inserted = await client.insert_many(
        [Sync(), awa.Draft(Sync(), concurrency_key="other", concurrency_limit=3)],
        concurrency_key="all",
    )
    assert [await key_of(client, job) for job in inserted] == [("all", 1), ("other", 3)]
    mixed = await client.insert_many([Sync(), awa.Draft(Sync(), concurrency_key="one")])
    assert [await key_of(client, job) for job in mixed] == [None, ("one", 1)]


@pytest.mark.parametrize("key", ["tenant-{tenant}", lambda args: f"tenant-{args.tenant}"])
async def test_a_task_says_it_from_the_arguments(client: awa.AsyncClient, key: Any) -> None:
    client.task(Sync, concurrency_key=key, concurrency_limit=2)(lambda job: None)
    first, second = await client.insert_many([Sync(1), Sync(2)])
    assert await key_of(client, first) == ("tenant-1", 2)
    assert await key_of(client, second) == ("tenant-2", 2)
    job = await client.insert(Sync(1), concurrency_key="own")
    assert await key_of(client, job) == ("own", 1)


async def test_a_task_may_leave_a_job_without(client: awa.AsyncClient) -> None:
    client.task(Sync, concurrency_key=lambda args: None)(lambda job: None)
    assert await key_of(client, await client.insert(Sync())) is None


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"concurrency_key": ""}, "concurrency_key"),
        ({"concurrency_key": 7}, "concurrency_key"),
        ({"concurrency_key": "k", "concurrency_limit": 0}, "concurrency_limit"),
        ({"concurrency_limit": 2}, "concurrency_limit"),
    ],
)
async def test_what_makes_no_sense_is_refused(
    client: awa.AsyncClient, options: Any, field: str
) -> None:
    with pytest.raises(awa.ValidationError) as refused:
        await client.insert(Sync(), **options)
    assert [problem.field for problem in refused.value.fields] == [field]


@pytest.mark.parametrize(
    "said",
    [
        {"concurrency_key": "{tenant"},
        {"concurrency_key": "{tenant.id}"},
        {"concurrency_key": 7},
        {"concurrency_limit": 2},
        {"concurrency_key": "{tenant}", "concurrency_limit": 0},
    ],
)
def test_a_task_that_makes_no_sense_is_refused(client: awa.AsyncClient, said: Any) -> None:
    with pytest.raises(awa.ValidationError):
        client.task(Sync, **said)(lambda job: None)


async def test_a_field_that_the_arguments_lack_is_named(client: awa.AsyncClient) -> None:
    client.task(Sync, concurrency_key="{customer}")(lambda job: None)
    with pytest.raises(awa.ValidationError, match="customer"):
        await client.insert(Sync())


async def test_a_schedule_passes_it_on(client: awa.AsyncClient) -> None:
    client.task(Sync, concurrency_key="tenant-{tenant}", concurrency_limit=2)(lambda job: None)
    client.periodic("sync", "0 3 * * *", Sync(9))
    await client.start(["default"])
    assert await key_of(client, await client.trigger_cron_job("sync")) == ("tenant-9", 2)


async def test_two_workers_run_no_more_of_a_key_than_may(
    client: awa.AsyncClient, database_url: str
) -> None:
    """Three keys, two at once of each, handlers that fail and snooze now and then."""
    running: Counter[int] = Counter()
    most: Counter[int] = Counter()
    ended: Counter[int] = Counter()
    done = asyncio.Event()

    async def handle(job: awa.Job[Sync]) -> object:
        tenant = job.args.tenant
        running[tenant] += 1
        most[tenant] = max(most[tenant], running[tenant])
        await asyncio.sleep(0)
        running[tenant] -= 1
        if job.attempt == 1 and job.id % 5 == 0:
            return awa.RetryAfter(0)
        ended[tenant] += 1
        if ended.total() == 90:
            done.set()
        return None

    settings = awa.Settings(heartbeat_interval_s=0.2)
    async with awa.AsyncClient(database_url, settings=settings) as other:
        for each in (client, other):
            each.task(Sync, concurrency_key="tenant-{tenant}", concurrency_limit=2)(handle)  # type: ignore[arg-type]
        await client.insert_many([Sync(n % 3) for n in range(60)])
        await client.start([("default", 20)])
        await other.start([("default", 20)], roles=["worker"])
        for n in range(30):
            await client.insert(Sync(n % 3))
        async with asyncio.timeout(60):
            await done.wait()
        await other.shutdown()
    assert set(ended.values()) == {30}
    assert set(most.values()) <= {1, 2}
    await client.shutdown()
    async with client.connection() as conn:
        cursor = await conn.execute("SELECT count(*) FROM awa.concurrency_admissions")
        assert await cursor.fetchone() == (0,)


async def test_parked_jobs_are_seen_as_available(client: awa.AsyncClient) -> None:
    inserted = await client.insert_many([Sync()] * 5, queue="email", concurrency_key="k")
    ids = [job.id for job in inserted]
    given = awa.JobFilter(queue="email", state=JobState.AVAILABLE)
    assert [job.id for job in await client.list_jobs(queue="email", state="available")] == ids[::-1]
    async with client.connection() as conn:
        page, _ = await jobs.page(conn, given, limit=10)
        assert [row["id"] for row in page] == ids[::-1]
        assert (await counting.count(conn, given)).jobs == 5
        assert (await counting.counts_by_state(conn, awa.JobFilter()))["available"].jobs == 5
        detail = await queues.detail(conn, "email")
        assert detail["depth"]["available"].jobs == 5
        assert detail["by_priority"][2].jobs == 5
        (kind,), _ = await kinds.page(conn)
        assert kind["counts"]["available"].jobs == 5


async def test_a_batch_operation_changes_parked_jobs(client: awa.AsyncClient) -> None:
    assert scan.phases(awa.JobFilter(state=JobState.AVAILABLE))[0] == "deferred"
    await client.insert_many([Sync()] * 5, queue="email", concurrency_key="k")
    await client.start(roles=["maintenance"])
    given = {"queue": "email", "state": "available"}
    preview = await client.preview_set_priority(1, filter=given)
    assert preview["total_matched"] == 5
    operation = await client.set_priority(1, filter=given)
    ended = await client.wait_batch_operation(operation["id"], timeout=60)
    assert (ended["processed"], ended["skipped"]) == (5, 0)
    assert {job.priority for job in await client.list_jobs(queue="email")} == {1}
    assert await client.drain_queue("email") == 5
    async with client.connection() as conn:
        cursor = await conn.execute("SELECT count(*) FROM awa.concurrency_admissions")
        assert await cursor.fetchone() == (0,)
