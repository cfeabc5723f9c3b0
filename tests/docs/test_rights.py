"""The grants that install.md names are enough for what it promises, and no more than that."""

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import psycopg
import pytest

import awa
from awa.storage import ring
from tests.docs.pages import blocks
from tests.house.walk import ROOT

GUIDE = ROOT / "docs/guide/install.md"
FILTER = {"queue": "default"}
NOTHING: dict[str, str] = {}


@pytest.fixture
async def granted(roles: None, database_url: str) -> str:
    """The URL of a migrated database in which the guide's roles have the guide's rights."""
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as conn:
        for block in blocks(GUIDE):
            if block.language == "sql":
                await conn.execute(block.text.encode())
    return database_url


def as_role(url: str, role: str) -> awa.AsyncClient:
    separator = "&" if "?" in url else "?"
    return awa.AsyncClient(f"{url}{separator}options={quote(f'-c role={role}')}")


async def test_a_producer_enqueues_and_does_nothing_else(granted: str) -> None:
    async with as_role(granted, "jobs_producer") as client:
        soon = datetime.now(UTC) + timedelta(hours=1)
        await client.insert({}, kind="a")
        await client.insert({}, kind="a", queue="new", run_at=soon, tags=["t"], metadata={"m": 1})
        async with client.transaction() as tx:
            await tx.insert_many([{}, {}], kind="a", queue="other", ordering_key="k")
            found = await tx.fetch_one("SELECT awa.enqueue('a', '{}') AS id")
        assert found is not None
        with pytest.raises(awa.DatabaseError, match="lacks a right"):
            await client.list_jobs()
        with pytest.raises(awa.DatabaseError, match="lacks a right"):
            await client.cancel(found["id"])


async def test_a_runtime_works_and_keeps_house(granted: str) -> None:
    async with as_role(granted, "jobs_runtime") as client:

        @client.task(dict, kind="step")
        async def step(job: awa.Job[dict[str, str]]) -> awa.Snooze | awa.RetryAfter | None:
            match job.args["end"]:
                case "snooze":
                    return awa.Snooze(60)
                case "retry":
                    return awa.RetryAfter(60)
            return None

        ends = [{"end": end} for end in ("", "snooze", "retry")]
        jobs = await client.insert_many(ends, kind="step")
        waiting = await client.insert(NOTHING, kind="step", queue="elsewhere")
        await client.start(["default"])
        operation = await client.move_queue("third", filter={"queue": "elsewhere"})
        await client.wait_batch_operation(operation["id"], timeout=60)
        assert (await client.get_job(waiting.id)).queue == "third"
        await client.shutdown()
        assert {(await client.get_job(job.id)).state for job in jobs} == {
            "completed",
            "scheduled",
            "retryable",
        }
        await client.cancel(jobs[1].id)
        await client.retry(jobs[1].id)
        later = datetime.now(UTC) + timedelta(days=30)
        async with client.connection() as conn:
            before = await ring.state(conn)
            assert await ring.rotate(conn, max_age_s=1, max_bytes=1, now=later) == "rotated"
            slot = before["current_slot"]
            steps = [await ring.prune_slot(conn, slot, keep_s=1, now=later) for _ in range(3)]
            assert steps == ["more", "more", "pruned"]


async def test_an_operator_changes_jobs_and_empties_nothing(granted: str) -> None:
    async with as_role(granted, "jobs_runtime") as client:
        jobs = await client.insert_many([NOTHING] * 3, kind="a")
    async with as_role(granted, "jobs_operator") as client:
        assert (await client.preview_move_queue("b", filter=FILTER))["total_matched"] == 3
        operation = await client.move_queue("b", filter=FILTER)
        assert (await client.pause_batch_operation(operation["id"]))["state"] == "paused"
        await client.change_batch_operation(operation["id"], max_rows_per_second=500)
        assert (await client.resume_batch_operation(operation["id"]))["state"] == "pending"
        with pytest.raises(awa.Conflict, match="that is pending cannot be undone"):
            await client.undo_batch_operation(operation["id"])
        assert (await client.hold_batch_operations(reason="a look first"))["held"]
        assert not (await client.release_batch_operations())["held"]
        await client.cancel(jobs[0].id)
        await client.move_job(jobs[1].id, "c", priority=1)
        await client.pause_queue("c", paused_by="ada")
        async with client.connection() as conn:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                await conn.execute("TRUNCATE awa.ready_entries_0")


async def test_a_viewer_looks_and_changes_nothing(granted: str) -> None:
    async with as_role(granted, "jobs_runtime") as client:
        job = await client.insert(NOTHING, kind="a")
        operation = await client.move_queue("b", filter=FILTER)
    async with as_role(granted, "jobs_viewer") as client:
        assert [seen.id for seen in await client.list_jobs()] == [job.id]
        seen = await client.preview_set_priority(1, filter=FILTER)
        # Who may not submit can't make what a submission is held to.
        assert (seen["total_matched"], seen["plan_token"], seen["plan_expires_at"]) == (
            1,
            None,
            None,
        )
        assert await client.queue_stats()
        assert [one["id"] for one in await client.list_batch_operations()] == [operation["id"]]
        assert not (await client.batch_operations_held())["held"]
        for refused in (
            client.pause_batch_operation(operation["id"]),
            client.resume_batch_operation(operation["id"]),
            client.change_batch_operation(operation["id"], priority=1),
            client.undo_batch_operation(operation["id"]),
            client.hold_batch_operations(),
            client.release_batch_operations(),
        ):
            with pytest.raises(awa.DatabaseError, match="lacks a right"):
                await refused
        with pytest.raises(awa.DatabaseError, match="lacks a right"):
            await client.cancel(job.id)
        with pytest.raises(awa.DatabaseError, match="lacks a right"):
            await client.set_priority(1, filter=FILTER)
        with pytest.raises(awa.DatabaseError, match=r"may not read awa\.plan_secret"):
            await client.set_priority(1, filter=FILTER, plan_token="x")
