"""Jobs with a concurrency key: at most so many of it are in lanes or run, and none is forgotten."""

import psycopg
import pytest

from awa.storage import dead_letters, queues
from awa.storage.enqueue import NewJob, enqueue_many
from awa.storage.limited import concurrency_of
from tests.storage.world import World


async def running(world: World) -> int:
    """How many places are used, after an audit of the whole store and of them."""
    await world.audit()
    places, wrong, beyond = await world.fetch(
        """SELECT count(*), count(*) FILTER (WHERE j.state IS DISTINCT FROM 'available' AND j.state IS DISTINCT FROM 'running'
                                                OR d.job_id IS NOT NULL),
                  count(*) FILTER (WHERE a.place > coalesce(r.concurrency_limit, 0))
             FROM awa.concurrency_admissions a LEFT JOIN awa.jobs j ON j.id = a.job_id
             LEFT JOIN awa.deferred_jobs d ON d.job_id = a.job_id
             LEFT JOIN LATERAL (SELECT e.* FROM awa.ready_entries e WHERE e.job_id = a.job_id ORDER BY e.lane_seq DESC LIMIT 1) r ON true"""
    )
    assert (wrong, beyond) == (0, 0)
    assert isinstance(places, int)
    return places


async def test_no_more_of_a_key_are_served_than_may_run(world: World) -> None:
    ids = await world.enqueue_keyed(5, limit=2)
    other = await world.enqueue_keyed(1, key="other")
    free = await world.enqueue(1)
    assert set(await world.states(ids)) == {"available"}
    served = await world.claim_ids()
    assert served == [*ids[:2], *other, *free]
    assert await world.claim_ids() == []
    assert await running(world) == 3


@pytest.mark.parametrize("outcome", ["completed", "retried", "failed", "cancelled", "snoozed"])
async def test_every_end_lets_the_next_one_in(world: World, outcome: str) -> None:
    first, second, _third = await world.enqueue_keyed(3)
    (job,) = await world.claim()
    assert job.job_id == first
    await world.finish([job], outcome)
    assert await world.claim_ids() == [second]
    assert await running(world) == 1


async def test_a_plain_completion_does(world: World) -> None:
    from awa.storage.finish import complete

    first, second = await world.enqueue_keyed(2)
    (job,) = await world.claim()
    assert (
        await complete(world.conn, world.runtime_id, [job.lane_id], [job.claim_no], [job.lane_seq])
        == set()
    )
    assert await world.states([first]) == ["completed"]
    assert await world.claim_ids() == [second]


async def test_a_job_that_is_handed_back_keeps_its_place(world: World) -> None:
    first, _second = await world.enqueue_keyed(2)
    await world.finish(await world.claim(), "returned")
    assert await world.claim_ids() == [first]
    assert await running(world) == 1


async def test_a_rescued_job_gives_its_place_to_the_next(world: World) -> None:
    first, second = await world.enqueue_keyed(2)
    await world.claim()
    await world.conn.execute("UPDATE awa.runtimes SET heartbeat_at = '-infinity'")
    assert (await world.rescue()).attempts_rescued == 1
    other = await World.on(world.conn)
    assert await other.claim_ids() == [second]
    assert await world.states([first]) == ["retryable"]


async def test_the_next_is_by_priority_then_by_age(world: World) -> None:
    (first,) = await world.enqueue_keyed()
    late, urgent = await world.enqueue_keyed(1, priority=3) + await world.enqueue_keyed(
        1, priority=1
    )
    (middle,) = await world.enqueue_keyed(1, priority=2)
    served = []
    for _ in range(4):
        (job,) = await world.claim()
        served.append(job.job_id)
        await world.finish([job])
    assert served == [first, urgent, middle, late]


async def test_a_cancelled_waiting_job_gives_its_place_away(world: World) -> None:
    first, second, third = await world.enqueue_keyed(3)
    assert await world.cancel([first, second]) == [first, second]
    assert await world.claim_ids() == [third]
    assert await running(world) == 1


async def test_a_parked_job_is_cancelled_moved_and_prioritised(world: World) -> None:
    first, second, third = await world.enqueue_keyed(3)
    assert await world.move([third], priority=1) == {third: "moved"}
    assert await world.move([second], "other") == {second: "moved"}
    assert await world.cancel([first]) == [first]
    assert await world.claim_ids() == [third]
    assert await world.cancel_running([third]) == [third]
    assert await world.claim_ids(queue="other") == [second]


async def test_an_admitted_job_that_is_moved_keeps_its_place(world: World) -> None:
    first, _second = await world.enqueue_keyed(2)
    assert await world.move([first], "other", 1) == {first: "moved"}
    assert await world.claim_ids() == []
    assert await world.claim_ids(queue="other") == [first]
    assert await running(world) == 1


async def test_scheduled_and_retried_jobs_wait_for_their_key(world: World) -> None:
    (first,) = await world.enqueue_keyed()
    (later,) = await world.enqueue_keyed(run_at=await world.now(later_s=60))
    assert await world.states([later]) == ["scheduled"]
    (job,) = await world.claim()
    assert await world.promote(await world.now(later_s=61)) == 1
    assert await world.states([later]) == ["available"]
    assert await world.claim_ids() == []
    assert await world.promote(await world.now(later_s=61)) == 0
    await world.finish([job], "retried")
    assert await world.claim_ids() == [later]
    assert await world.retry([first]) == [first]
    assert await world.claim_ids() == []
    assert await running(world) == 1


