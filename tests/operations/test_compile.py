"""One compiler: list, preview, scan and recheck see the same jobs for the same filter."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg import sql

from awa.db import run
from awa.model.filter import JobFilter
from awa.operations import control, read
from awa.operations.compile import CONDITIONS, compile_filter
from awa.operations.preview import preview
from awa.operations.run import PLACES, ROWS
from awa.operations.runner import Runner
from awa.operations.submit import submit
from tests.operations.kit import Conn, Row, add_jobs, claim_jobs, operate, rows, run_to_end

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


async def fill(conn: Conn) -> list[Row]:
    """Jobs of all sorts, and what awa.jobs says of them."""
    await add_jobs(
        conn, 3, queue="email", kind="send_email", tags=["a", "b"], args={"to": {"x": 1}}
    )
    await add_jobs(conn, 2, queue="email", kind="send_text", tags=["b", "c"], priority=1)
    await add_jobs(conn, 2, queue="bulk", kind="send_email", priority=4, args=[1, {"k": "v"}])
    await add_jobs(conn, 2, queue="bulk", kind="report", run_at=datetime(2100, 1, 1, tzinfo=UTC))
    await add_jobs(conn, 1, queue="bulk", kind="report", run_at=datetime(2101, 1, 1, tzinfo=UTC))
    await conn.execute(
        "UPDATE awa.deferred_jobs SET state = 'retryable', attempt = 2,"
        """ errors = '[{"attempt": 1, "error": "read timeout"}, {"attempt": 2, "error": "boom"}]'"""
        " WHERE run_at > '2100-06-01'"
    )
    return await rows(conn, "SELECT * FROM awa.jobs ORDER BY id")


CASES: list[tuple[dict[str, Any], Callable[[Row], bool]]] = [
    ({"kind": "send_email"}, lambda j: j["kind"] == "send_email"),
    ({"kinds": ["report", "send_text"]}, lambda j: j["kind"] in {"report", "send_text"}),
    ({"kind_prefix": "send_"}, lambda j: j["kind"].startswith("send_")),
    ({"kind_prefix": "send%"}, lambda j: False),
    ({"queue": "email"}, lambda j: j["queue"] == "email"),
    ({"queues": ["email", "none"]}, lambda j: j["queue"] == "email"),
    ({"ids": [1, 4, 9, 999]}, lambda j: j["id"] in {1, 4, 9}),
    ({"tag": "b"}, lambda j: "b" in j["tags"]),
    ({"tags_any": ["a", "c"]}, lambda j: bool({"a", "c"} & set(j["tags"]))),
    ({"tags_all": ["b", "c"]}, lambda j: {"b", "c"} <= set(j["tags"])),
    ({"tags_none": ["a"]}, lambda j: "a" not in j["tags"]),
    ({"state": "available"}, lambda j: j["state"] == "available"),
    ({"state": "scheduled"}, lambda j: j["state"] == "scheduled"),
    ({"state": "retryable"}, lambda j: j["state"] == "retryable"),
    ({"priority": 4}, lambda j: j["priority"] == 4),
    ({"attempt_gte": 1}, lambda j: j["attempt"] >= 1),
    ({"attempt_lt": 2}, lambda j: j["attempt"] < 2),
    ({"run_at_gte": "2100-06-01T00:00:00Z"}, lambda j: j["run_at"].year > 2100),
    ({"run_at_lt": "2100-06-01T00:00:00Z"}, lambda j: j["run_at"].year <= 2100),
    ({"created_at_gte": NOON - timedelta(days=36_500)}, lambda j: True),
    ({"created_at_lt": NOON - timedelta(days=36_500)}, lambda j: False),
    ({"error_contains": "timeout"}, lambda j: j["state"] == "retryable"),
    ({"error_contains": "TIMEOUT"}, lambda j: False),
    ({"args_contains": {"to": {"x": 1}}}, lambda j: j["args"] == {"to": {"x": 1}}),
    ({"args_contains": [{"k": "v"}]}, lambda j: j["args"] == [1, {"k": "v"}]),
    ({"queue": "bulk", "kind": "send_email", "priority": 4}, lambda j: j["id"] in {6, 7}),
    ({"queue": "email", "kind": "report"}, lambda j: False),
    ({"ids": []}, lambda j: False),
    ({}, lambda j: True),
]


async def selected(conn: Conn, relation: str, given: dict[str, Any]) -> list[int]:
    """Ids in a relation that the compiled filter selects."""
    predicate = compile_filter(JobFilter.parse(given))
    statement = run.statement("operations/preview_sample").format(
        filter=predicate.sql, waiting=sql.SQL(relation)
    )
    found = await run.rows_of(conn, statement, predicate.params | {"limit": 1000})
    return [row["id"] for row in found]


async def scanned(conn: Conn, runner: Runner, given: dict[str, Any]) -> list[int]:
    """Ids that a scan lists; the operation is then cancelled, so that nothing changes."""
    submitted = await submit(conn, "set_priority", given, {"priority": 1}, allow_all=True)
    while (await read.get(conn, submitted["id"]))["state"] != "running":
        await runner.step()
    await control.cancel(conn, submitted["id"])
    await run_to_end(runner)
    items, _ = await read.items_page(conn, submitted["id"])
    return [item["job_id"] for item in items]


async def rechecked(conn: Conn, given: dict[str, Any], ids: list[int]) -> list[int]:
    """Ids that a chunk over these jobs would still change; rolled back."""
    predicate = compile_filter(JobFilter.parse(given), recheck=True)
    apply = sql.SQL(
        "SELECT unnest(ids) AS job_id, 'processed' AS state, NULL AS reason, NULL AS error, NULL::jsonb AS before,"
        " NULL::int AS lane_id, NULL::bigint AS lane_seq, NULL::smallint AS slot, NULL::smallint AS attempt FROM chosen"
    )
    recheck = run.statement(PLACES if predicate.asks_for_places_only else ROWS)
    statement = run.statement("operations/change").format(
        filter=predicate.sql, apply=apply, rows=recheck
    )
    submitted = await submit(conn, "set_priority", given, {"priority": 1}, allow_all=True)
    add = "INSERT INTO awa.batch_operation_items (operation_id, job_id) SELECT %s, unnest(%s::bigint[])"
    params: dict[str, Any] = {"id": submitted["id"], "after": 0, "cursor": None, "runner": None}
    async with conn.transaction(force_rollback=True):
        await conn.execute(add, [submitted["id"], ids])
        picked = await run.row(conn, "operations/pick", params | {"rows": 100, "walk": 100})
        assert picked is not None
        await run.rows_of(conn, statement, params | picked | predicate.params | {"pause_s": None})
        items, _ = await read.items_page(conn, submitted["id"], outcome="processed")
    await control.cancel(conn, submitted["id"])
    return [item["job_id"] for item in items]


async def test_list_preview_scan_and_recheck_see_the_same_jobs(conn: Conn, runner: Runner) -> None:
    jobs = await fill(conn)
    everything = [job["id"] for job in jobs]
    for given, holds in CASES:
        expected = [job["id"] for job in jobs if holds(job)]
        for relation in ("awa.jobs", "awa.waiting_jobs", "awa.waiting_backlog"):
            assert await selected(conn, relation, given) == expected, (relation, given)
        seen = await preview(conn, "set_priority", given, {"priority": 1})
        assert seen["total_matched"] == len(expected), given
        assert [job["id"] for job in seen["sample"]] == expected[:10], given
        assert await scanned(conn, runner, given) == expected, given
        admitted = await rechecked(conn, given, everything)
        if given.get("state") in {"scheduled", "retryable"}:
            expected = [job["id"] for job in jobs if holds(job) or job["state"] == "available"]
        assert admitted == expected, given


async def test_finalized_at_selects_jobs_that_ended(conn: Conn) -> None:
    (failed,) = await add_jobs(conn, 1)
    await add_jobs(conn, 1)
    (job,) = await claim_jobs(conn, "default", 1)
    assert job.job_id == failed
    await conn.execute(
        "SELECT * FROM awa.finish((SELECT id FROM awa.runtimes),"
        " ARRAY[%s], ARRAY[%s::bigint], ARRAY[%s::bigint], ARRAY['cancelled'])",
        [job.lane_id, job.claim_no, job.lane_seq],
    )
    assert await selected(conn, "awa.jobs", {"finalized_at_gte": "2020-01-01T00:00:00Z"}) == [
        failed
    ]
    assert await selected(conn, "awa.jobs", {"finalized_at_lt": "2020-01-01T00:00:00Z"}) == []


def test_every_field_of_the_filter_has_a_condition_and_a_cost() -> None:
    assert set(CONDITIONS) == set(JobFilter.model_fields)
    assert all(condition.note for condition in CONDITIONS.values())


def test_ids_do_not_travel_with_every_chunk() -> None:
    given = JobFilter.parse({"ids": [1, 2], "queue": "a"})
    assert set(compile_filter(given).params) == {"f_ids", "f_queue"}
    assert set(compile_filter(given, ids=False).params) == {"f_queue"}
    nothing = JobFilter.parse({"ids": []})
    assert compile_filter(nothing, ids=False) == compile_filter(nothing)


def test_the_cost_is_an_index_if_one_field_narrows() -> None:
    assert compile_filter(JobFilter.parse({"queue": "a", "tag": "b"})).cost == "index"
    assert compile_filter(JobFilter.parse({"tag": "b"})).cost == "scan"
    assert compile_filter(JobFilter.parse({})).cost == "scan"
    assert compile_filter(JobFilter.parse({"ids": []})).cost == "index"


async def test_arguments_that_jsonb_cannot_hold_match_nothing_and_break_nothing(
    conn: Conn, runner: Runner
) -> None:
    await conn.execute("""SELECT awa.enqueue('odd', '{"a": "\\u0000"}')""")
    await conn.execute("""SELECT awa.enqueue('odd', '{"a": 1e999999}')""")
    await conn.execute("""SELECT awa.enqueue('fine', '{"a": 1}')""")
    done = await operate(conn, runner, "set_priority", {"priority": 1}, {"args_contains": {"a": 1}})
    assert (done["state"], done["processed"]) == ("completed", 1)


async def test_values_are_never_text_of_the_statement(conn: Conn) -> None:
    await add_jobs(conn, 1, queue="a")
    for value in ("' OR true --", "{filter}", "%(f_queue)s", "$1", "\\", 'x"'):
        for field in ("queue", "kind", "kind_prefix", "tag", "error_contains"):
            assert await selected(conn, "awa.jobs", {field: value}) == []
