"""Single jobs and queues are looked at and changed; what can't be is refused with the present state."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

import awa
from awa.operations import single
from awa.storage import queues, read
from awa.testing import drain
from tests.storage.world import World

Connect = Callable[..., Awaitable[psycopg.AsyncConnection[Any]]]
ROWS_READ = """
    SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int FROM pg_stat_user_tables WHERE relname LIKE 'ready_entries%'
"""
LATER = datetime.now(UTC) + timedelta(hours=1)


@dataclass
class Work:
    n: int = 0


async def claim_all(conn: psycopg.AsyncConnection[Any], queue: str = "default") -> list[Any]:
    """Claim everything in the name of some runtime, and never finish it."""
    await conn.execute(
        "INSERT INTO awa.runtimes (id, host, pid, version, roles) VALUES (gen_random_uuid(), 'h', 1, '', '{}')"
    )
    claim = "SELECT (awa.claim(%s, 100, r.id)).* FROM awa.runtimes r LIMIT 100"
    return await (await conn.execute(claim, [queue])).fetchall()


async def test_an_unknown_job_is_not_found(client: awa.AsyncClient) -> None:
    for call in (
        client.get_job(404),
        client.cancel(404),
        client.retry(404),
        client.set_job_priority(404, 1),
        client.move_job(404, "other"),
    ):
        with pytest.raises(awa.NotFound, match="no job 404"):
            await call


@pytest.mark.parametrize("job_id", [0, -1, True, "1", 2**63])
async def test_what_is_no_id_is_refused(client: awa.AsyncClient, job_id: Any) -> None:
    with pytest.raises(awa.ValidationError) as refused:
        await client.get_job(job_id)
    assert refused.value.fields[0].field == "id"


async def test_jobs_are_listed_newest_first_and_by_page(client: awa.AsyncClient) -> None:
    jobs = await client.insert_many([Work(n) for n in range(5)], queue="a", tags=["t"])
    other = await client.insert(Work(), queue="b", run_at=LATER)
    assert [job.id for job in await client.list_jobs(queue="a", limit=2)] == [
        jobs[4].id,
        jobs[3].id,
    ]
    page = await client.list_jobs(queue="a", before_id=jobs[3].id)
    assert [job.args for job in page] == [{"n": 2}, {"n": 1}, {"n": 0}]
    assert [job.id for job in await client.list_jobs(state="scheduled")] == [other.id]
    assert len(await client.list_jobs(tag="t", kind="work")) == 5
    assert await client.list_jobs(kind="nothing") == []
    for wrong in ({"state": "lost"}, {"limit": 0}, {"limit": 5000}, {"before_id": 0}):
        with pytest.raises(awa.ValidationError):
            await client.list_jobs(**wrong)


@pytest.mark.parametrize("few_waiting", [0, 5_000])
async def test_each_state_is_listed_from_its_places(
    client: awa.AsyncClient,
    conn: psycopg.AsyncConnection[Any],
    few_waiting: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With many waiting jobs and with few, by page, and with another filter beside the state."""
    monkeypatch.setattr(read, "FEW_WAITING_JOBS", few_waiting)
    world = await World.on(conn)
    expected: dict[str, list[int]] = {"running": [], "scheduled": []}
    for state in ("completed", "failed", "cancelled", "retryable"):
        expected[state] = await world.enqueue(3, queue=state)
        outcome = "retried" if state == "retryable" else state
        await world.finish(await world.claim(queue=state), outcome)
    recorded = await world.enqueue(queue="completed")
    await world.finish(await world.claim(queue="completed"), metadata={"n": 1})
    expected["completed"] += recorded
    expected["scheduled"] = await world.enqueue(3, run_at=LATER)
    expected["running"] = await world.enqueue(3, queue="running")
    await world.claim(queue="running")
    expected["available"] = await world.enqueue(3)
    for state, ids in expected.items():
        newest_first = sorted(ids, reverse=True)
        page = await client.list_jobs(state=state, limit=2)
        rest = await client.list_jobs(state=state, before_id=page[-1].id)
        assert [job.id for job in (*page, *rest)] == newest_first, state
        assert {job.state for job in (*page, *rest)} == {state}
        assert await client.list_jobs(state=state, queue="none") == []
    everything = [job.id for job in await client.list_jobs()]
    assert everything == sorted((id_ for ids in expected.values() for id_ in ids), reverse=True)


