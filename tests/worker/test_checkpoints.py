"""What an attempt wrote down is there for the next one, however it ended."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

import awa
from awa.model.callback import RESULT_KEY
from awa.model.draft import merge_metadata
from awa.model.limits import METADATA_MAX_BYTES
from awa.storage.rescue import rescue
from awa.testing import run_job

Eventually = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]


@dataclass
class Walk:
    how: str = "well"


class Seen:
    """What each attempt found when it began."""

    def __init__(self) -> None:
        self.attempts: asyncio.Queue[tuple[int, Any, Any]] = asyncio.Queue()

    def note(self, job: awa.Job[Walk]) -> None:
        self.attempts.put_nowait((job.attempt, job.metadata, job.progress))

    async def next(self) -> tuple[int, Any, Any]:
        return await asyncio.wait_for(self.attempts.get(), 60)


@pytest.mark.parametrize("flushed", [True, False])
@pytest.mark.parametrize("result", [awa.RetryAfter(0), awa.Snooze(0), RuntimeError("no")])
async def test_progress_and_metadata_survive_a_retry(
    *, client: awa.AsyncClient, eventually: Eventually, result: Any, flushed: bool
) -> None:
    seen = Seen()

    @client.task(Walk)
    async def handle(job: awa.Job[Walk]) -> Any:
        seen.note(job)
        if job.progress is not None:
            return None
        job.set_progress(40, "half of it")
        job.update_metadata({"step": 3})
        if flushed:
            await job.flush_progress()
            read = await client.get_job(job.id)
            assert (read.progress, read.metadata) == (
                {"percent": 40, "message": "half of it"}, {"given": 1, "step": 3},
            )  # fmt: skip
        if isinstance(result, BaseException):
            raise result
        return result

    job = await client.insert(Walk(), metadata={"given": 1})
    await client.start([("default", 5)])
    assert await seen.next() == (1, {"given": 1}, None)
    if isinstance(result, BaseException):
        await eventually(lambda: _errors(client, job.id))
        await client.retry(job.id)
    attempt = 1 if isinstance(result, awa.Snooze) else 2
    assert await seen.next() == (
        attempt, {"given": 1, "step": 3}, {"percent": 40, "message": "half of it"},
    )  # fmt: skip


async def _is_completed(client: awa.AsyncClient, job_id: int) -> bool:
    return (await client.get_job(job_id)).state == "completed"


async def _errors(client: awa.AsyncClient, job_id: int) -> Any:
    return (await client.get_job(job_id)).errors


async def test_a_checkpoint_survives_the_death_of_its_worker(
    *,
    client: awa.AsyncClient,
    database_url: str,
    settings: awa.Settings,
    eventually: Eventually,
) -> None:
    seen, written = Seen(), asyncio.Event()

    async def handle(job: awa.Job[Walk]) -> None:
        seen.note(job)
        if job.progress is None:
            job.set_progress(80)
            job.update_metadata({"done": [1, 2]})
            await job.flush_progress()
            job.update_metadata({"never": "written"})
            written.set()
            await asyncio.Event().wait()

    client.task(Walk)(handle)
    job = await client.insert(Walk())
    await client.start([("default", 5)], roles=["worker"])
    await asyncio.wait_for(written.wait(), 60)
    async with awa.AsyncClient(database_url, settings=settings) as other:

        async def rescued() -> int:
            """None while the worker's own heartbeat has the row of its runtime locked."""
            async with other.connection() as conn:
                return (await rescue(conn, stale_after_s=-1.0)).attempts_rescued

        assert await eventually(rescued) == 1
        found = await other.get_job(job.id)
        assert found.state is awa.JobState.RETRYABLE
        assert found.metadata["done"] == [1, 2]
        assert found.progress == {"percent": 80, "message": None}
        (error,) = found.errors
        assert (error["kind"], error["attempt"]) == ("RuntimeLost", 1)
        assert str(UUID(error["runtime_id"])) == error["runtime_id"]
        assert error["duration_s"] >= 0


async def test_a_plain_handler_writes_checkpoints_too(client: awa.AsyncClient) -> None:
    loop, read = asyncio.get_running_loop(), asyncio.Queue[Any]()

    @client.task(Walk)
    def handle(job: awa.Job[Walk]) -> None:
        job.update_metadata({"step": 1})
        job.flush_progress_sync()
        found = asyncio.run_coroutine_threadsafe(client.get_job(job.id), loop).result()
        loop.call_soon_threadsafe(read.put_nowait, found.metadata)

    await client.insert(Walk())
    await client.start([("default", 5)], roles=["worker"])
    assert await asyncio.wait_for(read.get(), 60) == {"step": 1}


async def test_errors_say_which_attempt_when_where_and_for_how_long(
    client: awa.AsyncClient, eventually: Eventually
) -> None:
    @client.task(Walk)
    async def handle(job: awa.Job[Walk]) -> None:
        raise RuntimeError("no")

    job = await client.insert(Walk())
    await client.start([("default", 5)], roles=["worker"])
    (error,) = await eventually(lambda: _errors(client, job.id))
    assert {"attempt", "at", "error", "kind", "traceback", "duration_s", "runtime_id"} == set(error)
    assert 0 <= error["duration_s"] < 600


@pytest.mark.parametrize(("said", "kept"), [("a\0b", "a�b"), ("\ud800", "?"), ("x" * 5_000, None)])
async def test_a_message_is_kept_as_far_as_it_can_be(
    *, client: awa.AsyncClient, said: str, kept: str | None
) -> None:
    read: asyncio.Queue[Any] = asyncio.Queue()

    @client.task(Walk)
    async def handle(job: awa.Job[Walk]) -> None:
        job.set_progress(40, said)
        await job.flush_progress()
        read.put_nowait((await client.get_job(job.id)).progress)

    await client.insert(Walk())
    await client.start([("default", 1)], roles={"worker"})
    progress = await asyncio.wait_for(read.get(), 60)
    assert progress["percent"] == 40
    if kept is not None:
        assert progress["message"] == kept
    else:
        assert "characters left out" in progress["message"]
        assert len(progress["message"]) < 2_100


