"""What is inserted is checked before the database is touched, and stored as it was given."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from pydantic import BaseModel

import awa


@dataclass
class SendEmail:
    to: str = "ada@example.org"


class HTTPRequestV2(BaseModel):
    at: datetime
    ids: list[UUID]


async def test_a_job_is_stored_as_it_was_given(client: awa.AsyncClient) -> None:
    job = await client.insert(
        SendEmail(),
        queue="email",
        priority=1,
        max_attempts=3,
        tags=["a", "b", "a"],
        metadata={"from": uuid4()},
        ordering_key="ada",
    )
    assert (job.kind, job.queue, job.state) == ("send_email", "email", awa.JobState.AVAILABLE)
    assert (job.priority, job.attempt, job.max_attempts) == (1, 0, 3)
    assert job.tags == ("a", "b")
    assert job.args == SendEmail()
    seen = await client.get_job(job.id)
    assert seen.args == {"to": "ada@example.org"}
    for name in ("id", "kind", "queue", "state", "priority", "max_attempts", "tags", "metadata"):
        assert getattr(seen, name) == getattr(job, name), name
    assert timedelta() <= seen.created_at - job.created_at < timedelta(minutes=1)


async def test_defaults_are_those_of_the_documentation(client: awa.AsyncClient) -> None:
    job = await client.insert(SendEmail())
    assert (job.queue, job.priority, job.max_attempts) == ("default", 2, 25)
    assert (job.tags, job.metadata, job.errors) == ((), {}, ())


async def test_a_time_to_come_makes_a_scheduled_job(client: awa.AsyncClient) -> None:
    run_at = datetime.now(UTC) + timedelta(hours=1)
    job = await client.insert(SendEmail(), run_at=run_at)
    seen = await client.get_job(job.id)
    assert (job.state, seen.state) == (awa.JobState.SCHEDULED, awa.JobState.SCHEDULED)
    assert seen.run_at == run_at == job.run_at


async def test_datetimes_and_uuids_travel_in_arguments(client: awa.AsyncClient) -> None:
    when, who = datetime(2026, 1, 2, tzinfo=UTC), uuid4()
    job = await client.insert(HTTPRequestV2(at=when, ids=[who]))
    plain = await client.insert({"at": when, "who": who}, kind="plain")
    assert job.kind == "http_request_v2"
    assert (await client.get_job(job.id)).args == {"at": "2026-01-02T00:00:00Z", "ids": [str(who)]}
    assert (await client.get_job(plain.id)).args["who"] == str(who)


async def test_the_task_says_the_kind_and_the_queue(client: awa.AsyncClient) -> None:
    client.task(SendEmail, kind="mail", queue="email")(lambda job: None)
    job = await client.insert(SendEmail())
    assert (job.kind, job.queue) == ("mail", "email")
    assert (await client.insert(SendEmail(), queue="urgent")).queue == "urgent"


NAIVE = datetime(2026, 1, 1)  # noqa: DTZ001 - that is the point


@pytest.mark.parametrize(
    ("args", "options", "field", "told"),
    [
        (SendEmail(), {"queue": ""}, "queue", "empty"),
        (SendEmail(), {"queue": "q" * 201}, "queue", "200"),
        (SendEmail(), {"queue": 7}, "queue", "text"),
        (SendEmail(), {"priority": 0}, "priority", "between 1 and 4"),
        (SendEmail(), {"priority": 5}, "priority", "between 1 and 4"),
        (SendEmail(), {"priority": "high"}, "priority", "whole number"),
        (SendEmail(), {"max_attempts": 0}, "max_attempts", "between 1 and"),
        (SendEmail(), {"run_at": NAIVE}, "run_at", "no time zone"),
        (SendEmail(), {"run_at": "tomorrow"}, "run_at", "datetime"),
        (SendEmail(), {"run_at": datetime.max.replace(tzinfo=UTC)}, "run_at", "years 1 to 9999"),
        (SendEmail(), {"tags": ["t" * 201]}, "tags", "200"),
        (SendEmail(), {"tags": "urgent"}, "tags", "list"),
        (SendEmail(), {"metadata": ["no"]}, "metadata", "object"),
        (SendEmail(), {"metadata": {"x": "a\x00b"}}, "metadata", "NUL"),
        (SendEmail(), {"metadata": {"x": Decimal(1)}}, "metadata", "stored"),
        (SendEmail(), {"ordering_key": ""}, "ordering_key", "empty"),
        (SendEmail(), {"unique_opts": {"by_arg": True}}, "unique_opts.by_arg", "'by_args'"),
        (SendEmail(), {"queu": "x"}, "queu", "'queue'"),
        ({"n": 1}, {}, "kind", "required"),
        ({"n": 1}, {"kind": " "}, "kind", "empty"),
        ({"n": Decimal(1)}, {"kind": "k"}, "args", "Decimal"),
        (17, {"kind": "k"}, "args", "dataclass"),
    ],
)
async def test_a_bad_job_is_refused_by_its_field(
    client: awa.AsyncClient, args: Any, options: dict[str, Any], field: str, told: str
) -> None:
    with pytest.raises(awa.ValidationError) as refused:
        await client.insert(args, **options)
    (problem,) = refused.value.fields
    assert problem.field == field
    assert told in problem.message
    assert await client.list_jobs() == []


async def test_all_that_is_wrong_is_said_at_once(client: awa.AsyncClient) -> None:
    with pytest.raises(awa.ValidationError) as refused:
        await client.insert(SendEmail(), priority=9, queue="", tags=[""])
    assert [problem.field for problem in refused.value.fields] == ["queue", "priority", "tags"]


async def test_many_jobs_come_back_in_order(client: awa.AsyncClient) -> None:
    jobs = await client.insert_many(
        [
            SendEmail("a"),
            awa.Draft(SendEmail("b"), priority=1, tags=["urgent"]),
            awa.Draft({"n": 1}, kind="other", run_at=datetime.now(UTC) + timedelta(hours=1)),
        ],
        queue="email",
        tags=["all"],
    )
    assert [job.kind for job in jobs] == ["send_email", "send_email", "other"]
    assert [job.priority for job in jobs] == [2, 1, 2]
    assert [job.tags for job in jobs] == [("all",), ("urgent",), ("all",)]
    assert jobs[2].state is awa.JobState.SCHEDULED
    assert jobs[1].args == SendEmail("b")
    for job in jobs:
        seen = await client.get_job(job.id)
        assert (seen.queue, seen.priority, seen.tags) == ("email", job.priority, job.tags)
    assert await client.insert_many([]) == []


async def test_one_bad_job_among_many_is_named_and_nothing_is_inserted(
    client: awa.AsyncClient,
) -> None:
    with pytest.raises(awa.ValidationError, match="job 1 of the list") as refused:
        await client.insert_many([SendEmail(), awa.Draft(SendEmail(), priority=7)])
    assert refused.value.fields[0].field == "jobs[1].priority"
    assert await client.list_jobs() == []


async def test_kinds_with_different_queues_are_not_inserted_by_one_call(
    client: awa.AsyncClient,
) -> None:
    client.task(SendEmail, queue="email")(lambda job: None)
    with pytest.raises(awa.ValidationError, match="different queues"):
        await client.insert_many([SendEmail(), awa.Draft({"n": 1}, kind="other")])


async def test_a_transaction_commits_rows_and_jobs_together(
    client: awa.AsyncClient, conn: psycopg.AsyncConnection[Any]
) -> None:
    await conn.execute("CREATE TABLE orders (id int PRIMARY KEY, what text)")
    async with client.transaction() as tx:
        assert await tx.execute("INSERT INTO orders VALUES (%s, %s)", 1, "tea") == 1
        assert await tx.execute("INSERT INTO orders VALUES ($1, $2)", 2, "cake") == 1
        job = await tx.insert(SendEmail(), queue="email")
        many = await tx.insert_many([SendEmail(), SendEmail()])
        assert await tx.fetch_one("SELECT what FROM orders WHERE id = %(id)s", {"id": 1}) == {
            "what": "tea"
        }
        assert await tx.fetch_one("SELECT 1 AS one WHERE false") is None
        assert await tx.fetch_all("SELECT id FROM orders ORDER BY id") == [{"id": 1}, {"id": 2}]
    for inserted in (job, *many):
        assert (await client.get_job(inserted.id)).state is awa.JobState.AVAILABLE


async def test_a_transaction_that_fails_leaves_no_trace(client: awa.AsyncClient) -> None:
    ids: list[int] = []

    async def insert_and(statement: str) -> None:
        async with client.transaction() as tx:
            ids.append((await tx.insert(SendEmail())).id)
            await tx.execute(statement)
            raise ZeroDivisionError

    with pytest.raises(awa.DatabaseError):
        await insert_and("SELECT nonsense")
    with pytest.raises(ZeroDivisionError):
        await insert_and("SELECT 1")
    for job_id in ids:
        with pytest.raises(awa.NotFound):
            await client.get_job(job_id)


async def test_a_bridge_inserts_in_the_callers_transaction(
    client: awa.AsyncClient, database_url: str
) -> None:
    async with await psycopg.AsyncConnection.connect(database_url) as own:
        kept = await awa.bridge.insert_job(own, SendEmail(), queue="email", tags=["x"])
        await own.commit()
        dropped = await awa.bridge.insert_job(own.cursor(), SendEmail())
        await own.rollback()
    assert (await client.get_job(kept.id)).queue == "email"
    with pytest.raises(awa.NotFound):
        await client.get_job(dropped.id)


async def test_a_blocking_bridge_does_the_same(client: awa.AsyncClient, database_url: str) -> None:
    rows = psycopg.rows.dict_row
    with psycopg.connect(database_url, row_factory=rows) as own:
        kept = awa.bridge.insert_job_sync(own, SendEmail(), metadata={"a": 1})
        own.commit()
        dropped = awa.bridge.insert_job_sync(own.cursor(), SendEmail())
        own.rollback()
    assert (await client.get_job(kept.id)).metadata == {"a": 1}
    with pytest.raises(awa.NotFound):
        await client.get_job(dropped.id)


async def test_a_bridge_says_what_it_speaks(database_url: str) -> None:
    with pytest.raises(awa.ValidationError, match="got builtins"):
        await awa.bridge.insert_job(object(), SendEmail())
    with (
        psycopg.connect(database_url) as own,
        pytest.raises(awa.ValidationError, match="insert_job_sync"),
    ):
        await awa.bridge.insert_job(own, SendEmail())