async def test_a_state_that_no_job_has_is_not_looked_for_in_all_history(
    client: awa.AsyncClient, conn: psycopg.AsyncConnection[Any], server_version: int
) -> None:
    world = await World.on(conn)
    await world.enqueue(20_000)
    await world.finish(await world.claim(20_000))
    await conn.execute("SELECT pg_stat_force_next_flush()")
    before = await world.fetch(ROWS_READ)
    for state in awa.JobState:
        if state is not awa.JobState.COMPLETED:
            assert await client.list_jobs(state=state) == []
    async with client.connection() as other:
        await other.execute("SELECT pg_stat_force_next_flush()")
    after = await world.fetch(ROWS_READ)
    # PostgreSQL 15 joins the lanes' heads in another way and reads the lane once for `available`, not for the others.
    assert after[0] - before[0] < (1_000 if server_version > 15 else 50_000)


async def test_arguments_beyond_a_parsers_bounds_break_no_list(
    client: awa.AsyncClient, conn: psycopg.AsyncConnection[Any]
) -> None:
    """PostgreSQL keeps what JSON allows; SQL and other programs may have put it there."""
    deep = "[" * 3_000 + "]" * 3_000
    for args in ('{"n": 1e400}', deep, "{}"):
        await conn.execute("SELECT awa.enqueue('k', %s)", [args])
    listed = [job.args for job in await client.list_jobs()]
    assert listed == [{}, deep, {"n": float("inf")}]


@pytest.mark.parametrize("run_at", [None, LATER])
async def test_a_waiting_job_is_cancelled_once(
    client: awa.AsyncClient, run_at: datetime | None
) -> None:
    job = await client.insert(Work(), run_at=run_at)
    cancelled = await client.cancel(job.id, reason="a mistake")
    assert cancelled.state is awa.JobState.CANCELLED
    assert cancelled.errors[-1]["error"] == "a mistake"
    with pytest.raises(awa.Conflict, match="cancelled") as refused:
        await client.cancel(job.id)
    assert refused.value.details == {"state": "cancelled"}


async def test_a_cancelled_job_runs_again_after_retry(client: awa.AsyncClient) -> None:
    job = await client.insert(Work())
    await client.cancel(job.id)
    assert (await client.retry(job.id)).state is awa.JobState.AVAILABLE
    with pytest.raises(awa.Conflict, match="available"):
        await client.retry(job.id)


@pytest.mark.parametrize("run_at", [None, LATER])
async def test_a_waiting_job_gets_another_priority_and_queue(
    client: awa.AsyncClient, run_at: datetime | None
) -> None:
    job = await client.insert(Work(), run_at=run_at, priority=3)
    assert (await client.set_job_priority(job.id, 1)).priority == 1
    moved = await client.move_job(job.id, "other")
    assert (moved.queue, moved.priority) == ("other", 1)
    moved = await client.move_job(job.id, "third", 4)
    assert (moved.id, moved.queue, moved.priority) == (job.id, "third", 4)
    assert moved.metadata["_awa_original_queue"] == "default"
    assert moved.metadata["_awa_original_priority"] == 3
    assert (await client.set_job_priority(job.id, 4)).priority == 4  # as it is already
    for wrong in (0, 5, "1"):
        with pytest.raises(awa.ValidationError):
            await client.set_job_priority(job.id, wrong)  # type: ignore[arg-type]
    with pytest.raises(awa.ValidationError):
        await client.move_job(job.id, "")


async def test_a_running_job_is_not_moved_but_can_be_cancelled(
    client: awa.AsyncClient, conn: psycopg.AsyncConnection[Any]
) -> None:
    job = await client.insert(Work())
    assert len(await claim_all(conn)) == 1
    for change in (client.set_job_priority(job.id, 1), client.move_job(job.id, "other")):
        with pytest.raises(awa.Conflict, match="running"):
            await change
    assert (await client.cancel(job.id)).state is awa.JobState.CANCELLED


