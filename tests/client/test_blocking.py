"""The blocking client is made from the async one and can do the same."""

import asyncio
import inspect
import threading
from dataclasses import dataclass

import pytest

import awa
from awa.sync.generate import HERE, generated


@dataclass
class Work:
    n: int = 0


def public(kind: type) -> set[str]:
    return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}


def test_it_is_as_the_generator_writes_it() -> None:
    wanted = generated()
    there = {name: (HERE / name).read_text() for name in wanted}
    assert there == wanted, "run: python -m awa.sync.generate"


def test_no_method_is_missing() -> None:
    assert public(awa.AsyncClient) - public(awa.Client) == {"connection", "node_factory"}
    assert public(awa.Transaction) == public(awa.sync.Transaction)


def test_signatures_and_docstrings_are_the_same() -> None:
    for name in public(awa.Client) - {"close", "transaction"}:
        one, other = getattr(awa.Client, name), getattr(awa.AsyncClient, name)
        assert inspect.signature(one) == inspect.signature(other), name
        assert inspect.getdoc(one) == inspect.getdoc(other), name


def test_jobs_are_inserted_run_and_read(database_url: str) -> None:
    ran = threading.Semaphore(0)
    with awa.Client(database_url) as client:

        @client.task(Work)
        def plain(job: awa.Job[Work]) -> None:
            client.insert({"n": job.args.n}, kind="followed")  # from the handler's own thread
            ran.release()

        @client.task(dict, kind="followed")
        async def followed(job: awa.Job[dict[str, int]]) -> None:
            await client.aio.insert({"n": 0}, kind="never", queue="elsewhere")
            ran.release()

        job = client.insert(Work(7))
        client.start([("default", 2)], roles=["worker"])
        for _ in range(2):
            assert ran.acquire(timeout=60)
        client.shutdown()
        assert client.get_job(job.id).state is awa.JobState.COMPLETED
        assert [job.kind for job in client.list_jobs(queue="elsewhere")] == ["never"]


def test_a_transaction_is_a_with_block(database_url: str) -> None:
    with awa.Client(database_url) as client:
        with client.transaction() as tx:
            job = tx.insert(Work())
            assert tx.fetch_one("SELECT %s::int AS n", 3) == {"n": 3}
        assert client.get_job(job.id).id == job.id
        ids: list[int] = []

        def insert_and_fail() -> None:
            with client.transaction() as tx:
                ids.append(tx.insert(Work()).id)
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            insert_and_fail()
        with pytest.raises(awa.NotFound):
            client.get_job(ids[0])


def test_errors_come_through(database_url: str) -> None:
    with awa.Client(database_url) as client:
        with pytest.raises(awa.NotFound):
            client.get_job(404)
        with pytest.raises(awa.ValidationError):
            client.insert(Work(), priority=9)


def test_a_blocking_call_on_its_own_loop_is_refused_and_not_stuck(database_url: str) -> None:
    told: list[str] = []
    done = threading.Event()
    with awa.Client(database_url) as client:

        @client.task(Work)
        async def handle(job: awa.Job[Work]) -> None:
            try:
                client.insert(Work())
            except awa.Conflict as refused:
                told.append(str(refused))
            done.set()

        client.insert(Work())
        client.start([("default", 1)], roles=["worker"])
        assert done.wait(60)
    assert "client.aio" in told[0]


def test_an_interrupted_call_is_cancelled(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the call is on its way: the coroutine has come to its end before it goes on."""
    from concurrent.futures import Future

    began, ended = threading.Event(), threading.Event()

    async def long() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with awa.Client(database_url) as client:
        real = Future.result

        def interrupted(self: "Future[object]", timeout: float | None = None) -> object:
            assert began.wait(60)
            monkeypatch.setattr(Future, "result", real)
            raise KeyboardInterrupt

        monkeypatch.setattr(Future, "result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            client._portal.run(long())
        assert ended.is_set()
