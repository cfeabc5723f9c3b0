"""Prune against everything else: a slot goes only when nothing in it can matter any more, looked at under its lock."""

import pytest

from tests.proofs.stage import Actor, Rewrite, Stage

pytestmark = pytest.mark.lanes

PATIENT = Rewrite("610_prune", "SET lock_timeout = '50ms'", "SET lock_timeout = '20s'")
SLEEPY_ENQUEUE = Rewrite(
    "100_enqueue",
    "g.current_slot, max_attempts",
    "g.current_slot + (SELECT length(awa.pause_point('enqueue.in_insert')::text))::smallint, max_attempts",
)
LANES = 520
ONE_JOB_IN_EACH = (
    "SELECT count(awa.enqueue('k', queue => 'lane ' || n)) FROM generate_series(0, %s - 1) n"
)
LANE_LOCKS = """
    SELECT count(*) FROM pg_locks WHERE pid = %s AND locktype = 'advisory' AND classid = 4712
"""
HEADS = "SELECT claim_no, cursor, owed::text FROM awa.lane_heads WHERE queue = 'default'"


async def fill_and_close(actor: Actor, jobs: int = 1) -> list[int]:
    """Jobs that wait in slot 0, which is not the current one any more."""
    ids = await actor.enqueue(jobs)
    assert await actor.rotate() == "rotated"
    return ids


async def test_a_job_that_commits_after_the_count_keeps_its_slot(stage: Stage) -> None:
    """Its transaction began when the slot was open, and ended when everybody else was through with it."""
    claimer, producer, keeper = await stage.actors(3)
    await claimer.enqueue()
    await claimer.finish(await claimer.claim())
    async with stage.until_end() as go_on, producer.conn.transaction():
        (job,) = await producer.enqueue()
        assert await keeper.rotate() == "rotated"
        prune = keeper.stopped_at("prune.after_count", keeper.prune())
        pruning = await go_on.enter_async_context(prune)
    assert pruning.result() == "busy"
    assert await claimer.claim_ids() == [job]
    await stage.audit()


async def test_an_open_enqueue_into_the_slot_keeps_it(stage: Stage) -> None:
    claimer, producer, keeper = await stage.actors(3)
    await claimer.enqueue()
    await claimer.finish(await claimer.claim())
    async with producer.conn.transaction():
        (job,) = await producer.enqueue()
        assert await keeper.rotate() == "rotated"
        assert await keeper.prune() == "busy"
    assert await keeper.prune() == "pruned"
    assert await claimer.claim_ids() == [job]
    await stage.audit()


