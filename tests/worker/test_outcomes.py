"""What a handler returns or raises decides where its job goes, once."""

import asyncio
import threading
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypedDict
from uuid import UUID, uuid4

import pytest
from pydantic import BaseModel

import awa


@dataclass
class Work:
    how: str = "well"


class Told:
    """Handlers say here that they ran."""

    def __init__(self, expected: int = 1) -> None:
        self.jobs: list[awa.Job[Any]] = []
        self._expected = expected
        self._all = asyncio.Event()

    def __call__(self, job: awa.Job[Any]) -> None:
        self.jobs.append(job)
        if len(self.jobs) >= self._expected:
            self._all.set()

    async def all(self) -> None:
        async with asyncio.timeout(60):
            await self._all.wait()


async def run(
    client: awa.AsyncClient, handler: Any, args: Any = None, **options: Any
) -> awa.Job[Any]:
    """Insert one job, run it to the end of its attempt, and read it again."""
    told = Told()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> Any:
        told(job)
        return await handler(job)

    job = await client.insert(args or Work(), **options)
    await client.start([("default", 5)], roles=["worker"])
    await told.all()
    await client.shutdown()
    return await client.get_job(job.id)


async def test_returning_none_completes_a_job(client: awa.AsyncClient) -> None:
    async def handler(job: awa.Job[Work]) -> None:
        assert job.state is awa.JobState.RUNNING

    job = await run(client, handler)
    assert (job.state, job.attempt, job.errors) == (awa.JobState.COMPLETED, 1, ())
    assert job.finalized_at is not None


async def test_an_exception_is_retried_with_backoff_and_kept(client: awa.AsyncClient) -> None:
    async def handler(job: awa.Job[Work]) -> None:
        raise RuntimeError("no\x00good")

    before = datetime.now(UTC)
    job = await run(client, handler)
    after = datetime.now(UTC)
    assert (job.state, job.attempt) == (awa.JobState.RETRYABLE, 1)
    (error,) = job.errors
    assert (error["attempt"], error["kind"], error["error"]) == (1, "RuntimeError", "no�good")
    assert "in handler" in error["traceback"]
    assert before + timedelta(seconds=1) < job.run_at < after + timedelta(seconds=20)


async def test_the_last_attempt_fails_for_good(client: awa.AsyncClient) -> None:
    async def handler(job: awa.Job[Work]) -> None:
        raise RuntimeError("no good")

    job = await run(client, handler, max_attempts=1)
    assert (job.state, job.attempt) == (awa.JobState.FAILED, 1)


async def test_a_terminal_error_is_not_retried(client: awa.AsyncClient) -> None:
    async def handler(job: awa.Job[Work]) -> None:
        raise awa.TerminalError("address unknown")

    job = await run(client, handler)
    assert job.state is awa.JobState.FAILED
    assert job.errors[0]["error"] == "address unknown"


async def test_retry_after_counts_as_an_attempt_and_snooze_does_not(
    client: awa.AsyncClient,
) -> None:
    async def handler(job: awa.Job[Work]) -> Any:
        return awa.RetryAfter(60) if job.args.how == "retry" else awa.Snooze(60)

    told = Told(2)

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> Any:
        told(job)
        return await handler(job)

    retried, snoozed = await client.insert_many([Work("retry"), Work("snooze")])
    before = datetime.now(UTC)
    await client.start([("default", 5)], roles=["worker"])
    await told.all()
    await client.shutdown()
    after = datetime.now(UTC)
    retried, snoozed = await client.get_job(retried.id), await client.get_job(snoozed.id)
    assert (retried.state, retried.attempt) == (awa.JobState.RETRYABLE, 1)
    assert (snoozed.state, snoozed.attempt) == (awa.JobState.SCHEDULED, 0)
    for job in (retried, snoozed):
        assert before < job.run_at - timedelta(seconds=60) < after


async def test_cancel_cancels_with_its_reason(client: awa.AsyncClient) -> None:
    async def handler(job: awa.Job[Work]) -> Any:
        return awa.Cancel("not wanted any more")

    job = await run(client, handler)
    assert job.state is awa.JobState.CANCELLED
    assert job.errors[0]["error"] == "not wanted any more"


async def test_an_exit_in_a_handler_does_not_take_the_worker_down(client: awa.AsyncClient) -> None:
    async def handler(job: awa.Job[Work]) -> None:
        raise SystemExit(3)

    job = await run(client, handler)
    assert (job.state, job.errors[0]["kind"]) == (awa.JobState.RETRYABLE, "SystemExit")


async def test_a_handler_that_cancels_itself_is_retried(client: awa.AsyncClient) -> None:
    async def handler(job: awa.Job[Work]) -> None:
        raise asyncio.CancelledError

    job = await run(client, handler)
    assert (job.state, job.errors[0]["kind"]) == (awa.JobState.RETRYABLE, "CancelledError")


async def test_waiting_for_a_callback_is_refused_clearly(client: awa.AsyncClient) -> None:
    async def handler(job: awa.Job[Work]) -> Any:
        return awa.WaitForCallback("token")

    job = await run(client, handler)
    assert job.state is awa.JobState.RETRYABLE
    assert "callback" in job.errors[0]["error"]


