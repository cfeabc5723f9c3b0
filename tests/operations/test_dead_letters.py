"""Dead letters: what becomes one, what stays, and that no job is lost on the way back."""

from datetime import UTC, datetime, timedelta

import pytest

from awa.config import Settings
from awa.maintenance import retention
from awa.model.errors import Conflict, NotFound, ValidationError
from awa.operations import dead_letters
from awa.operations.dead_letters import which
from awa.storage import dead_letters as storage
from awa.storage.retention import retain_finished
from tests.storage.world import Connection, World


@pytest.fixture
async def world(conn: Connection) -> World:
    """A world whose queue `default` keeps dead letters."""
    await dead_letters.enable(conn, "default", True)
    return await World.on(conn)


async def fail(
    world: World, jobs: int = 1, *, queue: str = "default", error: str = "boom"
) -> list[int]:
    """Jobs that fail for good."""
    await world.enqueue(jobs, queue=queue, kind="send", tags=["t"])
    claimed = await world.claim(limit=jobs, queue=queue)
    await world.finish(claimed, "failed", error={"error": error, "kind": "SMTPError"})
    return [job.job_id for job in claimed]


async def test_a_failed_job_becomes_one_where_the_queue_asks_for_it(world: World) -> None:
    (kept,) = await fail(world)
    await fail(world, queue="careless")
    rows, _ = await dead_letters.page(world.conn, which())
    assert [row["id"] for row in rows] == [kept]
    row = rows[0]
    assert (row["reason"], row["error"], row["queue"], row["kind"]) == (
        "terminal_error",
        "boom",
        "default",
        "send",
    )
    assert [(e["kind"], e["attempt"]) for e in row["errors"]] == [("SMTPError", 1)]
    assert await world.state(kept) == "failed"
    await world.audit()


async def test_used_up_attempts_are_told_apart_from_a_terminal_error(world: World) -> None:
    (job,) = await world.enqueue(max_attempts=1)
    await world.finish(await world.claim(), "retried", error={"error": "no", "kind": "E"})
    rows, _ = await dead_letters.page(world.conn, which())
    assert [(row["id"], row["reason"]) for row in rows] == [(job, "attempts_exhausted")]


async def test_a_rescue_that_uses_up_the_last_attempt_makes_one(world: World) -> None:
    (job,) = await world.enqueue(max_attempts=1)
    await world.claim()
    await world.rescue(stale_after_s=-1.0)
    rows, _ = await dead_letters.page(world.conn, which())
    assert [(row["id"], row["errors"][0]["kind"]) for row in rows] == [(job, "RuntimeLost")]


async def test_cancelled_and_retried_jobs_are_none(world: World) -> None:
    await world.cancel(await world.enqueue())
    await world.enqueue()
    await world.finish(await world.claim(), "retried", error={"error": "again"})
    assert await dead_letters.page(world.conn, which()) == ([], None)


async def test_switched_off_it_keeps_what_it_has(world: World) -> None:
    (job,) = await fail(world)
    await dead_letters.enable(world.conn, "default", False)
    await fail(world)
    depth = await storage.depth(world.conn)
    assert [(row["queue"], row["depth"], row["enabled"]) for row in depth] == [
        ("default", 1, False)
    ]
    assert await storage.ids(world.conn, which()) == [job]


async def test_the_depth_of_a_queue_without_any_is_nought(world: World) -> None:
    depth = await storage.depth(world.conn)
    assert [(row["queue"], row["depth"], row["enabled"]) for row in depth] == [("default", 0, True)]


async def test_one_is_retried_with_all_its_attempts_and_all_it_had(world: World) -> None:
    (job,) = await fail(world)
    again = await dead_letters.retry_one(world.conn, job)
    assert (again.state, again.attempt, again.kind, again.tags) == ("available", 0, "send", ("t",))
    assert [error["kind"] for error in again.errors] == ["SMTPError"]
    assert await dead_letters.page(world.conn, which()) == ([], None)
    assert await world.claim_ids() == [job]
    await world.audit()


async def test_one_is_retried_elsewhere_and_later(world: World) -> None:
    (job,) = await fail(world)
    later = datetime.now(UTC) + timedelta(hours=1)
    again = await dead_letters.retry_one(world.conn, job, queue="other", priority=1, run_at=later)
    assert (again.state, again.queue, again.priority, again.run_at) == (
        "scheduled",
        "other",
        1,
        later,
    )
    assert again.metadata["_awa_original_queue"] == "default"


