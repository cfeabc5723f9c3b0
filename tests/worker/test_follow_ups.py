"""Follow-ups: jobs that come into being with the end of another, in one transaction, or not at all."""

import asyncio
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from psycopg import errors as pg

import awa
from awa.model.errors import DatabaseError
from awa.worker import finisher


@dataclass
class Order:
    """What is worked on."""

    n: int = 1


@dataclass
class Invoice:
    """What may follow."""

    n: int


Handler = Any


async def run(
    client: awa.AsyncClient, handler: Handler, *, jobs: int = 1, max_attempts: int = 1, **task: Any
) -> list[awa.Job[Any]]:
    """Work on orders until each has ended an attempt; answers them as they are then."""
    ended = asyncio.Semaphore(0)

    @client.task(Order, queue="orders", **task)
    async def work(job: awa.Job[Order]) -> Any:
        try:
            return await handler(job)
        finally:
            ended.release()

    inserted = await client.insert_many(
        [awa.Draft(Order(n), max_attempts=max_attempts) for n in range(jobs)]
    )
    await client.start([("orders", 5)], roles={"worker"})
    async with asyncio.timeout(60):
        for _ in inserted:
            await ended.acquire()
    await client.shutdown()
    return [await client.get_job(job.id) for job in inserted]


async def invoices(client: awa.AsyncClient, **where: Any) -> list[awa.Job[Any]]:
    """The jobs that followed."""
    return await client.list_jobs(kind="invoice", **where)


async def test_a_follow_up_comes_with_the_completion(client: awa.AsyncClient) -> None:
    async def handler(job: awa.Job[Order]) -> None:
        job.follow_up(Invoice(job.args.n), queue="billing", priority=1, tags=["paid"])
        job.follow_up(Invoice(100 + job.args.n))

    (order,) = await run(client, handler)
    assert order.state == "completed"
    (paid,) = await invoices(client, queue="billing")
    assert (paid.args, paid.priority, paid.tags) == ({"n": 0}, 1, ("paid",))
    (plain,) = await invoices(client, queue="default")
    assert plain.args == {"n": 100}


async def test_it_goes_to_the_queue_of_its_task(client: awa.AsyncClient) -> None:
    @client.task(Invoice, queue="billing")
    async def bill(_job: awa.Job[Invoice]) -> None: ...

    async def handler(job: awa.Job[Order]) -> None:
        job.follow_up(Invoice(1))

    await run(client, handler)
    assert len(await invoices(client, queue="billing")) == 1


@pytest.mark.parametrize(
    "end", [awa.RetryAfter(60), awa.Snooze(60), awa.Cancel("no"), awa.TerminalError("no")]
)
async def test_another_end_than_completion_brings_none(client: awa.AsyncClient, end: Any) -> None:
    async def handler(job: awa.Job[Order]) -> Any:
        job.follow_up(Invoice(1))
        if isinstance(end, Exception):
            raise end
        return end

    (order,) = await run(client, handler)
    assert order.state != "completed"
    assert await invoices(client) == []


async def test_what_follows_every_completion_or_failure_is_said_with_the_task(
    client: awa.AsyncClient,
) -> None:
    async def handler(job: awa.Job[Order]) -> None:
        if job.args.n == 1:
            raise awa.TerminalError("sold out")
        if job.args.n == 2:
            raise RuntimeError("the last attempt")

    def completed(job: awa.Job[Order]) -> object:
        return [Invoice(job.args.n), awa.FollowUp(Invoice(job.args.n), queue="archive")]

    def failed(job: awa.Job[Order]) -> object:
        return awa.FollowUp(Invoice(job.args.n), queue="regrets")

    orders = await run(client, handler, jobs=3, on_completed=completed, on_failed=failed)
    assert [order.state for order in orders] == ["completed", "failed", "failed"]
    assert [job.args for job in await invoices(client, queue="default")] == [{"n": 0}]
    assert [job.args for job in await invoices(client, queue="archive")] == [{"n": 0}]
    regrets = await invoices(client, queue="regrets")
    assert sorted(job.args["n"] for job in regrets) == [1, 2]


async def test_a_failed_attempt_that_is_retried_is_no_failure_yet(client: awa.AsyncClient) -> None:
    async def handler(_job: awa.Job[Order]) -> Any:
        return awa.RetryAfter(60)

    asked: list[int] = []
    (order,) = await run(
        client, handler, max_attempts=3, on_failed=lambda job: asked.append(job.id)
    )
    assert (order.state, order.attempt) == ("retryable", 1)
    assert asked == []


async def test_a_completion_whose_follow_up_cannot_be_made_is_none(client: awa.AsyncClient) -> None:
    async def handler(_job: awa.Job[Order]) -> None: ...

    def broken(_job: awa.Job[Order]) -> object:
        raise KeyError("price")

    (order,) = await run(client, handler, on_completed=broken)
    assert order.state == "failed"
    assert order.errors[0]["error"] == "on_completed failed: 'price'"


