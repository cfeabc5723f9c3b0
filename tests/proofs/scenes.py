"""Scenes that many scripts begin or end with: a job that is owed, one that is late, a lane that was passed by."""

from tests.proofs.stage import Actor


async def owe(claimer: Actor, mover: Actor, jobs: int = 1) -> list[int]:
    """Jobs that the lane's cursor has passed because somebody had locked them and then gave up."""
    ids = await claimer.enqueue(jobs)
    async with mover.rolled_back():
        await mover.lock(ids)
        await pass_by(claimer)
    return ids


async def pass_by(claimer: Actor) -> None:
    """Moves the lane's cursor on, past whatever cannot be served now."""
    (last,) = await claimer.enqueue()
    assert await claimer.claim_ids() == [last]


async def cursor_of(actor: Actor, queue: str = "default") -> int:
    """Where the cursor of the queue's only lane stands."""
    (cursor,) = await actor.fetch("SELECT cursor FROM awa.lane_heads WHERE queue = %s", queue)
    assert isinstance(cursor, int)
    return cursor


async def wait_late(claimer: Actor, producer: Actor, jobs: int = 1) -> list[int]:
    """Jobs whose transaction was still open when the lane's cursor passed them, and has ended since."""
    await pass_by(claimer)
    async with producer.conn.transaction():
        ids = await producer.enqueue(jobs)
        await pass_by(claimer)
    return ids


async def served_once(job: int, *actors: Actor, queues: tuple[str, ...]) -> None:
    """From now on the queues serve the job once, and nothing else."""
    served = [
        id_ for queue in queues for actor in actors for id_ in await actor.claim_ids(queue=queue)
    ]
    assert served == [job]