async def test_a_job_that_fails_again_is_a_dead_letter_again(world: World) -> None:
    (job,) = await fail(world)
    await dead_letters.retry_one(world.conn, job)
    await world.finish(await world.claim(), "failed", error={"error": "boom", "kind": "SMTPError"})
    rows, _ = await dead_letters.page(world.conn, which())
    assert [(row["id"], len(row["errors"])) for row in rows] == [(job, 2)]


async def test_retrying_what_is_none_says_what_it_is(world: World) -> None:
    (waiting,) = await world.enqueue()
    with pytest.raises(Conflict, match="is available and no dead letter"):
        await dead_letters.retry_one(world.conn, waiting)
    with pytest.raises(NotFound):
        await dead_letters.retry_one(world.conn, 999_999)


async def test_an_ordinary_retry_takes_the_mark_along(world: World) -> None:
    (job,) = await fail(world)
    assert await world.retry([job]) == [job]
    assert await dead_letters.page(world.conn, which()) == ([], None)


async def test_groups_share_kind_and_cause(world: World) -> None:
    await fail(world, 2, error="no answer from 10.0.0.1 after 30 s")
    await fail(world, 1, error="no answer from 10.0.0.2 after 31 s")
    await fail(world, 1, error="refused")
    groups = await storage.groups(world.conn)
    assert [(g["kind"], g["depth"]) for g in groups] == [("send", 3), ("send", 1)]
    assert groups[0]["error"].startswith("no answer from 10.0.0.2")
    chosen = which(fingerprint=groups[0]["fingerprint"])
    assert len(await storage.ids(world.conn, chosen)) == 3


async def test_pages_are_newest_first_and_whole(world: World) -> None:
    ids = [(await fail(world))[0] for _ in range(5)]
    seen, cursor = [], None
    while True:
        rows, cursor = await dead_letters.page(world.conn, which(), limit=2, cursor=cursor)
        seen += [row["id"] for row in rows]
        if cursor is None:
            break
    assert seen == ids[::-1]


async def test_chunks_retry_and_purge_what_was_chosen_and_nothing_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letters, "CHUNK_JOBS", 2)
    refused = await fail(world, 5, error="refused")
    others = await fail(world, 3, error="timeout")
    groups = {g["error"]: g["fingerprint"] for g in await storage.groups(world.conn)}
    retried = 0
    above: int | None = 0
    while above is not None:
        done, above = await dead_letters.retry_chunk(
            world.conn, which(fingerprint=groups["refused"]), above=above, queue="again"
        )
        retried += done
    assert retried == 5
    assert sorted(await world.claim_ids(queue="again", limit=10)) == sorted(refused)
    done, above = await dead_letters.purge_chunk(world.conn, which(queue="default"), above=0)
    assert (done, above) == (2, others[1])
    assert await storage.ids(world.conn, which()) == others[2:]
    await world.audit()


async def test_their_retention_is_their_own(world: World) -> None:
    (dead,) = await fail(world)
    (plain,) = await fail(world, queue="careless")
    late = await world.now(later_s=10 * 86_400)
    assert await retain_finished(world.conn, keep_s=86_400, completed_keep_s=1, now=late) == 1
    assert await storage.ids(world.conn, which()) == [dead]
    with pytest.raises(NotFound):
        await dead_letters.retry_one(world.conn, plain)
    retain = retention.letter_retainer(Settings(dlq_retention_days=11))
    assert await retain(world.conn, late) == 0
    assert await retain(world.conn, await world.now(later_s=12 * 86_400)) == 1
    assert await world.audit() == {}


@pytest.mark.parametrize(
    "wrong",
    [{"queue": ""}, {"kind": "x" * 201}, {"before": datetime(2026, 1, 1)}, {"reason": " "}],  # noqa: DTZ001
)
def test_a_choice_that_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        which(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("cursor", ["x", "MjAyNg", "%", "MjAyNi0wMS0wMVQwMDowMDowMCswMDowMCAtMQ"])
async def test_a_cursor_that_no_page_returned_is_refused(world: World, cursor: str) -> None:
    with pytest.raises(ValidationError):
        await dead_letters.page(world.conn, which(), cursor=cursor)


async def test_a_reason_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValidationError, match="expected one of attempts_exhausted"):
        which(reason="bogus")
    assert which(reason="callback_failed").reason == "callback_failed"


async def test_on_or_off_is_said_by_a_truth_value(conn: Connection) -> None:
    with pytest.raises(ValidationError, match="enabled: expected True or False, got 'no'"):
        await dead_letters.enable(conn, "default", "no")  # type: ignore[arg-type]