async def test_a_kind_without_a_handler_is_retried_and_named(client: awa.AsyncClient) -> None:
    job: awa.Job[Any] = await client.insert({}, kind="wrok")
    told = Told()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        told(job)

    await client.insert(Work())
    await client.start([("default", 5)], roles=["worker"])
    await told.all()
    await client.shutdown()
    seen = await client.get_job(job.id)
    assert (seen.state, seen.errors[0]["kind"]) == (awa.JobState.RETRYABLE, "UnknownJobKind")
    assert "'work'" in seen.errors[0]["error"]


async def test_a_plain_handler_runs_in_a_thread(client: awa.AsyncClient) -> None:
    told, loop = Told(), asyncio.get_running_loop()
    names: list[str] = []

    @client.task(Work)
    def handle(job: awa.Job[Work]) -> None:
        names.append(threading.current_thread().name)
        loop.call_soon_threadsafe(told, job)

    job = await client.insert(Work())
    await client.start([("default", 5)], roles=["worker"])
    await told.all()
    await client.shutdown()
    assert (await client.get_job(job.id)).state is awa.JobState.COMPLETED
    assert names == ["awa-handler-1"]


async def test_a_plain_handler_that_returns_an_awaitable_is_told_so(
    client: awa.AsyncClient,
) -> None:
    told, loop = Told(), asyncio.get_running_loop()

    async def forgotten() -> None: ...

    @client.task(Work)
    def handle(job: awa.Job[Work]) -> Any:
        loop.call_soon_threadsafe(told, job)
        return forgotten()

    job = await client.insert(Work())
    await client.start([("default", 5)], roles=["worker"])
    await told.all()
    await client.shutdown()
    assert "async def" in (await client.get_job(job.id)).errors[0]["error"]


async def test_a_handler_that_returns_what_means_nothing_is_named(
    client: awa.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    told = Told()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> Any:
        told(job)
        return 42

    job = await client.insert(Work())
    await client.start([("default", 5)], roles=["worker"])
    await told.all()
    await client.shutdown()
    assert (await client.get_job(job.id)).state == "completed"
    assert "the handler of work returned int" in caplog.text


class Typed(TypedDict):
    n: int


class Model(BaseModel):
    at: datetime
    who: UUID


@dataclass
class Nested:
    at: datetime
    inner: Work


WHEN, WHO = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), uuid4()


@pytest.mark.parametrize(
    ("args_type", "args", "kind"),
    [
        (dict, {"n": 1}, "anything"),
        (Typed, Typed(n=1), None),
        (Model, Model(at=WHEN, who=WHO), None),
        (Nested, Nested(WHEN, Work("inside")), None),
    ],
)
async def test_arguments_arrive_as_they_were_given(
    client: awa.AsyncClient, args_type: Any, args: Any, kind: str | None
) -> None:
    told = Told()

    @client.task(args_type, kind=kind)
    async def handle(job: awa.Job[Any]) -> None:
        told(job)

    inserted = await client.insert(args, kind=kind or (None if args_type is not Typed else "typed"))
    await client.start([("default", 5)], roles=["worker"])
    await told.all()
    assert told.jobs[0].args == args
    assert told.jobs[0].id == inserted.id


async def test_arguments_that_do_not_fit_are_told_and_retried(client: awa.AsyncClient) -> None:
    told = Told()

    @client.task(Nested)
    async def handle(job: awa.Job[Nested]) -> None: ...

    @client.task(Work)
    async def after(job: awa.Job[Work]) -> None:
        told(job)

    job = await client.insert({"at": "soon"}, kind="nested")
    await client.insert(Work())
    await client.start([("default", 1)], roles=["worker"])
    await told.all()
    await client.shutdown()
    seen = await client.get_job(job.id)
    assert seen.state is awa.JobState.RETRYABLE
    assert "inner" in seen.errors[0]["error"]


async def test_a_handler_sees_its_job_and_changes_its_metadata(client: awa.AsyncClient) -> None:
    seen: dict[str, Any] = {}

    async def handler(job: awa.Job[Work]) -> None:
        for name in ("kind", "queue", "priority", "attempt", "max_attempts", "tags", "errors"):
            seen[name] = getattr(job, name)
        job.update_metadata({"done": WHEN})
        seen["metadata"] = job.metadata

    job = await run(client, handler, priority=1, tags=["a", "b"], metadata={"from": "test"})
    assert seen["tags"] == ("a", "b")
    assert (seen["kind"], seen["queue"], seen["priority"]) == ("work", "default", 1)
    assert (seen["attempt"], seen["max_attempts"], seen["errors"]) == (1, 25, ())
    assert seen["metadata"] == {"from": "test", "done": "2026-01-02T03:04:05+00:00"}
    assert job.metadata == seen["metadata"]


async def test_progress_is_stored_while_the_handler_runs(client: awa.AsyncClient) -> None:
    flushed, go_on = asyncio.Event(), asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        job.set_progress(40, "nearly half")
        await job.flush_progress()
        flushed.set()
        await go_on.wait()

    job = await client.insert(Work())
    await client.start([("default", 1)], roles=["worker"])
    async with asyncio.timeout(60):
        await flushed.wait()
    seen = await client.get_job(job.id)
    assert seen.progress == {"percent": 40, "message": "nearly half"}
    go_on.set()


async def test_reporting_on_a_job_that_does_not_run_here_is_refused(
    client: awa.AsyncClient,
) -> None:
    job: awa.Job[Any] = await client.insert({}, kind="k")
    assert not job.is_cancelled()
    with pytest.raises(awa.Conflict, match="only a handler"):
        job.set_progress(1)
