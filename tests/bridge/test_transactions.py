"""A job inserted through a bridge shares the fate of the program's own rows, whatever library they go through."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

import awa
from awa import bridge
from tests.bridge.libraries import ASYNC, BLOCKING, Blocked, Opened

AWKWARD = 'it\'s "100%" \\ ünï $1 %(x)s :name ? {}'
LATER = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)


@dataclass
class SendEmail:
    to: str = AWKWARD


@pytest.fixture(params=ASYNC)
async def opened(
    request: pytest.FixtureRequest, database_url: str, orders: None
) -> AsyncIterator[Opened]:
    async with ASYNC[request.param](database_url) as opened:
        yield opened


@pytest.fixture
async def orders(conn: psycopg.AsyncConnection[Any]) -> None:
    await conn.execute("CREATE TABLE orders (what text)")


@pytest.fixture
async def listener(conn: psycopg.AsyncConnection[Any]) -> psycopg.AsyncConnection[Any]:
    """A session that producers find idle, so that they wake it."""
    await conn.execute("LISTEN awa_ready")
    await conn.execute("SELECT awa.mark_idle('email')")
    return conn


async def heard(listener: psycopg.AsyncConnection[Any], seconds: float) -> list[str]:
    return [n.payload async for n in listener.notifies(timeout=seconds, stop_after=1)]


async def orders_seen(conn: psycopg.AsyncConnection[Any]) -> int:
    cursor = await conn.execute("SELECT count(*) FROM orders")
    return int((await cursor.fetchall())[0][0])


async def test_a_job_comes_with_the_commit_and_wakes_a_worker_then(
    client: awa.AsyncClient, opened: Opened, listener: psycopg.AsyncConnection[Any]
) -> None:
    await opened.execute("INSERT INTO orders VALUES ('tea')")
    job = await bridge.insert_job(opened.connection, SendEmail(), queue="email")
    assert await client.list_jobs() == []
    assert await orders_seen(listener) == 0
    assert await heard(listener, 0) == []
    await opened.commit()
    assert await heard(listener, 60) == ["email"]
    seen = await client.get_job(job.id)
    assert (seen.state, seen.args) == ("available", {"to": AWKWARD})
    assert abs(seen.created_at - job.created_at) < timedelta(minutes=1)
    assert await orders_seen(listener) == 1


async def test_a_job_that_is_rolled_back_leaves_no_trace(
    client: awa.AsyncClient, opened: Opened, listener: psycopg.AsyncConnection[Any]
) -> None:
    await opened.execute("INSERT INTO orders VALUES ('tea')")
    job = await bridge.insert_job(opened.connection, SendEmail(), queue="email")
    many = await bridge.insert_many_jobs(opened.connection, [SendEmail(), SendEmail()])
    await opened.rollback()
    for gone in (job, *many):
        with pytest.raises(awa.NotFound):
            await client.get_job(gone.id)
    assert await orders_seen(listener) == 0
    assert await heard(listener, 0) == []


async def test_everything_that_was_said_of_a_job_is_kept(
    client: awa.AsyncClient, opened: Opened
) -> None:
    job = await bridge.insert_job(
        opened.connection,
        {"n": None},
        kind=AWKWARD,
        queue=AWKWARD,
        priority=1,
        max_attempts=3,
        tags=[AWKWARD, "b"],
        metadata={AWKWARD: [AWKWARD, None, 1.5]},
        run_at=LATER,
        ordering_key=AWKWARD,
    )
    assert job.state is awa.JobState.SCHEDULED
    await opened.commit()
    seen = await client.get_job(job.id)
    assert (seen.kind, seen.queue, seen.priority, seen.max_attempts) == (AWKWARD, AWKWARD, 1, 3)
    assert (seen.tags, seen.metadata) == ((AWKWARD, "b"), {AWKWARD: [AWKWARD, None, 1.5]})
    assert (seen.run_at, seen.state, seen.args) == (LATER, job.state, {"n": None})


async def test_many_jobs_come_together(client: awa.AsyncClient, opened: Opened) -> None:
    alike = await bridge.insert_many_jobs(
        opened.connection, [SendEmail(str(n)) for n in range(50)], queue="email", tags=["all"]
    )
    mixed = await bridge.insert_many_jobs(
        opened.connection,
        [SendEmail(), awa.Draft({"n": 1}, kind="k", priority=4, run_at=LATER, metadata={"a": [1]})],
    )
    assert await client.list_jobs() == []
    await opened.commit()
    seen = {job.id: job for job in await client.list_jobs(limit=100)}
    assert [seen[job.id].args for job in alike] == [{"to": str(n)} for n in range(50)]
    assert {seen[job.id].tags for job in alike} == {("all",)}
    first, second = [await client.get_job(job.id) for job in mixed]
    assert (first.args, first.priority, first.metadata) == ({"to": AWKWARD}, 2, {})
    assert (second.kind, second.priority, second.state) == ("k", 4, awa.JobState.SCHEDULED)
    assert (second.run_at, second.metadata) == (LATER, {"a": [1]})


@pytest.fixture(params=BLOCKING)
def blocked(request: pytest.FixtureRequest) -> Any:
    return BLOCKING[request.param]


async def in_thread(open_one: Any, url: str, work: Any) -> Any:
    """Blocking libraries work in a thread of their own, as Django would have it."""

    def run() -> Any:
        with open_one(url) as opened:
            return work(opened)

    return await asyncio.to_thread(run)


async def test_a_blocking_library_does_the_same(
    client: awa.AsyncClient,
    database_url: str,
    blocked: Any,
    listener: psycopg.AsyncConnection[Any],
    orders: None,
) -> None:
    with awa.Client(database_url) as outside:

        def work(opened: Blocked) -> awa.Job[Any]:
            opened.execute("INSERT INTO orders VALUES ('tea')")
            job = bridge.insert_job_sync(
                opened.connection, SendEmail(), queue="email", tags=[AWKWARD], metadata={"a": "%"}
            )
            assert outside.list_jobs() == []
            opened.commit()
            return job

        job = await in_thread(blocked, database_url, work)
    assert await heard(listener, 60) == ["email"]
    seen = await client.get_job(job.id)
    assert (seen.args, seen.tags, seen.metadata) == ({"to": AWKWARD}, (AWKWARD,), {"a": "%"})
    assert abs(seen.created_at - job.created_at) < timedelta(minutes=1)
    assert await orders_seen(listener) == 1


async def test_a_blocking_library_rolls_back_as_well(
    client: awa.AsyncClient,
    database_url: str,
    blocked: Any,
    listener: psycopg.AsyncConnection[Any],
    orders: None,
) -> None:
    def work(opened: Blocked) -> list[awa.Job[Any]]:
        opened.execute("INSERT INTO orders VALUES ('tea')")
        job = bridge.insert_job_sync(opened.connection, SendEmail(), queue="email")
        many = bridge.insert_many_jobs_sync(opened.connection, [SendEmail(), SendEmail()])
        opened.rollback()
        return [job, *many]

    for gone in await in_thread(blocked, database_url, work):
        with pytest.raises(awa.NotFound):
            await client.get_job(gone.id)
    assert await orders_seen(listener) == 0
    assert await heard(listener, 0) == []


async def test_a_blocking_library_takes_many(
    client: awa.AsyncClient, database_url: str, blocked: Any
) -> None:
    def work(opened: Blocked) -> list[awa.Job[Any]]:
        many = bridge.insert_many_jobs_sync(
            opened.connection,
            [SendEmail(), awa.Draft({"n": 1}, kind="k", run_at=LATER, tags=["x"])],
            metadata={"a": [AWKWARD]},
        )
        many += bridge.insert_many_jobs_sync(opened.connection, [SendEmail("a"), SendEmail("b")])
        opened.commit()
        return many

    inserted = await in_thread(blocked, database_url, work)
    seen = [await client.get_job(job.id) for job in inserted]
    assert [job.args.get("to") for job in seen] == [AWKWARD, None, "a", "b"]
    assert (seen[1].run_at, seen[1].tags, seen[1].metadata) == (LATER, ("x",), {"a": [AWKWARD]})


UNIQUE: awa.UniqueOpts = {"by_args": ["to"], "by_queue": True}


async def test_unique_jobs_are_kept_out_and_the_transaction_goes_on(
    client: awa.AsyncClient, opened: Opened
) -> None:
    job = await bridge.insert_job(opened.connection, SendEmail(), unique_opts=UNIQUE)
    for refused in (
        bridge.insert_job(opened.connection, SendEmail(), unique_opts=UNIQUE),
        bridge.insert_many_jobs(opened.connection, [SendEmail()] * 2, unique_opts=UNIQUE),
    ):
        with pytest.raises(awa.UniqueConflict) as told:
            await refused
        assert told.value.job_id == job.id
    ignored = await bridge.insert_many_jobs(
        opened.connection,
        [SendEmail(), SendEmail("b"), SendEmail()],
        unique_opts={**UNIQUE, "on_conflict": "ignore"},
    )
    assert [one.insertion for one in ignored] == ["ignored", "inserted", "ignored"]
    assert [one.id for one in ignored] == [job.id, ignored[1].id, job.id]
    await opened.commit()
    assert [seen.args["to"] for seen in await client.list_jobs()] == ["b", AWKWARD]


async def test_unique_jobs_by_blocking_libraries(
    client: awa.AsyncClient, blocked: Any, database_url: str
) -> None:
    def work(opened: Blocked) -> tuple[int, str | None]:
        job = bridge.insert_job_sync(opened.connection, SendEmail(), unique_opts=UNIQUE)
        with pytest.raises(awa.UniqueConflict) as told:
            bridge.insert_job_sync(opened.connection, SendEmail(), unique_opts=UNIQUE)
        assert told.value.job_id == job.id
        again = bridge.insert_job_sync(
            opened.connection, SendEmail(), unique_opts={**UNIQUE, "on_conflict": "replace"}
        )
        opened.commit()
        return again.id, again.insertion

    id_, insertion = await in_thread(blocked, database_url, work)
    assert insertion == "replaced"
    assert [seen.id for seen in await client.list_jobs()] == [id_]
