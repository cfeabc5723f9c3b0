"""Dead letters: of a retry and a purge that want the same job one gets it, and nothing is lost between them."""

from awa.operations import dead_letters
from awa.storage import dead_letters as storage
from awa.storage.change import moved
from tests.proofs.stage import Actor, Stage


async def dead_letter(actor: Actor) -> int:
    """A job that failed for good."""
    await dead_letters.enable(actor.conn, "default", True)
    (job,) = await actor.enqueue()
    await actor.finish(await actor.claim(), "failed", error={"error": "boom"})
    return job


async def test_a_purge_that_came_first_leaves_nothing_to_retry(stage: Stage) -> None:
    purger, retrier = await stage.actors(2)
    job = await dead_letter(purger)
    async with stage.until_end() as retrying, purger.conn.transaction():
        assert await storage.purge(purger.conn, [job]) == 1
        retry = await retrying.enter_async_context(
            retrier.blocked(storage.retry(retrier.conn, [job]))
        )
    assert retry.result() == []
    assert await retrier.audit() == {}


async def test_a_retry_that_came_first_leaves_nothing_to_purge(stage: Stage) -> None:
    purger, retrier = await stage.actors(2)
    job = await dead_letter(purger)
    async with stage.until_end() as purging, retrier.conn.transaction():
        assert moved(await storage.retry(retrier.conn, [job])) == [job]
        purge = await purging.enter_async_context(purger.blocked(storage.purge(purger.conn, [job])))
    assert purge.result() == 0
    assert await retrier.claim_ids() == [job]
    await stage.audit()


async def test_two_retries_move_it_once(stage: Stage) -> None:
    first, second = await stage.actors(2)
    job = await dead_letter(first)
    async with stage.until_end() as waiting, first.conn.transaction():
        assert moved(await storage.retry(first.conn, [job])) == [job]
        again = await waiting.enter_async_context(
            second.blocked(storage.retry(second.conn, [job], queue="other"))
        )
    assert again.result() == []
    assert await first.claim_ids() == [job]
    assert await first.claim_ids(queue="other") == []
    await stage.audit()


async def test_a_failed_attempt_and_its_mark_are_one_step(stage: Stage) -> None:
    """Nobody sees a failed job of the queue without its mark, nor a mark without its job."""
    worker, reader = await stage.actors(2)
    await dead_letters.enable(worker.conn, "default", True)
    (job,) = await worker.enqueue()
    claimed = await worker.claim()
    async with worker.rolled_back():
        await worker.finish(claimed, "failed", error={"error": "boom"})
        assert await storage.ids(reader.conn, dead_letters.which()) == []
    assert await reader.state(job) == "running"
    await worker.finish(claimed, "failed", error={"error": "boom"})
    assert await storage.ids(reader.conn, dead_letters.which()) == [job]
