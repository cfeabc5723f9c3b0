"""One handler is run with what a worker would give it, and nothing else is needed or touched."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from pydantic import BaseModel

import awa
from awa.testing import run_job, run_job_sync, twin


class Resize(BaseModel):
    at: datetime


@dataclass
class SendEmail:
    to: str = "ada@example.org"


@pytest.fixture
def offline() -> awa.AsyncClient:
    """A client of a server that doesn't exist."""
    return awa.AsyncClient("postgresql://nobody@127.0.0.1:1/nothing")


async def test_a_handler_gets_what_json_made_of_its_arguments(offline: awa.AsyncClient) -> None:
    seen: list[Any] = []

    @offline.task(Resize, queue="images")
    async def resize(job: awa.Job[Resize]) -> None:
        seen.append((job.args, job.queue, job.priority, job.tags, job.attempt, job.max_attempts))
        job.set_progress(40, "half")
        await job.flush_progress()
        job.update_metadata({"width": 3})

    given = Resize(at=datetime(2026, 1, 1, tzinfo=UTC))
    ran = await run_job(offline, given, priority=1, tags=["a"], metadata={"by": "me"}, attempt=2)
    assert seen == [(given, "images", 1, ("a",), 2, 25)]
    assert seen[0][0] is not given
    assert (ran.outcome, ran.returned, ran.exception) == ("completed", None, None)
    assert ran.job.progress == {"percent": 40, "message": "half"}
    assert ran.job.metadata == {"by": "me", "width": 3}


async def test_outcomes_are_answered(offline: awa.AsyncClient) -> None:
    @offline.task(SendEmail)
    def send(job: awa.Job[SendEmail]) -> awa.RetryAfter | awa.Cancel:
        return awa.Cancel("told to") if job.is_cancelled() else awa.RetryAfter(5)

    ran = await run_job(offline, SendEmail())
    assert (ran.outcome, ran.returned, ran.delay_s) == ("retried", awa.RetryAfter(5), 5)
    ran = await run_job(offline, SendEmail(), cancelled=True)
    assert (ran.outcome, ran.returned) == ("cancelled", awa.Cancel("told to"))


async def test_follow_ups_are_answered_and_not_inserted(offline: awa.AsyncClient) -> None:
    offline.task(Resize, queue="images")(lambda job: None)

    def then(job: awa.Job[SendEmail]) -> Any:
        return awa.FollowUp({"to": job.args.to}, kind="bill", queue="billing", priority=1)

    @offline.task(SendEmail, on_completed=then)
    async def send(job: awa.Job[SendEmail]) -> None:
        job.follow_up(Resize(at=datetime(2026, 1, 1, tzinfo=UTC)))

    ran = await run_job(offline, SendEmail())
    first, second = ran.follow_ups
    assert (first.kind, first.queue, first.args) == (
        "resize",
        "images",
        {"at": "2026-01-01T00:00:00Z"},
    )
    assert (second.kind, second.queue, second.priority) == ("bill", "billing", 1)
    assert second.args == {"to": "ada@example.org"}


async def test_a_follow_up_that_can_not_be_made_is_raised(offline: awa.AsyncClient) -> None:
    def then(job: awa.Job[SendEmail]) -> None:
        raise ZeroDivisionError

    @offline.task(SendEmail, on_completed=then)
    async def send(job: awa.Job[SendEmail]) -> None: ...

    with pytest.raises(ZeroDivisionError):
        await run_job(offline, SendEmail())


async def test_what_a_handler_raises_is_raised_unless_told_otherwise(
    offline: awa.AsyncClient,
) -> None:
    @offline.task(SendEmail)
    async def send(job: awa.Job[SendEmail]) -> None:
        raise awa.TerminalError("no such address")

    with pytest.raises(awa.TerminalError, match="no such address"):
        await run_job(offline, SendEmail())
    ran = await run_job(offline, SendEmail(), reraise=False)
    assert ran.outcome == "failed"
    assert isinstance(ran.exception, awa.TerminalError)


async def test_what_an_insert_would_refuse_is_refused(offline: awa.AsyncClient) -> None:
    client = offline
    with pytest.raises(awa.UnknownJobKind, match="send_email"):
        await run_job(client, SendEmail())
    client.task(SendEmail)(lambda job: None)
    with pytest.raises(awa.ValidationError, match="priority"):
        await run_job(client, SendEmail(), priority=9)
    with pytest.raises(awa.ValidationError, match=r"JSON form|stored"):
        await run_job(client, {"a": object()}, kind="send_email")
    with pytest.raises(ValueError, match="to"):
        await run_job(client, {"to": [1]}, kind="send_email")


async def test_an_inserted_job_is_run_as_it_is(client: awa.AsyncClient) -> None:
    seen: list[Any] = []
    client.task(SendEmail, queue="email")(
        lambda job: seen.append((job.id, job.args, job.queue, job.attempt, job.tags))
    )
    job = await client.insert(SendEmail("bob@example.org"), tags=["x"])
    for given in (job, await client.get_job(job.id)):
        ran = await run_job(client, given)
        assert ran.outcome == "completed"
    assert seen == [(job.id, SendEmail("bob@example.org"), "email", 1, ("x",))] * 2
    assert (await client.get_job(job.id)).state is awa.JobState.AVAILABLE


async def test_a_twin_has_the_tasks_on_another_database(
    offline: awa.AsyncClient, database_url: str
) -> None:
    offline.task(SendEmail, queue="email")(lambda job: None)
    async with twin(offline, database_url) as client:
        assert (await client.insert(SendEmail())).queue == "email"
        assert client.settings is offline.settings


def test_a_blocking_test_runs_a_handler_as_well() -> None:
    client = awa.Client("postgresql://nobody@127.0.0.1:1/nothing")
    client.task(SendEmail)(lambda job: job.update_metadata({"to": job.args.to}))
    assert run_job_sync(client, SendEmail()).job.metadata == {"to": "ada@example.org"}
    client.close()
