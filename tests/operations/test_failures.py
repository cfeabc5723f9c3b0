"""A bad row stands alone, a busy database costs nobody anything, a hopeless operation blocks nobody."""

from typing import Any

import psycopg
import pytest

from awa.db.pool import Pool
from awa.model.errors import AwaError, DatabaseError
from awa.operations import read
from awa.operations.failures import Failure, judge, sqlstate
from awa.operations.runner import Runner
from awa.operations.submit import submit
from tests.operations.kit import (
    Conn,
    add_jobs,
    add_scheduled,
    check_sums,
    jobs_by,
    new_runner,
    run_to_end,
    value,
)


async def break_jobs(conn: Conn, condition: str, *, errcode: str = "P0001") -> None:
    """Let the change of the jobs that meet a condition fail, wherever they wait."""
    body = f"""
        CREATE FUNCTION break_jobs() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF {condition} THEN RAISE EXCEPTION 'job % is broken', NEW.job_id USING ERRCODE = '{errcode}'; END IF;
            RETURN NEW;
        END $$;
        CREATE TRIGGER broken BEFORE INSERT OR UPDATE ON awa.deferred_jobs
            FOR EACH ROW EXECUTE FUNCTION break_jobs();
        CREATE TRIGGER broken BEFORE INSERT OR UPDATE ON awa.ready_entries
            FOR EACH ROW EXECUTE FUNCTION break_jobs();
    """
    await conn.execute(body)


async def finish(conn: Conn, runner: Runner, **more: Any) -> dict[str, Any]:
    """Submit a set_priority for all jobs of kind work and run it to its end."""
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1}, **more)
    await run_to_end(runner)
    return await check_sums(conn, submitted["id"])


async def test_bad_rows_are_errored_and_the_rest_goes_through(conn: Conn, runner: Runner) -> None:
    ready = await add_jobs(conn, 150)
    later = await add_scheduled(conn, 50)
    bad = [ready[0], ready[77], ready[78], later[-1]]
    await break_jobs(conn, f"NEW.job_id IN ({', '.join(map(str, bad))})")
    done = await finish(conn, runner)
    assert done["state"] == "completed"
    assert done["totals"] == {"processed": {"changed": 196}, "errored": {"failed": 4}}
    assert done["last_error"] == f"job {later[-1]}: job {later[-1]} is broken"
    items, _ = await read.items_page(conn, done["id"], outcome="errored")
    assert [item["job_id"] for item in items] == bad
    assert [item["error"] for item in items] == [f"job {job_id} is broken" for job_id in bad]
    assert await jobs_by(conn, "priority") == {1: 196, 2: 4}


async def test_a_single_bad_row_does_not_take_many_tries(conn: Conn, pool: Pool) -> None:
    # So much time for a chunk that the machine's speed has no say in its size.
    runner = await new_runner(conn, pool, batch_chunk_ms=10_000)
    ids = await add_jobs(conn, 1_000)
    await break_jobs(conn, f"NEW.job_id = {ids[600]}")
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    steps = await run_to_end(runner)
    assert (await check_sums(conn, submitted["id"]))["errored"] == 1
    assert steps < 150


async def test_the_error_budget_is_more_than_half_of_at_least_fifty(
    conn: Conn, runner: Runner
) -> None:
    await add_jobs(conn, 49)
    await break_jobs(conn, "true")
    done = await finish(conn, runner)
    assert (done["state"], done["errored"]) == ("completed", 49)


async def test_an_operation_whose_error_budget_is_spent_fails(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 79)
    await break_jobs(conn, "true")
    done = await finish(conn, runner)
    assert done["state"] == "failed"
    assert (done["errored"], done["pending"]) == (50, 29)
    assert done["last_error"].startswith(
        "error budget spent: 50 of 50 items errored; the last: job"
    )
    assert done["retention_until"] is not None
    events = await read.events(conn, done["id"])
    assert events[-1]["reason"] == done["last_error"]


async def test_half_of_the_items_may_error(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 60)
    await break_jobs(conn, "NEW.job_id % 2 = 0")
    done = await finish(conn, runner)
    assert (done["state"], done["processed"], done["errored"]) == ("completed", 30, 30)


