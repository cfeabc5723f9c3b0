"""Draining runs what is due and nothing else, in a known order, and leaves the database as a worker would."""

import contextvars
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import awa
from awa.testing import DrainedTooMany, drain, drain_sync

current: contextvars.ContextVar[str] = contextvars.ContextVar("current", default="")


@dataclass
class Step:
    name: str = ""


@pytest.fixture
def seen(client: awa.AsyncClient) -> list[str]:
    """What the handler of Step was given, in order."""
    seen: list[str] = []

    @client.task(Step, queue="steps")
    async def step(job: awa.Job[Step]) -> None:
        seen.append(f"{job.args.name}{current.get()}")
        current.set("!")
        job.set_progress(50)
        await job.flush_progress()

    return seen


async def test_jobs_run_by_priority_and_then_in_order(
    client: awa.AsyncClient, seen: list[str]
) -> None:
    names = [("a", 2), ("b", 2), ("c", 4), ("d", 1)]
    for name, priority in names:
        await client.insert(Step(name), priority=priority)
    await client.insert(Step("elsewhere"), queue="other")
    ran = await drain(client, "steps")
    assert seen == ["d", "a", "b", "c"]
    assert [one.job.args["name"] for one in ran] == seen
    assert {(one.outcome, one.job.state) for one in ran} == {("completed", "completed")}
    assert await drain(client, "steps") == []
    assert [job.queue for job in await client.list_jobs(state="available")] == ["other"]


async def test_without_a_queue_those_of_the_tasks_are_drained(
    client: awa.AsyncClient, seen: list[str]
) -> None:
    await client.insert(Step("theirs"))
    await client.insert(Step("default"), queue="default")
    await client.insert(Step("elsewhere"), queue="other")
    assert len(await drain(client)) == 2
    assert sorted(seen) == ["default", "theirs"]


async def test_what_a_handler_inserts_is_run_as_well(client: awa.AsyncClient) -> None:
    seen: list[int] = []

    @client.task(dict, kind="count", queue="q")
    async def count(job: awa.Job[dict[str, Any]]) -> None:
        seen.append(job.args["n"])
        if job.args["n"] < 3:
            await client.insert({"n": job.args["n"] + 1}, kind="count", queue="q")

    await client.insert({"n": 1}, kind="count", queue="q")
    assert len(await drain(client, "q")) == 3
    assert seen == [1, 2, 3]


async def test_follow_ups_come_with_the_end_of_their_job(client: awa.AsyncClient) -> None:
    seen: list[int] = []

    @client.task(Step, queue="q")
    async def step(job: awa.Job[Step]) -> None:
        seen.append(len(job.args.name))
        if len(job.args.name) < 3:
            job.follow_up(Step(job.args.name + "x"))

    await client.insert(Step())
    ran = await drain(client, "q")
    assert seen == [0, 1, 2, 3]
    assert [len(one.follow_ups) for one in ran] == [1, 1, 1, 0]
    assert ran[0].follow_ups[0].args == {"name": "x"}


async def test_a_job_without_end_is_stopped_and_handed_back(client: awa.AsyncClient) -> None:
    client.task(Step, queue="q")(lambda job: awa.Snooze(0))
    job = await client.insert(Step())
    with pytest.raises(DrainedTooMany, match="5 jobs were run") as stopped:
        await drain(client, "q", max_jobs=5)
    assert {one.outcome for one in stopped.value.ran} == {"snoozed"}
    again = await client.get_job(job.id)
    assert (again.state, again.attempt) == (awa.JobState.AVAILABLE, 0)


async def test_what_is_not_due_waits_until_now_says_so(
    client: awa.AsyncClient, seen: list[str]
) -> None:
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    job = await client.insert(Step("later"), run_at=tomorrow)
    assert await drain(client, "steps") == []
    assert len(await drain(client, "steps", now=tomorrow)) == 1
    assert seen == ["later"]
    assert (await client.get_job(job.id)).state is awa.JobState.COMPLETED
    with pytest.raises(awa.ValidationError, match="now"):
        await drain(client, "steps", now=datetime.now())  # noqa: DTZ005 - that is the point


async def test_an_error_is_answered_and_the_job_retried(client: awa.AsyncClient) -> None:
    @client.task(Step, queue="q")
    def fail(job: awa.Job[Step]) -> None:
        raise ZeroDivisionError(threading.current_thread().name)

    job = await client.insert(Step(), queue="q", max_attempts=2)
    (ran,) = await drain(client, "q")
    assert (ran.outcome, ran.job.state, ran.job.attempt) == ("retried", "retryable", 1)
    assert isinstance(ran.exception, ZeroDivisionError)
    assert "awa-handler" in str(ran.exception)
    assert ran.error is not None
    assert ran.error["kind"] == "ZeroDivisionError"
    (last,) = await drain(client, "q", now=datetime.now(UTC) + timedelta(hours=1))
    assert (last.outcome, last.job.state) == ("retried", "failed")
    assert [error["kind"] for error in last.job.errors] == ["ZeroDivisionError"] * 2
    assert (await client.get_job(job.id)).state is awa.JobState.FAILED


async def test_an_error_can_be_raised_after_its_end_is_stored(client: awa.AsyncClient) -> None:
    @client.task(Step, queue="q")
    async def fail(job: awa.Job[Step]) -> None:
        raise ZeroDivisionError

    job = await client.insert(Step(), queue="q")
    with pytest.raises(ZeroDivisionError):
        await drain(client, "q", reraise=True)
    assert (await client.get_job(job.id)).state is awa.JobState.RETRYABLE


async def test_outcomes_are_what_the_handler_said(client: awa.AsyncClient) -> None:
    outcomes = {"retry": awa.RetryAfter(60), "snooze": awa.Snooze(60), "cancel": awa.Cancel("no")}

    @client.task(Step, queue="q")
    async def decide(job: awa.Job[Step]) -> Any:
        if job.args.name == "fail":
            raise awa.TerminalError("never")
        return outcomes[job.args.name]

    for name in (*outcomes, "fail"):
        await client.insert(Step(name), queue="q")
    ran = await drain(client, "q")
    assert [(one.outcome, str(one.job.state), one.delay_s) for one in ran] == [
        ("retried", "retryable", 60),
        ("snoozed", "scheduled", 60),
        ("cancelled", "cancelled", None),
        ("failed", "failed", None),
    ]
    assert [one.returned for one in ran] == [*outcomes.values(), None]


async def test_a_job_that_nobody_handles_is_answered_with_its_error(
    client: awa.AsyncClient,
) -> None:
    await client.insert({}, kind="nobody", queue="q")
    (ran,) = await drain(client, "q")
    assert (ran.outcome, ran.job.state) == ("retried", "retryable")
    assert isinstance(ran.exception, awa.UnknownJobKind)


async def test_a_paused_queue_is_not_drained_and_no_runtime_is_left(
    client: awa.AsyncClient, seen: list[str]
) -> None:
    await client.insert(Step("a"))
    await client.pause_queue("steps")
    assert await drain(client, "steps") == []
    assert (await client.health_check())["workers"] == 0


def test_a_blocking_test_drains_as_well(database_url: str) -> None:
    with awa.Client(database_url) as client:
        seen: list[str] = []
        client.task(Step, queue="q")(lambda job: seen.append(job.args.name))
        client.insert(Step("a"), queue="q")
        (ran,) = drain_sync(client, "q")
        assert (seen, ran.job.state) == (["a"], "completed")