async def test_a_job_that_is_claimed_after_the_count_is_carried_as_running(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    (job,) = await fill_and_close(claimer)
    async with keeper.stopped_at("prune.after_count", keeper.prune()) as pruning:
        (claimed,) = await claimer.claim()
    assert pruning.result() == "pruned"
    assert await claimer.state(job) == "running"
    assert await claimer.claim_ids() == []
    assert await claimer.finish([claimed]) == {job: "completed"}
    await stage.audit()


async def test_a_job_that_is_moved_after_the_count_is_not_carried(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    (job,) = await fill_and_close(claimer)
    async with keeper.stopped_at("prune.after_count", keeper.prune()) as pruning:
        assert await claimer.move([job], "other") == {job: "moved"}
    assert pruning.result() == "pruned"
    assert await claimer.claim_ids() == []
    assert await claimer.claim_ids(queue="other") == [job]
    await stage.audit()


async def test_a_job_that_completes_after_the_count_is_kept_as_long_as_others(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    (job,) = await fill_and_close(claimer)
    claimed = await claimer.claim()
    async with keeper.stopped_at("prune.after_count", keeper.prune(keep_s=3600)) as pruning:
        assert await claimer.finish(claimed) == {job: "completed"}
    assert pruning.result() == "young"
    assert await claimer.state(job) == "completed"


async def test_a_slot_under_a_prune_is_left_to_it(stage: Stage) -> None:
    """So a leader that stood still never wakes up in a slot that its successor has opened again."""
    claimer, old_leader, leader = await stage.actors(3)
    await fill_and_close(claimer)
    await claimer.finish(await claimer.claim())
    async with old_leader.stopped_at("prune.after_count", old_leader.prune()) as pruning:
        assert await leader.prune() == "busy"
    assert pruning.result() == "pruned"
    assert await leader.prune() == "empty"
    await stage.audit()


async def test_a_slot_that_is_being_emptied_is_left_to_that_prune(stage: Stage) -> None:
    """So the slower of two leaders never truncates what the other has opened again."""
    claimer, old_leader, leader = await stage.actors(3)
    await fill_and_close(claimer)
    async with old_leader.stopped_at("prune.before_truncate", old_leader.prune()) as pruning:
        assert await leader.prune() in ("pinned", "busy")
    assert pruning.result() == "pruned"
    assert await leader.prune() == "empty"
    await stage.audit()


async def test_a_claim_that_is_under_way_is_waited_for_and_goes_on(stage: Stage) -> None:
    """It has read its head and not yet its rows; to hold the rows' table against it would stop both."""
    claimer, keeper = await stage.actors(2)
    await fill_and_close(claimer)
    await claimer.finish(await claimer.claim())
    (elsewhere,) = await claimer.enqueue(queue="elsewhere")
    await stage.rewrite([PATIENT])
    async with stage.until_end() as both:
        claim = claimer.claim_ids(queue="elsewhere")
        async with claimer.stopped_at("claim.after_snapshot", claim) as claiming:
            pruning = await both.enter_async_context(keeper.blocked(keeper.prune()))
    assert claiming.result() == [elsewhere]
    assert pruning.result() == "pruned"
    await stage.audit()


async def test_a_finisher_and_a_prune_wait_for_each_other_in_neither_order(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    (job,) = await fill_and_close(claimer)
    claimed = await claimer.claim()
    finishing = claimer.stopped_at("finish.after_locks", claimer.finish(claimed))
    async with finishing as finish:
        assert await keeper.prune() == "busy"
    assert finish.result() == {job: "completed"}
    assert await keeper.prune() == "pruned"
    await stage.audit()


async def test_a_mover_that_holds_a_job_of_the_slot_keeps_it(stage: Stage) -> None:
    claimer, mover, keeper = await stage.actors(3)
    (job,) = await fill_and_close(claimer)
    async with mover.stopped_at("change.after_locks", mover.move([job], "other")) as moving:
        assert await keeper.prune() == "busy"
    assert moving.result() == {job: "moved"}
    assert await keeper.prune() == "pruned"
    assert await claimer.claim_ids(queue="other") == [job]
    await stage.audit()


async def test_a_head_that_lived_in_the_slot_goes_on_in_the_current_one(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    await claimer.enqueue(3)
    await claimer.finish(await claimer.claim())
    before = await keeper.fetch(HEADS)
    assert await keeper.rotate() == "rotated"
    assert await keeper.prune() == "pruned"
    assert await keeper.fetch(HEADS) == before
    (job,) = await claimer.enqueue()
    (claimed,) = await claimer.claim()
    assert (claimed.job_id, claimed.claim_no) == (job, before[0] + 1)
    await stage.audit()


async def test_a_job_that_completes_between_the_two_looks_is_kept_as_long_as_others(
    stage: Stage,
) -> None:
    """After the look for young ones, before the count: it is neither live nor was it seen."""
    claimer, keeper = await stage.actors(2)
    (job,) = await fill_and_close(claimer)
    claimed = await claimer.claim()
    async with keeper.stopped_at("prune.before_count", keeper.prune(keep_s=3600)) as pruning:
        assert await claimer.finish(claimed) == {job: "completed"}
    assert pruning.result() == "young"
    assert await claimer.state(job) == "completed"


async def test_a_dump_that_began_before_a_prune_has_the_carried_jobs(stage: Stage) -> None:
    """pg_dump takes its snapshot first and comes to the tables later; a prune may happen in between."""
    claimer, dump, keeper = await stage.actors(3)
    jobs = await fill_and_close(claimer, jobs=3)
    await claimer.claim(limit=1)
    async with dump.conn.transaction():
        await take_snapshot(dump)
        assert await keeper.prune() == "pinned"
        states = {job: place.state for job, place in (await dump.audit()).items()}
        assert states == dict(zip(jobs, ["running", "available", "available"], strict=True))
        assert await keeper.prune() == "pinned"
    assert await keeper.prune() == "pruned"
    assert await claimer.claim_ids() == jobs[1:]
    await stage.audit()


async def test_a_dump_that_began_before_a_job_left_the_slot_has_it(stage: Stage) -> None:
    """Nothing needs to be carried: what is over here was not at the dump's time."""
    claimer, dump, keeper = await stage.actors(3)
    moved, ended = await fill_and_close(claimer, jobs=2)
    async with dump.conn.transaction():
        await take_snapshot(dump)
        assert await claimer.move([moved], "other") == {moved: "moved"}
        await claimer.finish(await claimer.claim())
        assert await keeper.prune() == "pinned"
        queues = {job: place.queue for job, place in (await dump.audit()).items()}
        assert queues == {moved: "default", ended: "default"}
    assert await keeper.prune() == "pruned"
    await stage.audit()


async def test_a_reader_that_began_after_the_slot_was_over_does_not_keep_it(stage: Stage) -> None:
    """Its snapshot lists an older transaction that goes on and on, and still shows all that was carried."""
    claimer, writer, reader, keeper = await stage.actors(4)
    jobs = await fill_and_close(claimer, jobs=2)
    async with writer.conn.transaction():
        await writer.fetch("SELECT pg_current_xact_id()")
        assert [await keeper.prune_step() for _ in ("retire", "see")] == ["more", "more"]
        async with reader.conn.transaction():
            await take_snapshot(reader)
            assert await keeper.prune() == "pruned"
            assert sorted(await reader.audit()) == jobs
    await stage.audit()


async def test_a_slot_is_not_emptied_in_the_transaction_that_retires_it(stage: Stage) -> None:
    """A reader that began before the commit would miss what was carried, though it began after the last step."""
    claimer, dump, keeper = await stage.actors(3)
    jobs = await fill_and_close(claimer)
    async with stage.until_end() as dumping:
        async with keeper.conn.transaction():
            assert {await keeper.prune_step() for _ in range(4)} == {"more"}
            await dumping.enter_async_context(dump.conn.transaction())
            await take_snapshot(dump)
        assert await keeper.prune() == "pinned"
        assert sorted(await dump.audit()) == jobs
    await stage.audit()


async def test_a_job_that_comes_into_a_slot_that_is_over_is_carried(stage: Stage) -> None:
    """Its statement read which slot was open, slept through rotation and retirement, and wrote its row."""
    claimer, producer, keeper = await stage.actors(3)
    await claimer.enqueue()
    await claimer.finish(await claimer.claim())
    await stage.rewrite([SLEEPY_ENQUEUE])
    sleeping = producer.stopped_at(
        "enqueue.in_insert", producer.fetch("SELECT awa.enqueue('late')")
    )
    async with sleeping as enqueue:
        assert await keeper.rotate() == "rotated"
        assert await keeper.prune() == "pinned"
    (job,) = enqueue.result()
    assert await keeper.prune() == "pruned"
    assert await claimer.claim_ids() == [job]
    await stage.audit()


async def test_heads_are_carried_in_steps_that_a_server_has_locks_for(stage: Stage) -> None:
    claimer, keeper = await stage.actors(2)
    await claimer.fetch(ONE_JOB_IN_EACH, LANES)
    for number in range(LANES):
        await claimer.claim_ids(queue=f"lane {number}")
    assert await keeper.rotate() == "rotated"
    before = await all_heads(keeper)
    for carried in (500, LANES):
        async with keeper.conn.transaction():
            assert await keeper.prune_step() == "more"
            (locks,) = await keeper.fetch(LANE_LOCKS, keeper.pid)
            assert locks <= 500
        (headed,) = await keeper.fetch("SELECT cardinality(awa.lanes_headed_in(0, NULL))")
        assert headed == LANES - carried
    assert await keeper.prune() == "pruned"
    assert await all_heads(keeper) == before
    await stage.audit()


async def take_snapshot(actor: Actor) -> None:
    """What the session's transaction reads from now on is what was there now."""
    await actor.conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    await actor.fetch("SELECT count(*) FROM pg_class")


async def all_heads(actor: Actor) -> list[tuple[object, ...]]:
    """Every lane's head."""
    cursor = await actor.conn.execute(
        "SELECT lane_id, claim_no, cursor, owed::text, seen::text FROM awa.lane_heads ORDER BY 1"
    )
    return await cursor.fetchall()
