"""What is to follow a job that waits comes with the answer that ends it, whoever answers, or with its time-out."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from psycopg import AsyncConnection

import awa
from awa.storage import callbacks
from awa.storage.new_job import NewJob
from tests.storage.world import World

Eventually = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
LATER = datetime(2040, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass
class Charge:
    n: int = 1


@dataclass
class Note:
    text: str


def completed(job: awa.Job[Charge]) -> object:
    """What a task wants of each completion."""
    return awa.FollowUp(Note(f"completed {job.args.n}"), queue="notes", priority=1)


def failed(job: awa.Job[Charge]) -> object:
    """And of each failure."""
    return [Note("failed"), awa.FollowUp(Note(f"tell {job.args.n}"), queue="notes")]


@pytest.fixture
async def stranger(database_url: str) -> AsyncIterator[awa.AsyncClient]:
    """Somebody who answers and knows no tasks."""
    async with awa.AsyncClient(database_url) as client:
        yield client


@pytest.fixture
def waiting(client: awa.AsyncClient, eventually: Eventually) -> Callable[..., Awaitable[Any]]:
    """Brings a job to wait; answers its id and the callback's."""

    async def begin(
        *,
        max_attempts: int = 1,
        wanted: Callable[[awa.Job[Charge]], None] | None = None,
        **task: Any,
    ) -> Any:
        tokens: list[Any] = []
        hooks = {"on_completed": completed, "on_failed": failed, **task}

        @client.task(Charge, **hooks)
        async def charge(job: awa.Job[Charge]) -> Any:
            if job.callback_result is not None:
                return None
            job.follow_up(
                Note("paid"), run_at=LATER, tags=["a b", "ü"], metadata={"deep": [1, None]}
            )
            if wanted is not None:
                wanted(job)
            tokens.append(await job.register_callback(timeout_seconds=60))
            return awa.WaitForCallback(tokens[0])

        job = await client.insert(Charge(), max_attempts=max_attempts)
        await client.start([("default", 1)], roles={"worker"})

        async def waits() -> bool:
            return (await client.get_job(job.id)).state == "waiting_external"

        await eventually(waits)
        return job.id, tokens[0]

    return begin


async def notes(client: awa.AsyncClient) -> list[str]:
    """What followed, in words."""
    return sorted(job.args["text"] for job in await client.list_jobs(kind="note"))


COMPLETED = ["completed 1", "paid"]
FAILED = ["failed", "tell 1"]


@pytest.mark.parametrize(
    ("answer", "attempts", "state", "followed"),
    [
        ("complete", 1, "completed", COMPLETED),
        ("complete", 9, "completed", COMPLETED),
        ("fail", 9, "failed", FAILED),
        ("retry", 1, "failed", FAILED),
        ("retry", 9, "retryable", []),
        ("heartbeat", 1, "waiting_external", []),
    ],
)
async def test_an_answer_brings_what_follows_the_end_that_it_is(
    *,
    client: awa.AsyncClient,
    stranger: awa.AsyncClient,
    waiting: Any,
    answer: callbacks.Resolution,
    attempts: int,
    state: str,
    followed: list[str],
) -> None:
    job_id, token = await waiting(max_attempts=attempts)
    seen = await stranger.get_callback(token)
    assert (seen["follows_completion"], seen["follows_failure"]) == (2, 2)
    async with stranger.connection() as conn:
        assert (await callbacks.resolve(conn, token.id, answer)).job_state == state
    assert (await client.get_job(job_id)).state == state
    assert await notes(client) == followed
    if answer != "heartbeat":
        with pytest.raises(awa.Conflict):
            await stranger.complete_external(token)
        assert await notes(client) == followed


@pytest.mark.parametrize(("attempts", "followed"), [(1, FAILED), (2, [])])
async def test_so_does_a_time_out(
    *,
    client: awa.AsyncClient,
    conn: AsyncConnection[Any],
    waiting: Any,
    attempts: int,
    followed: list[str],
) -> None:
    await waiting(max_attempts=attempts)
    late = datetime.now(UTC) + timedelta(hours=1)
    assert await callbacks.time_out(conn, now=late) == 1
    assert await notes(client) == followed


async def test_an_answer_that_is_given_up_brings_nothing(
    client: awa.AsyncClient, conn: AsyncConnection[Any], waiting: Any
) -> None:
    _, token = await waiting()
    async with conn.transaction(force_rollback=True):
        assert (await callbacks.resolve(conn, token.id, "complete")).outcome == "applied"
        cursor = await conn.execute("SELECT count(*) FROM awa.jobs WHERE kind = 'note'")
        assert await cursor.fetchone() == (2,)
    assert await notes(client) == []
    await client.fail_external(token, "no money")
    assert await notes(client) == FAILED


async def test_a_job_that_is_cancelled_while_it_waits_brings_nothing(
    client: awa.AsyncClient, waiting: Any
) -> None:
    job_id, _ = await waiting()
    await client.cancel(job_id)
    assert await notes(client) == []


