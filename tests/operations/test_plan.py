"""A submission with a plan token is held to what the preview counted; without one nothing is held against it."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from awa.model.drift import PlanDrifted
from awa.model.errors import Conflict, TooSlow, ValidationError
from awa.model.plan import PlanExpired, PlanLimits
from awa.operations import submit as submitting
from awa.operations.preview import preview
from awa.operations.runner import Runner
from awa.operations.submit import submit
from awa.sql import catalog
from tests.operations.kit import (
    Conn,
    add_jobs,
    add_scheduled,
    claim_jobs,
    run_to_end,
    value,
)
from tests.plans import aged

WHERE = {"kind": "work"}
SPEC = {"queue": "z"}
STATEMENT = "operations/submit_planned"
WAIT_S = 20.0


async def token_of(conn: Conn, where: Any = WHERE, spec: Any = SPEC, **more: Any) -> str:
    seen = await preview(conn, "move_queue", where, spec, **more)
    token = seen["plan_token"]
    assert isinstance(token, str)
    return token


async def submit_with(conn: Conn, token: str, **changed: Any) -> dict[str, Any]:
    asked = {"op_kind": "move_queue", "filter": WHERE, "spec": SPEC} | changed
    return await submit(conn, **asked, plan_token=token)


async def operations(conn: Conn) -> int:
    found: int = await value(conn, "SELECT count(*) FROM awa.batch_operations")
    return found


async def test_what_was_planned_is_submitted(conn: Conn) -> None:
    await add_jobs(conn, 12, queue="a")
    operation = await submit_with(conn, await token_of(conn))
    assert (operation["state"], operation["filter"], operation["spec"]) == ("pending", WHERE, SPEC)
    events = await value(conn, "SELECT count(*) FROM awa.batch_operation_events")
    assert (await operations(conn), events) == (1, 1)


async def test_it_is_carried_out_like_any_other(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 12, queue="a")
    await submit_with(conn, await token_of(conn))
    await run_to_end(runner)
    assert await value(conn, "SELECT count(*) FROM awa.jobs WHERE queue = 'z'") == 12


async def test_more_jobs_than_planned_are_refused_with_where_they_are(conn: Conn) -> None:
    await add_jobs(conn, 200, queue="a")
    await add_jobs(conn, 50, queue="b")
    token = await token_of(conn)
    await add_jobs(conn, 30, queue="b")
    await add_scheduled(conn, 5, queue="c")
    with pytest.raises(PlanDrifted) as refused:
        await submit_with(conn, token)
    assert refused.value.details == {
        "planned": 250,
        "now": 285,
        "difference": 35,
        "tolerance": 10,
        "planned_noop": 0,
        "now_noop": 0,
        "queues": [
            {"queue": "b", "planned": 50, "now": 80, "difference": 30},
            {"queue": "c", "planned": 0, "now": 5, "difference": 5},
        ],
        "states": [
            {"state": "available", "planned": 250, "now": 280, "difference": 30},
            {"state": "scheduled", "planned": 0, "now": 5, "difference": 5},
        ],
    }
    assert await operations(conn) == 0
    # Asked again, with the numbers of now, it goes through.
    await submit_with(conn, await token_of(conn))


async def test_fewer_jobs_than_planned_are_refused_as_well(conn: Conn) -> None:
    await add_jobs(conn, 100)
    token = await token_of(conn)
    await claim_jobs(conn, "default", 30)
    with pytest.raises(PlanDrifted, match="100 jobs planned, 70 now: 30 fewer in queue default"):
        await submit_with(conn, token)
    assert await operations(conn) == 0


async def test_a_few_more_or_fewer_are_the_same_deed(conn: Conn) -> None:
    await add_jobs(conn, 100)
    token = await token_of(conn)
    await add_jobs(conn, 10)
    await submit_with(conn, token)
    await add_jobs(conn, 1)
    with pytest.raises(PlanDrifted, match="100 jobs planned, 111 now"):
        await submit_with(conn, token)


async def test_of_a_handful_not_one_may_be_missing(conn: Conn) -> None:
    ids = await add_jobs(conn, 5)
    where = {"ids": ids}
    token = await token_of(conn, where)
    await submit_with(conn, token, filter=where)
    await claim_jobs(conn, "default", 1)
    with pytest.raises(PlanDrifted, match="5 jobs planned, 4 now"):
        await submit_with(conn, token, filter=where)


async def test_the_tolerance_is_that_of_who_submits(conn: Conn) -> None:
    await add_jobs(conn, 100)
    token = await token_of(conn)
    await add_jobs(conn, 1)
    with pytest.raises(PlanDrifted):
        await submit_with(conn, token, plan_limits=PlanLimits(drift_percent=0, drift_jobs=0))
    await add_jobs(conn, 49)
    await submit_with(conn, token, plan_limits=PlanLimits(drift_percent=50))


async def test_jobs_that_are_at_the_target_meanwhile_are_another_deed(
    conn: Conn, runner: Runner
) -> None:
    await add_jobs(conn, 100)
    token = await token_of(conn)
    await submit_with(conn, token)
    await run_to_end(runner)
    with pytest.raises(PlanDrifted, match="100 more at the target already"):
        await submit_with(conn, token)
    assert await operations(conn) == 1


@pytest.mark.parametrize(
    ("changed", "fields"),
    [
        ({"op_kind": "set_priority", "spec": {"priority": 1}}, {"op_kind", "spec"}),
        ({"filter": {"kind": "other"}}, {"filter"}),
        ({"filter": {}, "allow_all": True}, {"filter"}),
        ({"spec": {"queue": "y"}}, {"spec"}),
    ],
)
async def test_it_is_good_for_nothing_else(
    conn: Conn, changed: dict[str, Any], fields: set[str]
) -> None:
    await add_jobs(conn, 3)
    token = await token_of(conn)
    with pytest.raises(ValidationError) as refused:
        await submit_with(conn, token, **changed)
    assert {problem.field for problem in refused.value.fields} == fields
    assert await operations(conn) == 0


async def test_it_does_not_stand_for_the_word_that_all_are_meant(conn: Conn) -> None:
    await add_jobs(conn, 3)
    token = await token_of(conn, {})
    with pytest.raises(ValidationError, match="every job"):
        await submit_with(conn, token, filter={})
    await submit_with(conn, token, filter={}, allow_all=True)


async def test_one_that_was_changed_is_refused(conn: Conn) -> None:
    await add_jobs(conn, 3)
    token = await token_of(conn)
    for wrong in (token[:-4] + "AAAA", "awa1.e30.e30", ""):
        with pytest.raises(ValidationError) as refused:
            await submit_with(conn, wrong)
        assert [problem.field for problem in refused.value.fields] == ["plan_token"]
    assert await operations(conn) == 0


async def test_one_whose_time_is_over_is_refused(conn: Conn, database_url: str) -> None:
    await add_jobs(conn, 3)
    seen = await preview(conn, "move_queue", WHERE, SPEC)
    assert timedelta(minutes=59) < seen["plan_expires_at"] - datetime.now(UTC)
    assert seen["plan_expires_at"] - datetime.now(UTC) <= timedelta(minutes=60)
    token = aged(database_url, seen["plan_token"], timedelta(minutes=59))
    await submit_with(conn, token)
    token = aged(database_url, seen["plan_token"], timedelta(minutes=61))
    with pytest.raises(PlanExpired, match="was good until"):
        await submit_with(conn, token)
    assert await operations(conn) == 1


async def test_who_makes_it_says_how_long_it_is_good(conn: Conn, database_url: str) -> None:
    await add_jobs(conn, 3)
    token = await token_of(conn, plan_limits=PlanLimits(minutes=3))
    with pytest.raises(PlanExpired):
        await submit_with(conn, aged(database_url, token, timedelta(minutes=4)))


async def test_a_new_secret_makes_all_tokens_void(conn: Conn) -> None:
    await add_jobs(conn, 3)
    token = await token_of(conn)
    await conn.execute("UPDATE awa.plan_secret SET secret = DEFAULT")
    with pytest.raises(ValidationError, match="was not made by this database"):
        await submit_with(conn, token)
    await submit_with(conn, await token_of(conn))


async def test_a_repeated_submission_hears_of_the_first(conn: Conn, database_url: str) -> None:
    await add_jobs(conn, 3)
    token = await token_of(conn)
    first = await submit_with(conn, token, idempotency_key="k")
    await add_jobs(conn, 100)
    for again in (token, aged(database_url, token, timedelta(days=1))):
        assert (await submit_with(conn, again, idempotency_key="k"))["id"] == first["id"]
    with pytest.raises(Conflict, match="another request"):
        await submit_with(
            conn,
            await token_of(conn, spec={"queue": "y"}),
            spec={"queue": "y"},
            idempotency_key="k",
        )
    assert await operations(conn) == 1


async def test_without_a_token_nothing_is_counted(
    conn: Conn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submitting, "compile_filter", None)
    await add_jobs(conn, 3)
    assert (await submit(conn, "move_queue", WHERE, SPEC))["state"] == "pending"


async def test_what_cannot_be_counted_in_time_is_not_submitted(conn: Conn) -> None:
    await add_jobs(conn, 5_000)
    token = await token_of(conn)
    with pytest.raises(TooSlow, match="nothing was submitted"):
        await submit_with(conn, token, plan_max_ms=1)
    assert await operations(conn) == 0
    with pytest.raises(TooSlow, match="nothing was changed"):
        await preview(conn, "move_queue", WHERE, SPEC, max_ms=1)


async def blocked(conn: Conn, watcher: Conn) -> None:
    """Until the connection waits for a lock."""
    waiting = "SELECT cardinality(pg_blocking_pids(%s)) > 0"
    async with asyncio.timeout(WAIT_S):
        while True:
            if await value(watcher, waiting, conn.info.backend_pid):
                return


async def test_jobs_are_counted_in_the_snapshot_in_which_the_operation_is_recorded(
    conn: Conn, connect: Any
) -> None:
    await add_jobs(conn, 100)
    token = await token_of(conn)
    holder, watcher = await connect(), await connect()
    async with holder.transaction():
        # Recording has to wait: whoever counted before would not see what comes meanwhile.
        await holder.execute("LOCK TABLE awa.batch_operations IN EXCLUSIVE MODE")
        submission = asyncio.create_task(submit_with(conn, token))
        await blocked(conn, watcher)
        await add_jobs(watcher, 50)
    with pytest.raises(PlanDrifted, match="100 jobs planned, 150 now"):
        await submission
    assert await operations(conn) == 0


@pytest.mark.parametrize(
    "guard",
    [
        "AND abs(c.jobs - %(planned)s) <= %(tolerance)s",
        "AND abs((c.jobs - c.noop) - (%(planned)s - %(planned_noop)s)) <= %(tolerance)s",
    ],
)
async def test_each_condition_of_the_statement_is_needed(
    conn: Conn, monkeypatch: pytest.MonkeyPatch, guard: str, runner: Runner
) -> None:
    """With one of them taken out, what the proofs above look for happens: an operation is there in spite of the drift."""
    await add_jobs(conn, 100)
    token = await token_of(conn)
    if "noop" in guard:
        await submit_with(conn, token)
        await run_to_end(runner)
    else:
        # As many more as are at the target: only the population tells.
        await add_jobs(conn, 50, queue="z")
    before = await operations(conn)
    with pytest.raises(PlanDrifted):
        await submit_with(conn, token)
    assert await operations(conn) == before
    whole = catalog.text
    assert whole(STATEMENT).count(guard) == 1
    monkeypatch.setattr(catalog, "text", lambda name: whole(name).replace(guard, ""))
    with pytest.raises(PlanDrifted):
        await submit_with(conn, token)
    assert await operations(conn) == before + 1


async def test_previews_say_how_long_it_takes_and_what_is_there_already(conn: Conn) -> None:
    await add_jobs(conn, 60, queue="a")
    await add_jobs(conn, 40, queue="z")
    await add_jobs(conn, 20, queue="z", priority=1)
    seen = await preview(conn, "move_queue", WHERE, SPEC)
    assert (seen["total_matched"], seen["noop"]) == (120, 60)
    assert seen["estimate"] == {"duration_s": 0.003, "rate_per_s": 20_000.0, "measured": False}
    both = await preview(conn, "move_queue", WHERE, {"queue": "z", "priority": 1})
    assert (both["total_matched"], both["noop"]) == (120, 20)
    first = await preview(conn, "set_priority", WHERE, {"priority": 1})
    assert (first["total_matched"], first["noop"]) == (120, 20)


async def test_the_estimate_is_that_of_the_latest_operation_of_the_kind(conn: Conn) -> None:
    await add_jobs(conn, 100, queue="a")
    await conn.execute(
        "INSERT INTO awa.batch_operations (op_kind, filter, spec, state, processed, started_at, finalized_at, submitted_at) "
        "SELECT kind, '{}', '{}', 'completed', jobs, now(), now() + interval '10 s', now() - ago * interval '1 min' "
        "FROM (VALUES ('move_queue', 50000, 3), ('move_queue', 80000, 5), ('move_queue', 10, 1), ('set_priority', 90000, 2)) "
        "v(kind, jobs, ago)"
    )
    seen = await preview(conn, "move_queue", WHERE, SPEC)
    assert seen["estimate"] == {"duration_s": 0.02, "rate_per_s": 5_000.0, "measured": True}