async def test_a_failure_stays_one_if_nothing_can_follow_it(client: awa.AsyncClient) -> None:
    async def handler(_job: awa.Job[Order]) -> None:
        raise awa.TerminalError("sold out")

    def broken(_job: awa.Job[Order]) -> object:
        raise KeyError("address")

    (order,) = await run(client, handler, on_failed=broken)
    assert (order.state, order.errors[0]["error"]) == ("failed", "sold out")


async def test_a_wrong_follow_up_is_refused_where_it_is_asked_for(client: awa.AsyncClient) -> None:
    refused: list[awa.ValidationError] = []

    async def handler(job: awa.Job[Order]) -> None:
        with pytest.raises(awa.ValidationError) as no_kind:
            job.follow_up({"n": 1})
        with pytest.raises(awa.ValidationError) as no_priority:
            job.follow_up(Invoice(1), priority=9)
        refused.extend([no_kind.value, no_priority.value])

    await run(client, handler)
    assert [problem.fields[0].field for problem in refused] == ["kind", "priority"]
    assert await invoices(client) == []


async def test_a_completion_that_came_too_late_brings_nothing(client: awa.AsyncClient) -> None:
    """Somebody cancelled the job while its handler ran."""

    async def handler(job: awa.Job[Order]) -> None:
        job.follow_up(Invoice(1))
        async with client.connection() as conn:
            await conn.execute("SELECT awa.cancel_running(ARRAY[%s::bigint])", [job.id])

    (order,) = await run(client, handler)
    assert order.state == "cancelled"
    assert await invoices(client) == []


async def test_a_lost_answer_makes_no_second_one(
    client: awa.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The transaction was committed, its answer was not heard, and the ending is sent again."""
    real, sent = finisher._tell, []

    async def lossy(*args: Any) -> tuple[set[int], dict[int, str]]:
        answer = await real(*args)
        sent.append(answer)
        if len(sent) == 1:
            raise DatabaseError("the connection was lost") from ConnectionResetError()
        return answer

    monkeypatch.setattr(finisher, "_tell", lossy)

    async def handler(job: awa.Job[Order]) -> None:
        job.follow_up(Invoice(1))

    (order,) = await run(client, handler)
    assert order.state == "completed"
    assert len(sent) == 2
    assert len(await invoices(client)) == 1


async def test_an_insert_that_fails_takes_the_completion_back(
    client: awa.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both or neither; then the attempt ends as one that is tried again, and says why."""

    async def unstorable(*_args: Any) -> None:
        raise DatabaseError("no such encoding") from pg.UntranslatableCharacter()

    monkeypatch.setattr(finisher, "insert_follow_ups", unstorable)

    async def handler(job: awa.Job[Order]) -> None:
        job.follow_up(Invoice(1))

    (order,) = await run(client, handler)
    assert order.state == "failed"
    assert "what was to follow could not be stored" in order.errors[0]["error"]
    assert await invoices(client) == []


@pytest.mark.parametrize("wrong", ["later", 5])
def test_what_is_no_function_is_refused(client: awa.AsyncClient, wrong: Any) -> None:
    with pytest.raises(awa.ValidationError, match="on_completed"):
        client.task(Order, on_completed=wrong)(lambda _job: None)


async def test_a_completion_that_cannot_be_and_was_the_last_attempt_is_a_failure(
    client: awa.AsyncClient,
) -> None:
    async def handler(_job: awa.Job[Order]) -> None: ...

    def broken(_job: awa.Job[Order]) -> object:
        raise KeyError("price")

    def failed(job: awa.Job[Order]) -> object:
        return Invoice(job.args.n)

    (order,) = await run(client, handler, on_completed=broken, on_failed=failed)
    assert order.state == "failed"
    assert [job.args for job in await invoices(client)] == [{"n": 0}]


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(("attempts", "followed"), [(1, [{"n": 5}]), (2, [])])
async def test_the_last_attempts_deadline_is_a_failure(
    *,
    client: awa.AsyncClient,
    eventually: Any,
    plain: bool,
    attempts: int,
    followed: list[object],
) -> None:
    """The worker ends it and knows the task, whatever the handler still does."""
    asked: list[int] = []
    go_on = threading.Event()

    def failed(job: awa.Job[Order]) -> object:
        asked.append(job.id)
        return Invoice(job.args.n)

    async def wait(job: awa.Job[Order]) -> None:
        job.follow_up(Invoice(99))
        await asyncio.Event().wait()

    def block(job: awa.Job[Order]) -> None:
        job.follow_up(Invoice(99))
        go_on.wait()

    client.task(Order, on_failed=failed)(block if plain else wait)
    job = await client.insert(Order(5), max_attempts=attempts)
    queue = {"queue": "default", "max_workers": 1, "deadline_seconds": 0.1}
    await client.start([queue], roles={"worker"})

    async def over() -> bool:
        return (await client.get_job(job.id)).state in {"failed", "retryable"}

    await eventually(over)
    go_on.set()
    await client.shutdown()
    assert [job.args for job in await invoices(client)] == followed
    assert asked == ([job.id] if followed else [])
