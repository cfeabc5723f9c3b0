"""Limits of a queue: how many jobs run at once and how many are begun in a period, over all runtimes."""

import psycopg
import pytest

from awa.model.errors import ValidationError
from awa.model.queue_limits import queue_limits, rate_words, read_rate
from awa.storage import queues
from awa.storage.claim import Held
from tests.conftest import Connect
from tests.storage.world import World

# Time passes: what was claimed was claimed earlier.
LATER = "UPDATE awa.lane_claims SET claimed_at = claimed_at - %s * interval '1 second'"


async def test_no_more_run_than_the_queue_may_have(world: World, connect: Connect) -> None:
    other = await World.on(await connect())
    await world.enqueue(10)
    await world.limit(max_running=3)
    mine = await world.claim_call(limit=2)
    assert (len(mine.jobs), mine.held) == (2, None)
    theirs = await other.claim_call(limit=5)
    assert (len(theirs.jobs), theirs.held) == (1, Held("max_running", None))
    assert await world.claim_call() == ([], False, Held("max_running", None))


@pytest.mark.parametrize(
    "outcome", ["completed", "retried", "failed", "cancelled", "snoozed", "returned"]
)
async def test_every_end_makes_room(world: World, outcome: str) -> None:
    await world.enqueue(4)
    await world.limit(max_running=2)
    first, _ = await world.claim()
    await world.finish([first], outcome)
    assert len(await world.claim()) == 1


async def test_a_rescue_makes_room(world: World, connect: Connect) -> None:
    other = await World.on(await connect())
    await world.enqueue(4)
    await world.limit(max_running=2)
    assert len(await other.claim()) == 2
    assert await world.claim() == []
    await other.conn.execute(
        "UPDATE awa.runtimes SET heartbeat_at = '-infinity' WHERE id = %s", [other.runtime_id]
    )
    assert (await world.rescue()).attempts_rescued == 2
    assert len(await world.claim()) == 2


@pytest.mark.lanes
async def test_old_attempts_count_wherever_they_are_written_down(world: World) -> None:
    """A runtime's older attempts are in awa.attempts, and its claims of then are looked at no more."""
    await world.enqueue(4)
    await world.limit(max_running=3)
    jobs = await world.claim(limit=2)
    await world.conn.execute(LATER, [3600])
    await world.heartbeat(jobs, await world.now(later_s=-5))
    await world.conn.execute("UPDATE awa.attempts SET claimed_at = claimed_at - interval '1 hour'")
    assert len(await world.claim()) == 1
    await world.finish(jobs[:1])
    assert len(await world.claim()) == 1


async def test_other_queues_and_priorities(world: World) -> None:
    await world.enqueue(3, priority=1)
    await world.enqueue(3, priority=3)
    await world.enqueue(3, queue="other")
    await world.limit(max_running=4)
    assert [job.priority for job in await world.claim(queue="default")] == [1, 1, 1, 3]
    assert len(await world.claim(queue="other")) == 3


@pytest.mark.lanes
async def test_no_more_are_begun_than_the_rate_allows(world: World, connect: Connect) -> None:
    other = await World.on(await connect())
    await world.enqueue(20)
    await world.limit(rate_limit=5, rate_period_seconds=1_000)
    first = await world.claim_call(limit=3)
    assert (len(first.jobs), first.held) == (3, None)
    await world.finish(first.jobs)
    await world.conn.execute(LATER, [400])
    second = await other.claim_call(limit=50)
    assert len(second.jobs) == 2
    assert second.held is not None
    assert second.held.why == "rate"
    assert second.held.again_s == pytest.approx(600, abs=60)
    assert (await world.claim_call()).jobs == []
    await world.conn.execute(LATER, [600])
    assert len(await world.claim()) == 3
    assert (await world.claim_call()).held == Held("rate", pytest.approx(400, abs=60))  # type: ignore[arg-type]


@pytest.mark.lanes
async def test_the_rate_counts_many_small_claims_of_several_lanes(world: World) -> None:
    await world.enqueue(60, priority=1)
    await world.enqueue(60, priority=2)
    await world.limit(rate_limit=1000, rate_period_seconds=100)
    for number in range(80):
        assert len(await world.claim(limit=1 + number % 2)) >= 1
    wrong = await world.fetch(
        """SELECT count(*), count(*) FILTER (WHERE s.jobs IS DISTINCT FROM b.jobs OR s.oldest IS DISTINCT FROM b.oldest)
             FROM (SELECT claimed_at FROM awa.lane_claims UNION ALL SELECT '-infinity' UNION ALL SELECT 'infinity') t(since)
            CROSS JOIN LATERAL awa.started_since(ARRAY(SELECT lane_id FROM awa.lanes), t.since) s
            CROSS JOIN LATERAL (SELECT coalesce(sum(c.jobs), 0) AS jobs, min(c.claimed_at) AS oldest
                                  FROM awa.lane_claims c WHERE c.claimed_at > t.since) b"""
    )
    assert wrong[0] > 80
    assert wrong[1] == 0


async def test_both_limits_at_once(world: World) -> None:
    await world.enqueue(20)
    await world.limit(max_running=2, rate_limit=3, rate_period_seconds=60)
    jobs = await world.claim_call()
    assert (len(jobs.jobs), jobs.held and jobs.held.why) == (2, "max_running")
    await world.finish(jobs.jobs)
    jobs = await world.claim_call()
    assert (len(jobs.jobs), jobs.held and jobs.held.why) == (1, "rate")