@pytest.mark.parametrize("wrong", [(101, None), ("half", None), (True, None), (1, {"x": 1})])
async def test_progress_that_is_none_is_refused_where_it_is_said(
    client: awa.AsyncClient, wrong: tuple[Any, Any]
) -> None:
    @client.task(Walk)
    async def handle(job: awa.Job[Walk]) -> None:
        job.set_progress(*wrong)

    ran = await run_job(client, Walk(), reraise=False)
    assert isinstance(ran.exception, awa.ValidationError)


@pytest.mark.parametrize("wrong", ["text", [1], {1: 2}])
async def test_so_is_metadata_that_is_no_object(client: awa.AsyncClient, wrong: Any) -> None:
    @client.task(Walk)
    async def handle(job: awa.Job[Walk]) -> None:
        job.update_metadata(wrong)

    ran = await run_job(client, Walk(), reraise=False)
    assert isinstance(ran.exception, awa.ValidationError)


async def test_metadata_that_would_grow_too_large_is_refused_and_what_was_there_stays(
    client: awa.AsyncClient, eventually: Eventually
) -> None:
    refused: list[awa.ValidationError] = []
    half = "x" * (METADATA_MAX_BYTES // 2)

    @client.task(Walk)
    async def handle(job: awa.Job[Walk]) -> None:
        job.update_metadata({"a": half})
        for changes in ({"b": half}, {"a": half, "b": half}, {"b": half * 3}):
            with pytest.raises(awa.ValidationError) as caught:
                job.update_metadata(changes)
            refused.append(caught.value)
        job.update_metadata({"b": "small"})
        assert job.metadata == {"given": 1, "a": half, "b": "small"}

    job = await client.insert(Walk(), metadata={"given": 1})
    await client.start([("default", 1)], roles={"worker"})
    await eventually(lambda: _is_completed(client, job.id))
    assert (await client.get_job(job.id)).metadata == {"given": 1, "a": half, "b": "small"}
    assert [problem.fields[0].field for problem in refused] == ["metadata"] * 3
    assert str(METADATA_MAX_BYTES) in refused[0].message


async def test_metadata_that_sql_made_too_large_may_shrink_and_not_grow(
    client: awa.AsyncClient, eventually: Eventually
) -> None:
    refused: list[str] = []

    @client.task(Walk, queue="default")
    async def handle(job: awa.Job[Walk]) -> None:
        with pytest.raises(awa.ValidationError) as caught:
            job.update_metadata({"more": 1})
        refused.append(caught.value.message)
        job.update_metadata({"huge": None, "exact": 2})

    async with client.connection() as conn:
        metadata = {"huge": "x" * METADATA_MAX_BYTES, "long": 2**70, "exact": 1}
        row = await conn.execute(
            "SELECT awa.enqueue('walk', '{}', metadata => %s::jsonb)", [json.dumps(metadata)]
        )
        ((job_id,),) = await row.fetchall()
    await client.start([("default", 1)], roles={"worker"})
    await eventually(lambda: _is_completed(client, job_id))
    assert (await client.get_job(job_id)).metadata == {"huge": None, "long": 2**70, "exact": 2}
    assert len(refused) == 1


async def test_an_answer_to_a_callback_takes_nothing_of_the_metadatas_limit() -> None:
    answered = {RESULT_KEY: {"payload": "x" * METADATA_MAX_BYTES}}
    assert merge_metadata(answered, {"step": 1}) == {**answered, "step": 1}


async def test_an_insert_with_too_much_metadata_is_refused(client: awa.AsyncClient) -> None:
    fits = "x" * (METADATA_MAX_BYTES - len('{"a":""}'))
    assert (await client.insert(Walk(), metadata={"a": fits})).metadata == {"a": fits}
    with pytest.raises(awa.ValidationError, match="at most 1048576 bytes"):
        await client.insert(Walk(), metadata={"a": fits + "x"})


async def test_what_one_attempt_reported_costs_no_other_its_heartbeat(
    client: awa.AsyncClient, worker_of: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever gets past the checks and can't be stored is left out of the beat, and waits for its attempt's end."""
    running, go_on = asyncio.Semaphore(0), asyncio.Event()

    @client.task(Walk)
    async def handle(job: Any) -> None:
        if job.args.how == "badly":
            job._attempt.report({"percent": 1, "message": "\0"})
        else:
            job.set_progress(50)
        running.release()
        await go_on.wait()

    jobs = [await client.insert(Walk(how)) for how in ("badly", "well")]
    await client.start([("default", 2)], roles={"worker"})
    async with asyncio.timeout(60):
        for _ in jobs:
            await running.acquire()
    await worker_of(client).heartbeat.beat()
    assert "what attempts reported can't be stored" in caplog.text
    go_on.set()
    await client.shutdown()
    assert [(await client.get_job(job.id)).state for job in jobs] == ["completed", "completed"]


async def test_a_reserved_name_in_the_metadata_is_no_answer_and_no_progress(
    client: awa.AsyncClient,
) -> None:
    @client.task(Walk)
    async def handle(job: awa.Job[Walk]) -> None:
        assert (job.callback_result, job.progress) == (None, None)

    spoilt = {"_awa_callback": "x", "_awa_progress": 5}
    assert (await run_job(client, Walk(), metadata=spoilt)).outcome == "completed"
    job = await client.insert(Walk(), metadata=spoilt)
    assert job.callback_result is None
