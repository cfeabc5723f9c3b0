"""The story of a job tells every place and every attempt, in either storage."""

from typing import Any

from awa.operations.reading.job import detail
from awa.storage import promote
from tests.storage.world import World


async def story(world: World, job_id: int) -> list[str]:
    """What happened, in a word each."""
    return [event["what"] for event in (await detail(world.conn, job_id))["events"]]


async def claim_and(world: World, outcome: str, queue: str = "default", **end: Any) -> None:
    """One attempt that ends so."""
    (job,) = await world.claim(queue=queue)
    await world.finish([job], outcome, **end)


async def test_every_attempt_and_every_place_is_told(world: World) -> None:
    (job_id,) = await world.enqueue(max_attempts=3)
    await claim_and(world, "snoozed", delay_s=0.0)
    await promote.promote(world.conn)
    await claim_and(world, "returned")
    await claim_and(world, "retried", delay_s=0.0, error={"error": "first", "kind": "E"})
    await promote.promote(world.conn)
    await world.move([job_id], "other", 3)
    await claim_and(world, "retried", "other", delay_s=0.0, error={"error": "second", "kind": "E"})
    await promote.promote(world.conn)
    await claim_and(world, "failed", "other", error={"error": "last", "kind": "E"})
    assert await story(world, job_id) == [
        "enqueued", "claimed", "snoozed", "ready", "claimed", "returned", "claimed", "attempt_failed",
        "ready", "moved", "ready", "claimed", "attempt_failed", "ready", "claimed", "failed",
    ]  # fmt: skip
    events = (await detail(world.conn, job_id))["events"]
    assert [e["error"] for e in events if e["error"]] == ["first", "second", "last"]
    assert [e["attempt"] for e in events if e["what"] == "claimed"] == [1, 1, 1, 2, 3]
    assert {e["runtime_id"] for e in events if e["what"] == "claimed"} == {world.runtime_id}
    moved = next(e["text"] for e in events if e["what"] == "moved")
    assert moved == "Taken out of default, priority 2"


async def test_so_are_a_cancel_a_retry_and_a_completion(world: World) -> None:
    (job_id,) = await world.enqueue()
    await world.cancel([job_id])
    await world.retry([job_id])
    await claim_and(world, "completed")
    assert await story(world, job_id) == ["enqueued", "cancelled", "ready", "claimed", "completed"]


async def test_so_is_a_completion_that_left_something(world: World) -> None:
    (job_id,) = await world.enqueue()
    await claim_and(world, "completed", metadata={"size": 7})
    assert await story(world, job_id) == ["enqueued", "claimed", "completed"]


async def test_so_is_a_wait_for_a_callback(world: World) -> None:
    job_id, callback = await world.waiting()
    await world.answer(callback, "resume")
    await claim_and(world, "completed")
    told = await story(world, job_id)
    assert told == ["enqueued", "claimed", "waiting", "answered", "ready", "claimed", "completed"]