async def test_a_claim_that_takes_less_than_it_may_is_not_held(world: World) -> None:
    await world.enqueue(2)
    await world.limit(max_running=5)
    assert (await world.claim_call()).held is None
    assert await world.claim_call() == ([], False, None)


@pytest.mark.lanes
async def test_claims_in_the_window_outlive_the_retention(world: World) -> None:
    """A slot is not emptied while a rate limit still counts what was claimed in it."""
    await world.enqueue(3)
    await world.limit(rate_limit=4, rate_period_seconds=100)
    await world.finish(await world.claim())
    assert await world.rotate() == "rotated"
    assert await world.prune(0, keep_s=0) == "young"
    await world.enqueue(3)
    assert len(await world.claim()) == 1
    await world.limit(rate_limit=4, rate_period_seconds=0.1)
    await world.conn.execute("UPDATE awa.attempt_closures SET closed_at = '-infinity'")
    assert await world.prune(0, keep_s=0) == "pruned"


@pytest.mark.lanes
async def test_carried_claims_and_heads_count_once(world: World) -> None:
    await world.enqueue(4)
    jobs = await world.claim()
    await world.finish(jobs[:2])
    assert await world.rotate() == "rotated"
    assert (
        await world.prune(0) == "pruned"
    )  # carries two running jobs with their claim, and the head
    await world.limit(rate_limit=10, rate_period_seconds=1000, max_running=3)
    await world.enqueue(10)
    served = await world.claim_call()
    assert (len(served.jobs), served.held) == (1, Held("max_running", None))
    await world.limit(max_running=None)
    # Two of the four claimed before are gone with their slot: nobody had asked to count that far.
    assert len((await world.claim_call()).jobs) == 10 - 1 - 2 - 2 + 2


async def test_limits_are_taken_away_one_by_one(world: World) -> None:
    await world.limit("q", max_running=2, rate_limit=3)
    await world.limit("q", max_running=None)
    (row,) = await queues.stats(world.conn, "q")
    limits = ("max_running", "rate_limit", "rate_period_s")
    assert {name: row[name] for name in limits} == dict(zip(limits, (None, 3, 1.0), strict=True))
    await world.limit("q", rate_limit=None)
    (row,) = await queues.stats(world.conn, "q")
    assert [row[name] for name in limits] == [None, None, None]


@pytest.mark.parametrize(
    ("limits", "field"),
    [
        ({}, None),
        ({"max_running": 0}, "max_running"),
        ({"max_running": True}, "max_running"),
        ({"rate_limit": 1.5}, "rate_limit"),
        ({"rate_limit": 5, "rate_period_seconds": 0.01}, "rate_period_seconds"),
        ({"rate_limit": 5, "rate_period_seconds": "1"}, "rate_period_seconds"),
        ({"rate_period_seconds": 5}, "rate_period_seconds"),
        ({"rate_limit": None, "rate_period_seconds": 5}, "rate_period_seconds"),
    ],
)
def test_limits_that_make_no_sense(limits: dict[str, object], field: str | None) -> None:
    with pytest.raises(ValidationError) as refused:
        queue_limits(**limits)  # type: ignore[arg-type]
    assert [problem.field for problem in refused.value.fields] == ([field] if field else [])


async def test_the_database_refuses_them_too(world: World) -> None:
    with pytest.raises(psycopg.errors.CheckViolation):
        await world.conn.execute(
            "INSERT INTO awa.queue_meta (queue, rate_limit) VALUES ('half', 5)"
        )


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("100/s", (100, 1.0)),
        ("20/min", (20, 60.0)),
        ("1000/h", (1000, 3600.0)),
        ("5/10s", (5, 10.0)),
        ("7/500ms", (7, 0.5)),
        ("3/d", (3, 86_400.0)),
    ],
)
def test_rates_are_read_and_said(text: str, rate: tuple[int, float]) -> None:
    assert read_rate(text) == rate
    assert read_rate(rate_words(*rate)) == rate


@pytest.mark.parametrize("text", ["", "100", "100/", "x/s", "-1/s", "1/week", "1.5/s"])
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(ValidationError):
        read_rate(text)


@pytest.mark.lanes
async def test_a_cursor_that_was_moved_on_keeps_the_count(world: World) -> None:
    await world.limit(rate_limit=5, rate_period_seconds=3600)
    await world.enqueue(3)
    assert len(await world.claim()) == 3
    await world.cancel(await world.enqueue(10))
    assert await world.advance() == 1
    await world.enqueue(5)
    assert len(await world.claim()) == 2


@pytest.mark.lanes
async def test_a_window_is_searched_once_a_lane(world: World) -> None:
    """Not once a claim: that would be a search for each of an hour's claims."""
    await world.enqueue(50)
    for _ in range(50):
        await world.claim(limit=1)
    async with world.conn.transaction():
        await world.conn.execute("SET LOCAL track_functions = 'pl'")
        (begun,) = await world.fetch(
            "SELECT jobs FROM awa.started_since(ARRAY(SELECT lane_id FROM awa.lanes), '-infinity')"
        )
        calls = "SELECT calls FROM pg_stat_xact_user_functions WHERE funcname = 'first_claim_since'"
        assert (begun, await world.fetch(calls)) == (50, (1,))
