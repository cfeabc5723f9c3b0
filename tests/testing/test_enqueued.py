"""Asking for jobs finds those that are there, through clients and through the connections of bridges."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import awa
from awa import bridge
from awa.testing import assert_enqueued, assert_enqueued_sync, drain
from tests.bridge.libraries import ASYNC, BLOCKING, Blocked


@dataclass
class SendEmail:
    to: str = "ada@example.org"
    cc: tuple[str, ...] = ()


async def test_jobs_are_found_by_what_was_asked(client: awa.AsyncClient) -> None:
    client.task(SendEmail, kind="mail", queue="email")(lambda job: None)
    first = await client.insert(SendEmail(), tags=["urgent"], priority=1)
    second = await client.insert(
        SendEmail("bob@example.org"), run_at=datetime.now(UTC) + timedelta(1)
    )
    await client.insert({"n": 1}, kind="other")
    assert [job.id for job in await assert_enqueued(client, SendEmail)] == [first.id, second.id]
    assert len(await assert_enqueued(client, count=3)) == 3
    for asked in (
        {"kind": "mail", "args": {"to": "ada@example.org"}},
        {"kind": SendEmail, "args": SendEmail()},
        {"queue": "email", "tag": "urgent"},
        {"queue": "email", "priority": 1},
        {"queue": "email", "state": "available"},
    ):
        (found,) = await assert_enqueued(client, **{"count": 1, **asked})  # type: ignore[arg-type]
        assert found.id == first.id
    (later,) = await assert_enqueued(client, SendEmail, state=awa.JobState.SCHEDULED)
    assert later.id == second.id
    assert await assert_enqueued(client, "nobody", count=0) == []


async def test_a_failure_shows_what_is_there(client: awa.AsyncClient) -> None:
    with pytest.raises(AssertionError, match=r"at least one .*send_email.* No job at all is there"):
        await assert_enqueued(client, SendEmail)
    await client.insert_many([SendEmail(str(n)) for n in range(12)], queue="email")
    with pytest.raises(AssertionError) as failed:
        await assert_enqueued(client, SendEmail, args={"to": "bob"}, queue="email")
    said = str(failed.value)
    assert "found 0" in said
    assert "send_email in email, available, priority 2: {'to': '0', 'cc': []}" in said
    assert "and 2 more" in said
    with pytest.raises(AssertionError, match=r"expected 3 .*found 12"):
        await assert_enqueued(client, SendEmail, count=3)
    with pytest.raises(AssertionError, match="send_email in email"):
        await assert_enqueued(client, "other")


async def test_jobs_that_ran_are_found_by_their_state_only(client: awa.AsyncClient) -> None:
    client.task(SendEmail)(lambda job: None)
    await client.insert(SendEmail())
    await drain(client)
    await assert_enqueued(client, SendEmail, count=0)
    await assert_enqueued(client, SendEmail, count=1, state="completed")


async def test_a_question_that_makes_no_sense_is_refused(client: awa.AsyncClient) -> None:
    with pytest.raises(awa.ValidationError, match="priority"):
        await assert_enqueued(client, SendEmail, priority=9)
    with pytest.raises(awa.ValidationError, match="connection"):
        await assert_enqueued(object(), SendEmail)


@pytest.mark.parametrize("name", ASYNC)
async def test_a_connection_sees_what_its_transaction_inserted(
    client: awa.AsyncClient, database_url: str, name: str
) -> None:
    async with ASYNC[name](database_url) as opened:
        await bridge.insert_job(opened.connection, SendEmail(), queue="email", tags=["a"])
        (job,) = await assert_enqueued(
            opened.connection, SendEmail, queue="email", tag="a", args={"to": "ada@example.org"}
        )
        assert (job.args, job.tags) == ({"to": "ada@example.org", "cc": []}, ("a",))
        assert await assert_enqueued(client, SendEmail, count=0) == []
        await opened.rollback()


@pytest.mark.parametrize("name", BLOCKING)
async def test_a_blocking_connection_sees_it_as_well(database_url: str, name: str) -> None:
    def look() -> list[Any]:
        with BLOCKING[name](database_url) as opened:
            return inserted(opened)

    def inserted(opened: Blocked) -> list[Any]:
        bridge.insert_job_sync(opened.connection, SendEmail(), queue="email", metadata={"a": 1})
        found = assert_enqueued_sync(opened.connection, SendEmail, queue="email", count=1)
        opened.rollback()
        return found

    (job,) = await asyncio.to_thread(look)
    assert (job.args["to"], job.metadata) == ("ada@example.org", {"a": 1})


def test_a_blocking_client_is_asked_as_well(database_url: str) -> None:
    with awa.Client(database_url) as client:
        client.insert(SendEmail())
        (job,) = assert_enqueued_sync(client, SendEmail, count=1)
        assert job.kind == "send_email"
