"""Batch operations through the client: preview, submit, wait, cancel, look back, purge."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

import awa


@dataclass
class Work:
    n: int = 0


async def test_an_operation_from_preview_to_purge(client: awa.AsyncClient) -> None:
    jobs = await client.insert_many([Work(n) for n in range(250)], tags=["vip"])
    await client.insert_many([Work(n) for n in range(50)])
    seen = await client.preview_move_queue("escalations", 1, filter={"tag": "vip"})
    assert seen["total_matched"] == 250
    assert [row["id"] for row in seen["sample"][:2]] == [jobs[0].id, jobs[1].id]

    submitted = await client.move_queue("escalations", 1, filter={"tag": "vip"}, reason="urgent")
    assert (submitted["op_kind"], submitted["state"]) == ("move_queue", "pending")
    assert submitted["spec"] == {"queue": "escalations", "priority": 1}
    assert submitted["submitted_by"]

    await client.start(roles=["maintenance"])
    ended = await client.wait_batch_operation(submitted["id"], timeout=60)
    assert (ended["state"], ended["total_matched"]) == ("completed", 250)
    assert (ended["processed"], ended["skipped"], ended["errored"]) == (250, 0, 0)
    moved = await client.get_job(jobs[7].id)
    assert (moved.queue, moved.priority) == ("escalations", 1)

    items = await client.list_batch_operation_items(submitted["id"], outcome="processed", limit=3)
    assert [item["job_id"] for item in items] == [job.id for job in jobs[:3]]
    assert [row["id"] for row in await client.list_batch_operations(state="completed")] == [
        submitted["id"]
    ]
    with pytest.raises(awa.Conflict, match="completed"):
        await client.cancel_batch_operation(submitted["id"])
    assert await client.purge_batch_operations(datetime.now(UTC) - timedelta(hours=1)) == 0
    assert await client.purge_batch_operations(datetime.now(UTC)) == 1
    with pytest.raises(awa.NotFound):
        await client.get_batch_operation(submitted["id"])


async def test_an_operation_is_steered_while_it_goes_on(client: awa.AsyncClient) -> None:
    await client.insert_many([Work(n) for n in range(20)])
    operation = await client.set_priority(1, filter={"queue": "default"})
    assert (await client.hold_batch_operations(reason="a look first"))["reason"] == "a look first"
    assert (await client.batch_operations_held())["held"]
    await client.start(roles=["maintenance"])
    paused = await client.pause_batch_operation(operation["id"], reason="wait")
    assert (paused["state"], paused["paused_reason"]) == ("paused", "wait")
    changed = await client.change_batch_operation(
        operation["id"], max_rows_per_second=5_000, priority=1
    )
    assert (changed["max_rows_per_second"], changed["priority"]) == (5_000, 1)
    unlimited = await client.change_batch_operation(operation["id"], max_rows_per_second=None)
    assert (unlimited["max_rows_per_second"], unlimited["priority"]) == (None, 1)
    with pytest.raises(awa.ValidationError):
        await client.change_batch_operation(operation["id"])
    assert (await client.resume_batch_operation(operation["id"]))["state"] == "pending"
    with pytest.raises(awa.Conflict):
        await client.resume_batch_operation(operation["id"])
    assert not (await client.release_batch_operations())["held"]
    ended = await client.wait_batch_operation(operation["id"], timeout=60)
    assert (ended["state"], ended["processed"]) == ("completed", 20)


async def test_a_priority_is_set_by_the_same_machinery(client: awa.AsyncClient) -> None:
    job = await client.insert(Work())
    assert (await client.preview_set_priority(1, filter={"queue": "default"}))["total_matched"] == 1
    operation = await client.set_priority(1, filter={"ids": [job.id]})
    await client.start(roles=["maintenance"])
    assert (await client.wait_batch_operation(operation["id"], timeout=60))["processed"] == 1
    assert (await client.get_job(job.id)).priority == 1


async def test_an_operation_that_has_not_begun_is_cancelled_at_once(
    client: awa.AsyncClient,
) -> None:
    await client.insert(Work())
    operation = await client.set_priority(1, allow_all=True)
    assert (await client.cancel_batch_operation(operation["id"]))["state"] == "cancelled"


async def test_an_empty_filter_needs_to_be_meant(client: awa.AsyncClient) -> None:
    with pytest.raises(awa.ValidationError, match="every job"):
        await client.set_priority(1)


async def test_a_key_stands_for_one_submission(client: awa.AsyncClient) -> None:
    first = await client.set_priority(1, allow_all=True, idempotency_key="k")
    assert (await client.set_priority(1, allow_all=True, idempotency_key="k"))["id"] == first["id"]
    with pytest.raises(awa.Conflict, match="another request"):
        await client.set_priority(2, allow_all=True, idempotency_key="k")


async def test_a_submission_is_held_to_its_plan(client: awa.AsyncClient) -> None:
    await client.insert_many([Work(n) for n in range(30)])
    where = {"queue": "default"}
    seen = await client.preview_set_priority(1, filter=where)
    moving = await client.preview_move_queue("bulk", filter=where)
    with pytest.raises(awa.ValidationError, match="another op_kind and spec"):
        await client.move_queue("bulk", filter=where, plan_token=seen["plan_token"])
    await client.insert_many([Work(n) for n in range(20)])
    with pytest.raises(awa.PlanDrifted) as refused:
        await client.set_priority(1, filter=where, plan_token=seen["plan_token"])
    assert isinstance(refused.value, awa.Conflict)
    assert refused.value.drift.sentence() == (
        "30 jobs planned, 50 now: 20 more in queue default; 20 more available"
    )
    with pytest.raises(awa.PlanDrifted):
        await client.move_queue("bulk", filter=where, plan_token=moving["plan_token"])
    assert await client.list_batch_operations() == []
    anew = await client.preview_set_priority(1, filter=where)
    await client.set_priority(1, filter=where, plan_token=anew["plan_token"])


async def test_settings_say_how_much_a_plan_may_drift(database_url: str) -> None:
    settings = awa.Settings(plan_drift_percent=100, plan_minutes=5)
    async with awa.AsyncClient(database_url, settings=settings) as client:
        await client.insert(Work())
        seen = await client.preview_set_priority(1, filter={"queue": "default"})
        left = seen["plan_expires_at"] - datetime.now(UTC)
        assert left <= timedelta(minutes=5)
        await client.insert(Work())
        await client.set_priority(1, filter={"queue": "default"}, plan_token=seen["plan_token"])


async def test_waiting_ends_with_the_present_state(client: awa.AsyncClient) -> None:
    operation = await client.set_priority(1, allow_all=True)
    with pytest.raises(TimeoutError, match="still pending"):
        await client.wait_batch_operation(operation["id"], timeout=0.01)
    with pytest.raises(awa.NotFound):
        await client.wait_batch_operation(uuid4(), timeout=0.01)


async def test_waiting_can_be_given_up(client: awa.AsyncClient) -> None:
    operation = await client.set_priority(1, allow_all=True)
    waiting = asyncio.create_task(client.wait_batch_operation(operation["id"]))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_operations_and_items_are_read_page_by_page(client: awa.AsyncClient) -> None:
    jobs = await client.insert_many([Work(n) for n in range(7)], tags=["vip"])
    wanted = [
        (await client.set_priority(p, filter={"tag": "vip"}, reason=str(p)))["id"]
        for p in (1, 3, 4)
    ]
    seen: list[object] = []
    cursor = None
    while True:
        page, cursor = await client.batch_operations_page(limit=2, cursor=cursor)
        seen += [row["id"] for row in page]
        if cursor is None:
            break
    assert seen == wanted[::-1]

    await client.start(roles=["maintenance"])
    for operation_id in wanted:
        await client.wait_batch_operation(operation_id, timeout=60)
    ids: list[int] = []
    while True:
        page, cursor = await client.batch_operation_items_page(wanted[0], limit=3, cursor=cursor)
        ids += [row["job_id"] for row in page]
        if cursor is None:
            break
    assert ids == [job.id for job in jobs]
    with pytest.raises(awa.ValidationError, match="is not a cursor"):
        await client.batch_operations_page(cursor="x")