async def test_retrying_what_is_parked_changes_nothing(world: World) -> None:
    _first, second = await world.enqueue_keyed(2)
    assert await world.retry([second]) == []


async def test_a_failed_job_that_is_retried_waits_for_its_key(world: World) -> None:
    first, second = await world.enqueue_keyed(2)
    await world.finish(await world.claim(), "failed")
    assert await world.retry([first]) == [first]
    assert await world.states([first]) == ["available"]
    jobs = await world.claim()
    assert [job.job_id for job in jobs] == [second]
    await world.finish(jobs)
    assert await world.claim_ids() == [first]


async def test_a_dead_letter_that_is_retried_waits_for_its_key(world: World) -> None:
    await world.conn.execute(
        "INSERT INTO awa.queue_meta (queue, dlq_enabled) VALUES ('default', true)"
    )
    first, second = await world.enqueue_keyed(2)
    await world.finish(await world.claim(), "failed")
    (retried,) = await dead_letters.retry(world.conn, [first])
    assert retried[:2] == (first, "moved")
    assert await world.claim_ids() == [second]
    assert await running(world) == 1


@pytest.mark.lanes
async def test_a_place_outlives_the_slot_of_its_job(world: World) -> None:
    first, second = await world.enqueue_keyed(2)
    jobs = await world.claim()
    assert await world.rotate() == "rotated"
    assert await world.prune() == "pruned"
    assert await world.claim_ids() == []
    await world.finish(jobs)
    assert await world.states([first]) == ["completed"]
    assert await world.claim_ids() == [second]


async def test_many_keys_in_one_set_are_let_in_by_and_by(world: World) -> None:
    """No transaction keeps more than 500 locks for them; the duty goes on with the rest."""
    jobs = [NewJob("k", "{}", concurrency_key=f"key {n}") for n in range(1200)]
    await enqueue_many(world.conn, "default", jobs)
    served = len(await world.claim(2000))
    assert served == 500
    while await world.admit():
        served += len(await world.claim(2000))
    assert served == 1200


async def test_jobs_with_keys_and_without_in_one_set_keep_their_order(world: World) -> None:
    jobs = [
        NewJob("k", f'{{"n": {n}}}', concurrency_key=f"key {n}" if n % 3 else None)
        for n in range(10)
    ]
    inserted = await enqueue_many(world.conn, "default", jobs)
    by_id = {job.job_id: job.args for job in await world.claim()}
    assert [by_id[one.job_id] for one in inserted] == [job.args_json for job in jobs]


async def test_the_duty_lets_in_what_was_passed_by(world: World) -> None:
    ids = await world.enqueue_keyed(3, limit=2)
    await world.claim_ids()
    await world.conn.execute("DELETE FROM awa.concurrency_admissions")
    assert await world.claim_ids() == []
    assert await world.admit() == 1
    assert await world.claim_ids() == ids[2:]
    assert await world.admit() == 0


async def test_sql_can_say_it_too(world: World) -> None:
    call = "SELECT awa.enqueue('k', '{}', concurrency_key => 'tenant 7', concurrency_limit => 2)"
    ids = [(await world.fetch(call))[0] for _ in range(3)]
    assert await world.claim_ids() == ids[:2]
    assert await concurrency_of(world.conn, ids[2]) == {
        "key": "tenant 7", "limit": 2, "used": 2, "admitted": False
    }  # fmt: skip
    found = await concurrency_of(world.conn, ids[0])
    assert found is not None
    assert found["admitted"] is True
    (free,) = await world.enqueue()
    assert await concurrency_of(world.conn, free) is None


@pytest.mark.parametrize(
    "wrong", ["''", "repeat('x', 201)", "' x'", "'ok', concurrency_limit => 0",
              "'ok', concurrency_limit => 1001"]
)  # fmt: skip
async def test_a_key_or_a_limit_that_is_none_is_refused(world: World, wrong: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        await world.conn.execute(f"SELECT awa.enqueue('k', concurrency_key => {wrong})".encode())


async def test_parked_jobs_are_counted_as_available(world: World) -> None:
    await world.enqueue_keyed(5)
    (row,) = await queues.stats(world.conn, "default")
    assert (row["available"], row["scheduled"]) == (5, 0)


async def test_an_end_does_not_look_at_what_other_keys_have_parked(world: World) -> None:
    await world.enqueue_keyed(1, key="ends", queue="q")
    (job,) = await world.claim(queue="q")
    for n in range(40):
        await world.enqueue_keyed(10, key=f"other-{n}")
    rows_read = """SELECT sum(idx_tup_fetch + seq_tup_read)::int FROM pg_stat_xact_user_tables
                    WHERE relname IN ('deferred_jobs', 'concurrency_admissions')"""
    async with world.conn.transaction():
        (before,) = await world.fetch(rows_read)
        await world.finish([job])
        (after,) = await world.fetch(rows_read)
    assert after - before < 10  # of 360 that are parked and 41 that are admitted
