"""Handlers that wait for somebody outside: by giving their place up, or inside of themselves."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID, uuid4

import pytest

import awa
from awa.model.callback import CallbackToken

Eventually = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]


@dataclass
class Charge:
    how: str = "well"


class Desk:
    """Handlers leave their tokens here, and what they were told."""

    def __init__(self) -> None:
        self.tokens: asyncio.Queue[CallbackToken] = asyncio.Queue()
        self.told: asyncio.Queue[Any] = asyncio.Queue()

    async def token(self) -> CallbackToken:
        return await asyncio.wait_for(self.tokens.get(), 60)

    async def heard(self) -> Any:
        return await asyncio.wait_for(self.told.get(), 60)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
async def waiting(
    client: awa.AsyncClient, desk: Desk, eventually: Eventually
) -> Callable[..., Awaitable[tuple[int, CallbackToken]]]:
    """Begins a job whose handler returns WaitForCallback; answers its id and token when it waits."""

    @client.task(Charge)
    async def handle(job: awa.Job[Charge]) -> Any:
        if job.callback_result is not None:
            desk.told.put_nowait((job.attempt, job.callback_result))
            return None
        token = await job.register_callback(timeout_seconds=60)
        desk.tokens.put_nowait(token)
        return awa.WaitForCallback(token)

    async def begin(**options: Any) -> tuple[int, CallbackToken]:
        job = await client.insert(Charge(), **options)
        await client.start([("default", 5)])
        token = await desk.token()
        await eventually(lambda: is_in(client, job.id, "waiting_external"))
        return job.id, token

    return begin


async def is_in(client: awa.AsyncClient, job_id: int, state: str) -> bool:
    return str((await client.get_job(job_id)).state) == state


async def test_a_job_waits_and_is_completed_from_outside(
    client: awa.AsyncClient, waiting: Any
) -> None:
    job_id, token = await waiting()
    came = await client.complete_external(token, {"paid": 7}, by="the bank")
    assert (came["outcome"], came["job_id"], came["state"]) == ("applied", job_id, "completed")
    job = await client.get_job(job_id)
    assert (job.state, job.callback_result) == (awa.JobState.COMPLETED, {"paid": 7})
    with pytest.raises(awa.Conflict, match="it was completed by the bank at") as late:
        await client.fail_external(str(token), "too late")
    assert late.value.details is not None
    assert (late.value.details["state"], late.value.details["resolution"]) == (
        "completed", "complete",
    )  # fmt: skip


async def test_a_job_is_resumed_and_its_handler_sees_the_payload(
    client: awa.AsyncClient, desk: Desk, waiting: Any, eventually: Eventually
) -> None:
    job_id, token = await waiting()
    assert (await client.resume_external(token.id, ["go", 1]))["state"] == "available"
    assert await desk.heard() == (1, ["go", 1])
    await eventually(lambda: is_in(client, job_id, "completed"))
    with pytest.raises(awa.Conflict, match="its job was resumed"):
        await client.complete_external(token)


async def test_fail_and_retry_from_outside(client: awa.AsyncClient, waiting: Any) -> None:
    job_id, token = await waiting()
    await client.retry_external(token, "the bank is closed")
    job = await client.get_job(job_id)
    assert (job.state, job.attempt) == (awa.JobState.RETRYABLE, 1)
    assert job.errors[0]["error"] == "the bank is closed"
    await client.retry(job_id)


async def test_a_failure_from_outside_is_for_good(client: awa.AsyncClient, waiting: Any) -> None:
    job_id, token = await waiting()
    await client.fail_external(token, {"error": "no money", "code": 51})
    job = await client.get_job(job_id)
    assert job.state is awa.JobState.FAILED
    assert (job.errors[0]["error"], job.errors[0]["code"], job.errors[0]["kind"]) == (
        "no money", 51, "CallbackFailed",
    )  # fmt: skip


async def test_a_cancelled_job_hears_no_callback(client: awa.AsyncClient, waiting: Any) -> None:
    job_id, token = await waiting()
    assert (await client.cancel(job_id)).state is awa.JobState.CANCELLED
    with pytest.raises(awa.Conflict, match=r"nothing waits for callback .* is cancelled"):
        await client.complete_external(token)
    with pytest.raises(awa.NotFound):
        await client.complete_external(uuid4())
    with pytest.raises(awa.ValidationError, match="expected the id of a callback"):
        await client.complete_external("no id")


async def test_what_waits_can_be_neither_moved_nor_retried(
    client: awa.AsyncClient, waiting: Any
) -> None:
    job_id, _ = await waiting()
    with pytest.raises(awa.Conflict, match="waits for a callback"):
        await client.set_job_priority(job_id, 1)
    with pytest.raises(awa.Conflict, match="waits for a callback"):
        await client.move_job(job_id, "other")
    with pytest.raises(awa.Conflict, match="answer that instead"):
        await client.retry(job_id)


async def test_a_callback_that_nobody_answers_times_out(
    client: awa.AsyncClient, desk: Desk, eventually: Eventually
) -> None:
    @client.task(Charge)
    async def handle(job: awa.Job[Charge]) -> Any:
        return awa.WaitForCallback(await job.register_callback(timeout_seconds=0.01))

    job = await client.insert(Charge(), max_attempts=1)
    await client.start([("default", 5)])
    await eventually(lambda: is_in(client, job.id, "failed"))
    (error,) = (await client.get_job(job.id)).errors
    assert error["kind"] == "CallbackTimeout"


@pytest.mark.parametrize("token", ["no token", "", 7, None, uuid4()])
async def test_only_a_callback_of_its_own_can_be_waited_for(
    client: awa.AsyncClient, eventually: Eventually, token: Any
) -> None:
    @client.task(Charge)
    async def handle(job: awa.Job[Charge]) -> Any:
        return awa.WaitForCallback(token)

    job = await client.insert(Charge())
    await client.start([("default", 5)], roles=["worker"])
    await eventually(lambda: is_in(client, job.id, "retryable"))
    (error,) = (await client.get_job(job.id)).errors
    expected = "UnknownCallback" if isinstance(token, UUID) else "TypeError"
    assert error["kind"] == expected


class Inside:
    """A handler that waits inside of itself, async or plain."""

    def __init__(
        self, client: awa.AsyncClient, desk: Desk, *, plain: bool, timeout_s: float
    ) -> None:
        loop = asyncio.get_running_loop()

        async def handle(job: awa.Job[Charge]) -> None:
            token = await job.register_callback(timeout_seconds=timeout_s)
            desk.tokens.put_nowait(token)
            try:
                desk.told.put_nowait(await job.wait_for_callback(token))
            except Exception as problem:
                desk.told.put_nowait(problem)
                raise

        def handle_plainly(job: awa.Job[Charge]) -> None:
            token = job.register_callback_sync(timeout_seconds=timeout_s)
            loop.call_soon_threadsafe(desk.tokens.put_nowait, token)
            try:
                told = job.wait_for_callback_sync(token)
                loop.call_soon_threadsafe(desk.told.put_nowait, told)
            except Exception as problem:
                loop.call_soon_threadsafe(desk.told.put_nowait, problem)
                raise

        client.task(Charge)(handle_plainly if plain else handle)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("action", "told", "state"),
    [
        ("complete_external", {"paid": 1}, "completed"),
        ("resume_external", {"paid": 1}, "completed"),
        ("fail_external", "no money", "failed"),
        ("retry_external", "later", "retryable"),
    ],
)
async def test_an_answer_reaches_a_handler_that_waits_inside(
    *,
    client: awa.AsyncClient,
    desk: Desk,
    eventually: Eventually,
    plain: bool,
    action: str,
    told: Any,
    state: str,
) -> None:
    Inside(client, desk, plain=plain, timeout_s=60)
    job = await client.insert(Charge())
    await client.start([("default", 5)], roles=["worker"])
    token = await desk.token()
    assert (await client.get_callback(token))["job_state"] == "running"
    assert (await getattr(client, action)(token, told))["outcome"] == "recorded"
    heard = await desk.heard()
    if isinstance(told, dict):
        assert heard == told
    else:
        kinds = {"failed": awa.CallbackFailed, "retryable": awa.CallbackRetried}
        assert isinstance(heard, kinds[state])
        assert told in str(heard)
    await eventually(lambda: is_in(client, job.id, state))
    with pytest.raises(awa.Conflict):
        await client.complete_external(token)


@pytest.mark.parametrize("plain", [False, True])
async def test_a_wait_inside_times_out_without_a_leader(
    *, client: awa.AsyncClient, desk: Desk, eventually: Eventually, plain: bool
) -> None:
    Inside(client, desk, plain=plain, timeout_s=0.05)
    job = await client.insert(Charge())
    await client.start([("default", 5)], roles=["worker"])
    token = await desk.token()
    assert isinstance(await desk.heard(), awa.CallbackTimedOut)
    await eventually(lambda: is_in(client, job.id, "retryable"))
    with pytest.raises(awa.Conflict, match="its time was over"):
        await client.complete_external(token)


async def test_a_wait_inside_hears_of_the_answer_without_messages(
    database_url: str, settings: awa.Settings, desk: Desk
) -> None:
    async with awa.AsyncClient(database_url, settings=settings, listen=False) as client:
        Inside(client, desk, plain=False, timeout_s=60)
        await client.insert(Charge())
        await client.start([("default", 5)], roles=["worker"])
        await client.complete_external(await desk.token(), "polled")
        assert await desk.heard() == "polled"
        await client.shutdown()


async def test_a_handler_can_wait_for_its_own_callbacks_only(
    client: awa.AsyncClient, desk: Desk
) -> None:
    @client.task(Charge)
    async def handle(job: awa.Job[Charge]) -> None:
        if job.args.how == "first":
            desk.tokens.put_nowait(await job.register_callback())
            await asyncio.Event().wait()
        for token in (await desk.token(), uuid4()):
            with pytest.raises((awa.Conflict, awa.NotFound)) as refused:
                await job.wait_for_callback(token)
            desk.told.put_nowait(refused.value)

    await client.insert(Charge("first"))
    await client.insert(Charge("second"))
    await client.start([("default", 5)], roles=["worker"])
    assert "belongs to another attempt" in str(await desk.heard())
    assert "there is no callback" in str(await desk.heard())


async def test_the_methods_for_plain_handlers_say_where_they_belong(
    client: awa.AsyncClient, desk: Desk
) -> None:
    @client.task(Charge)
    async def handle(job: awa.Job[Charge]) -> None:
        with pytest.raises(awa.Conflict, match="await the method without _sync") as refused:
            job.register_callback_sync()
        desk.told.put_nowait(refused.value)

    await client.insert(Charge())
    await client.start([("default", 5)], roles=["worker"])
    await desk.heard()


async def test_an_attempt_that_was_cancelled_registers_nothing(
    database_url: str, settings: awa.Settings, desk: Desk
) -> None:
    cancelled = asyncio.Event()
    async with awa.AsyncClient(
        database_url, settings=replace(settings, cancel_grace_s=60)
    ) as client:

        @client.task(Charge)
        async def handle(job: awa.Job[Charge]) -> None:
            desk.told.put_nowait(job.id)
            await cancelled.wait()
            with pytest.raises(awa.Conflict, match="has ended already") as refused:
                await job.register_callback()
            desk.told.put_nowait(refused.value)

        await client.insert(Charge())
        await client.start([("default", 5)], roles=["worker"])
        await client.cancel(await desk.heard())
        cancelled.set()
        await desk.heard()
        await client.shutdown()


async def test_a_unique_job_keeps_its_key_while_it_waits_and_no_longer(
    client: awa.AsyncClient, waiting: Any
) -> None:
    job_id, token = await waiting(unique_opts={"by_queue": True})
    with pytest.raises(awa.UniqueConflict):
        await client.insert(Charge(), unique_opts={"by_queue": True})
    with pytest.raises(awa.Conflict, match="waits for a callback"):
        await client.move_job(job_id, "other")
    with pytest.raises(awa.UniqueConflict):
        await client.insert(Charge(), unique_opts={"by_queue": True})
    await client.complete_external(token)
    assert (await client.insert(Charge(), unique_opts={"by_queue": True})).id != job_id


@pytest.mark.parametrize("action", ["retry", "resume"])
async def test_a_unique_job_that_goes_on_keeps_its_key(
    client: awa.AsyncClient, waiting: Any, action: str
) -> None:
    _, token = await waiting(unique_opts={})
    await getattr(client, f"{action}_external")(token)
    with pytest.raises(awa.UniqueConflict):
        await client.insert(Charge(), unique_opts={})