async def test_a_job_that_is_resumed_is_asked_again_and_each_follows_once(
    client: awa.AsyncClient, eventually: Eventually, waiting: Any
) -> None:
    job_id, token = await waiting()
    await client.resume_external(token, {"card": "visa"})

    async def over() -> bool:
        return (await client.get_job(job_id)).state == "completed"

    await eventually(over)
    assert await notes(client) == ["completed 1"]


async def test_options_and_arguments_are_kept_to_the_letter(
    client: awa.AsyncClient, waiting: Any
) -> None:
    def wanted(job: awa.Job[Charge]) -> None:
        big = 2**63 - 1
        job.follow_up(
            {"n": big, "text": "nul \0"},
            kind="exact",
            queue="q",
            ordering_key="customer 7",
            concurrency_key="k",
            concurrency_limit=3,
            max_attempts=4,
            priority=3,
        )

    _, token = await waiting(wanted=wanted)
    await client.complete_external(token)
    (exact,) = await client.list_jobs(kind="exact")
    assert (exact.args["n"], exact.args["text"]) == (2**63 - 1, "nul \0")
    assert (exact.queue, exact.max_attempts, exact.priority) == ("q", 4, 3)
    (paid,) = await client.list_jobs(kind="note", state="scheduled")
    assert (paid.run_at, paid.tags, paid.metadata) == (LATER, ("a b", "ü"), {"deep": [1, None]})
    async with client.connection() as conn:
        cursor = await conn.execute(
            "SELECT concurrency_key, concurrency_limit, route_shard IS NOT NULL FROM awa.ready_entries WHERE kind = 'exact'"
        )
        assert await cursor.fetchone() == ("k", 3, True)


@pytest.mark.parametrize(
    ("answer", "followed"), [("complete", COMPLETED), ("fail", FAILED), ("resume", None)]
)
async def test_an_answer_before_the_wait_brings_them_too(
    *,
    client: awa.AsyncClient,
    stranger: awa.AsyncClient,
    eventually: Eventually,
    answer: callbacks.Resolution,
    followed: list[str] | None,
) -> None:
    @client.task(Charge, on_completed=completed, on_failed=failed)
    async def charge(job: awa.Job[Charge]) -> Any:
        if job.callback_result is not None:
            return None
        job.follow_up(Note("paid"))
        token = await job.register_callback()
        async with stranger.connection() as conn:
            came = await callbacks.resolve(conn, token.id, answer, payload=1)
        assert came.outcome == "recorded"
        return awa.WaitForCallback(token)

    job = await client.insert(Charge())
    await client.start([("default", 1)], roles={"worker"})

    async def over() -> bool:
        return (await client.get_job(job.id)).state in {"completed", "failed"}

    await eventually(over)
    assert await notes(client) == (["completed 1"] if followed is None else followed)


async def test_what_cannot_be_asked_before_the_answer_says_so_and_the_job_is_tried_again(
    client: awa.AsyncClient, eventually: Eventually
) -> None:
    """A completion whose follow-ups can't be made is none; nobody could make them when the answer comes."""
    tokens: list[Any] = []

    def needs_the_answer(job: awa.Job[Charge]) -> object:
        return Note(job.callback_result["card"])

    @client.task(Charge, on_completed=needs_the_answer, on_failed=failed)
    async def charge(job: awa.Job[Charge]) -> Any:
        tokens.append(await job.register_callback())
        return awa.WaitForCallback(tokens[0])

    job = await client.insert(Charge(), max_attempts=1)
    await client.start([("default", 1)], roles={"worker"})

    async def over() -> bool:
        return (await client.get_job(job.id)).state == "failed"

    await eventually(over)
    ended = await client.get_job(job.id)
    assert "on_completed, asked when the job came to wait, failed" in ended.errors[0]["error"]
    assert await notes(client) == FAILED
    with pytest.raises(awa.Conflict, match="nothing waits for callback"):
        await client.complete_external(tokens[0])


async def test_many_time_outs_bring_what_follows_each(world_of: World) -> None:
    """A set of them in one transaction, each with the follow-ups of its own end."""
    ids: list[int] = []
    for n in range(4):
        job_id, callback = await world_of.waiting(max_attempts=1 if n % 2 else 9)
        ids.append(job_id)
        note = [(f"q{n % 3}", NewJob("note", f'{{"n": {n}}}'))]
        await callbacks.keep_follow_ups(world_of.conn, {callback: ([], note)})
    assert await world_of.time_out(await world_of.now(later_s=3600)) == 4
    assert await world_of.states(ids) == ["retryable", "failed", "retryable", "failed"]
    rows = await world_of.conn.execute(
        "SELECT queue, args::text FROM awa.jobs WHERE kind = 'note' ORDER BY 1"
    )
    assert await rows.fetchall() == [("q0", '{"n": 3}'), ("q1", '{"n": 1}')]


@pytest.fixture
async def world_of(conn: AsyncConnection[Any]) -> World:
    return await World.on(conn)