@pytest.mark.parametrize("errcode", ["40001", "40P01", "55P03", "57014"])
async def test_a_busy_database_is_never_an_outcome(
    conn: Conn, runner: Runner, errcode: str
) -> None:
    await add_jobs(conn, 150)
    await conn.execute("CREATE SEQUENCE tries")
    await break_jobs(conn, "nextval('tries') <= 3", errcode=errcode)
    done = await finish(conn, runner)
    assert (done["state"], done["processed"], done["errored"]) == ("completed", 150, 0)
    assert done["last_error"] is None
    assert await value(conn, "SELECT last_value FROM tries") > 150


async def test_a_filter_that_makes_no_sense_fails_before_any_job_is_touched(
    conn: Conn, runner: Runner
) -> None:
    await add_jobs(conn, 3)
    for filter_, spec, message in [
        (
            '{"priority": 9}',
            '{"priority": 1}',
            "the filter is not valid: priority: must be at most 4",
        ),
        (
            '{"queue": "default"}',
            '{"priority": 9}',
            "the spec is not valid: priority: must be between",
        ),
        ('{"state": "running"}', '{"priority": 1}', "state: set_priority changes jobs that are"),
    ]:
        submitted = await value(
            conn,
            "SELECT awa.submit_batch_operation('set_priority', %s::jsonb, %s::jsonb)",
            filter_,
            spec,
        )
        await run_to_end(runner)
        done = await check_sums(conn, submitted)
        assert done["state"] == "failed"
        assert done["last_error"].startswith(message)
    assert await jobs_by(conn, "priority") == {2: 3}


async def test_a_kind_that_this_program_does_not_know_fails(conn: Conn, runner: Runner) -> None:
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    await conn.execute("UPDATE awa.batch_operations SET op_kind = 'teleport'")
    await run_to_end(runner)
    done = await read.get(conn, submitted["id"])
    assert done["state"] == "failed"
    assert "unknown kind of operation 'teleport'" in done["last_error"]


async def test_a_spec_that_became_unreadable_fails_under_way(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 300)
    submitted = await submit(conn, "set_priority", {"kind": "work"}, {"priority": 1})
    while (await read.get(conn, submitted["id"]))["processed"] == 0:
        await runner.step()
    await conn.execute("""UPDATE awa.batch_operations SET spec = '{"priority": 7}'""")
    await run_to_end(runner)
    done = await check_sums(conn, submitted["id"])
    assert done["state"] == "failed"
    assert done["pending"] > 0


async def test_a_hopeless_operation_blocks_nobody(conn: Conn, runner: Runner) -> None:
    await add_jobs(conn, 3, queue="a")
    await add_jobs(conn, 3, queue="b", priority=4)
    hopeless = await submit(conn, "set_priority", {"queue": "a"}, {"priority": 1}, priority=1)
    fine = await submit(conn, "set_priority", {"queue": "b"}, {"priority": 1}, priority=4)
    await break_jobs(conn, "NEW.priority_ > 0 AND NEW.slot = 0", errcode="42883")
    await conn.execute("DROP TRIGGER broken ON awa.deferred_jobs")
    await run_to_end(runner)
    assert (await check_sums(conn, hopeless["id"]))["state"] == "failed"
    assert (await check_sums(conn, fine["id"]))["state"] == "failed"


def _failed(state: str | None) -> AwaError:
    cause = psycopg.errors.lookup(state)("x") if state else psycopg.OperationalError("gone")
    error = DatabaseError("x")
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("state", "verdict"),
    [
        ("40001", Failure.TRY_AGAIN),
        ("40P01", Failure.TRY_AGAIN),
        ("55P03", Failure.TRY_AGAIN),
        ("57014", Failure.TRY_AGAIN),
        ("23505", Failure.BAD_ROW),
        ("22003", Failure.BAD_ROW),
        ("P0001", Failure.BAD_ROW),
        ("42P01", Failure.HOPELESS),
        ("42501", Failure.HOPELESS),
        ("0A000", Failure.HOPELESS),
        ("53100", Failure.NO_DATABASE),
        ("57P01", Failure.NO_DATABASE),
        ("08006", Failure.NO_DATABASE),
        ("25006", Failure.NO_DATABASE),
        ("XX000", Failure.NO_DATABASE),
        (None, Failure.NO_DATABASE),
    ],
)
def test_only_the_data_itself_may_be_an_items_outcome(state: str | None, verdict: Failure) -> None:
    assert sqlstate(_failed(state)) == state
    assert judge(_failed(state)) is verdict