async def test_a_job_in_another_transactions_hands_is_waited_for_a_while(
    client: awa.AsyncClient, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awa.operations.single.LOCKED_TIMEOUT_S", 0.1)
    job = await client.insert(Work())
    other = await connect(autocommit=False)
    await other.execute("SELECT awa.lock_waiting(ARRAY[%s]::bigint[], NULL, NULL, NULL)", [job.id])
    with pytest.raises(awa.Conflict, match="held by another transaction"):
        await client.cancel(job.id)
    await other.rollback()
    assert (await client.cancel(job.id)).state is awa.JobState.CANCELLED


async def test_a_paused_queue_gives_nothing_until_it_is_resumed(
    client: awa.AsyncClient, conn: psycopg.AsyncConnection[Any]
) -> None:
    await client.insert(Work(), queue="q")
    paused = await client.pause_queue("q", paused_by="ada")
    assert (paused["paused"], paused["paused_by"]) == (True, "ada")
    assert (await client.pause_queue("q", paused_by="bob"))["paused_by"] == "ada"
    assert await claim_all(conn, "q") == []
    assert (await client.resume_queue("q"))["paused"] is False
    assert len(await claim_all(conn, "q")) == 1
    with pytest.raises(awa.NotFound, match="'nowhere'"):
        await client.resume_queue("nowhere")
    with pytest.raises(awa.ValidationError):
        await client.pause_queue("")


async def test_draining_lists_many_jobs_for_each_look_at_the_backlog(
    client: awa.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A look costs the whole backlog, so a look for each page made draining quadratic."""
    looks: list[int] = []

    async def look(*args: Any, **details: Any) -> list[int]:
        found = await waiting_ids(*args, **details)
        looks.append(len(found))
        return found

    waiting_ids = queues.waiting_ids
    monkeypatch.setattr(queues, "waiting_ids", look)
    monkeypatch.setattr(single, "DRAIN_PAGE_JOBS", 2)
    monkeypatch.setattr(single, "DRAIN_LIST_JOBS", 9)
    await client.insert_many([Work(n) for n in range(20)], queue="q")
    assert await client.drain_queue("q") == 20
    assert looks == [9, 9, 2]


async def test_draining_cancels_all_that_waits_in_one_queue(client: awa.AsyncClient) -> None:
    await client.insert_many([Work(n) for n in range(2_500)], queue="q")
    await client.insert(Work(), queue="q", run_at=LATER)
    other = await client.insert(Work(), queue="other")
    assert await client.drain_queue("q", reason="flooded") == 2_501
    (stats,) = await client.queue_stats("q")
    assert (stats["available"], stats["scheduled"], stats["cancelled"]) == (0, 0, 2_501)
    assert (await client.get_job(other.id)).state is awa.JobState.AVAILABLE
    assert await client.drain_queue("q") == 0


async def test_health_says_what_is_missing(client: awa.AsyncClient) -> None:
    seen = await client.health_check()
    assert seen["healthy"] is False
    assert len(seen["problems"]) == 2
    client.task(Work)(lambda job: None)
    await client.start([("default", 1)], roles=["worker"])
    seen = await client.health_check()
    assert (seen["workers"], seen["maintenance"]) == (1, 0)
    assert "maintenance" in seen["problems"][0]


async def test_health_is_told_of_a_database_that_is_not_there() -> None:
    client = awa.AsyncClient("postgresql://nobody@127.0.0.1:1/none")
    seen = await client.health_check()
    await client.close()
    assert seen["healthy"] is False
    assert "no connection" in seen["problems"][0]


async def test_a_queue_is_spread_over_lanes_and_a_bad_width_is_refused(
    client: awa.AsyncClient,
) -> None:
    assert (await client.set_enqueue_shards("wide", 8))["enqueue_shards"] == 8
    await client.insert_many([Work(n) for n in range(100)], queue="wide")
    async with client.transaction() as tx:
        row = await tx.fetch_one("SELECT count(*) AS n FROM awa.lanes WHERE queue = 'wide'")
    assert row == {"n": 8}
    wrong: tuple[Any, ...] = (0, 65, True, "2")
    for shards in wrong:
        with pytest.raises(awa.ValidationError, match="shards"):
            await client.set_enqueue_shards("wide", shards)


async def test_dead_letters_come_page_by_page(client: awa.AsyncClient) -> None:
    @client.task(dict, kind="fails", queue="letters")
    async def fails(_job: awa.Job[Any]) -> None:
        raise awa.TerminalError("no")

    await client.set_dlq("letters", True)
    jobs = await client.insert_many([{}] * 3, kind="fails", queue="letters")
    await drain(client, "letters")
    rows, cursor = await client.dlq_page(queue="letters", limit=2)
    assert cursor is not None
    rest, end = await client.dlq_page(queue="letters", limit=2, cursor=cursor)
    assert {row["id"] for row in rows + rest} == {job.id for job in jobs}
    assert end is None
    assert await client.list_dlq(queue="letters", limit=2, cursor=cursor) == rest
