"""Nothing that is wrong gets in, and what gets in says who asked."""

from typing import Any, cast

import psycopg
import pytest

from awa.model.errors import Conflict, ValidationError
from awa.model.filter import JobFilter
from awa.operations import kinds, read
from awa.operations.submit import submit
from tests.operations.kit import Conn, value

FINE: dict[str, Any] = {
    "op_kind": "move_queue",
    "filter": {"queue": "a"},
    "spec": {"queue": "b"},
}


@pytest.mark.parametrize(
    ("changed", "field", "message"),
    [
        ({"op_kind": "set_prio"}, "op_kind", "unknown kind of operation 'set_prio', did you mean"),
        ({"op_kind": "drop"}, "op_kind", "unknown kind of operation 'drop', known are"),
        ({"op_kind": None}, "op_kind", "unknown kind of operation None"),
        ({"filter": {"queu": "a"}}, "queu", "unknown field 'queu', did you mean 'queue'?"),
        ({"filter": {"queue": 1}}, "queue", "expected a text, got int 1"),
        ({"filter": {"state": "running"}}, "state", "move_queue changes jobs that are scheduled,"),
        (
            {"filter": {"state": "completed"}},
            "state",
            "move_queue changes jobs that are scheduled,",
        ),
        (
            {"filter": {"finalized_at_gte": "2026-01-01T00:00:00Z"}},
            "finalized_at_gte",
            "move_queue changes waiting jobs",
        ),
        ({"filter": {}}, "filter", "is empty, and an operation without a filter touches every job"),
        ({"filter": None}, "filter", "is empty"),
        ({"filter": {"ids": []}}, "filter", "names no ids"),
        ({"spec": {}}, "queue", "is required"),
        ({"spec": None}, "spec", "expected an object, got NoneType"),
        ({"spec": {"queue": ""}}, "queue", "must not be empty"),
        ({"spec": {"queue": "x" * 201}}, "queue", "at most 200 characters, got 201"),
        ({"spec": {"queue": "b", "priority": 5}}, "priority", "must be between 1 and 4, got 5"),
        ({"spec": {"queue": "b", "prio": 1}}, "prio", "unknown field 'prio', did you mean"),
        ({"op_kind": "set_priority", "spec": {"priority": 0}}, "priority", "must be between 1 and"),
        ({"op_kind": "set_priority", "spec": {"priority": 5}}, "priority", "must be between 1 and"),
        (
            {"op_kind": "set_priority", "spec": {"priority": "1"}},
            "priority",
            "expected a whole num",
        ),
        ({"op_kind": "set_priority", "spec": {"priority": True}}, "priority", "expected a whole"),
        ({"op_kind": "set_priority", "spec": {"priority": 1.0}}, "priority", "expected a whole"),
        ({"op_kind": "set_priority", "spec": {}}, "priority", "is required"),
        ({"priority": 0}, "priority", "must be between 1 and 4, got 0"),
        ({"max_rows_per_second": 0}, "max_rows_per_second", "must be between 1 and"),
        ({"reason": "x" * 2_001}, "reason", "at most 2000 characters"),
        ({"actor": ""}, "actor", "must not be empty"),
        ({"idempotency_key": " "}, "idempotency_key", "must not be empty"),
    ],
)
async def test_what_is_wrong_is_refused_before_the_database_is_asked(
    changed: dict[str, Any], field: str, message: str
) -> None:
    nobody = cast("Conn", None)
    with pytest.raises(ValidationError) as refused:
        await submit(nobody, **(FINE | changed))
    (problem,) = refused.value.fields
    assert problem.field == field
    assert problem.message.startswith(message)


async def test_what_is_right_is_stored_as_it_was_meant(conn: Conn) -> None:
    operation = await submit(
        conn,
        "move_queue",
        {"queue": "a", "created_at_lt": "2026-06-01T00:00:00+02:00"},
        {"queue": "b", "priority": None},
        actor="ci",
        reason=" incident ",
        priority=1,
        max_rows_per_second=500,
    )
    assert operation["state"] == "pending"
    assert operation["filter"] == {"queue": "a", "created_at_lt": "2026-06-01T00:00:00+02:00"}
    assert operation["spec"] == {"queue": "b"}
    assert (operation["submitted_by"], operation["reason"]) == ("ci", "incident")
    assert (operation["priority"], operation["max_rows_per_second"]) == (1, 500)
    assert operation["total_matched"] is None
    assert operation["pending"] is None
    assert operation["totals"] == {}
    assert operation["retention_until"] is None


async def test_an_idempotency_key_submits_once(conn: Conn) -> None:
    first = await submit(conn, **FINE, idempotency_key="k1")
    again = await submit(conn, **FINE, idempotency_key="k1")
    assert again["id"] == first["id"]
    assert await value(conn, "SELECT count(*) FROM awa.batch_operations") == 1
    assert len(await read.events(conn, first["id"])) == 1
    with pytest.raises(Conflict) as refused:
        await submit(conn, **(FINE | {"spec": {"queue": "c"}}), idempotency_key="k1")
    assert refused.value.details == {"id": str(first["id"])}


SQL_CALL = "SELECT awa.submit_batch_operation(%s, %s::jsonb, %s::jsonb"


async def test_sql_submits_as_the_session_user(conn: Conn) -> None:
    await conn.execute("CREATE ROLE awa_test_operator")
    try:
        await conn.execute("SET ROLE awa_test_operator; RESET ROLE")
        submitted = await value(
            conn,
            SQL_CALL + ", reason => 'by hand')",
            "set_priority",
            '{"queue": "a"}',
            '{"priority": 1}',
        )
        operation = await read.get(conn, submitted)
        assert operation["submitted_by"] == await value(conn, "SELECT session_user")
        assert operation["reason"] == "by hand"
        (event,) = await read.events(conn, submitted)
        assert (event["to_state"], event["actor"]) == ("pending", operation["submitted_by"])
    finally:
        await conn.execute("DROP ROLE awa_test_operator")


SQL_REFUSALS = [
    (("drop", '{"queue": "a"}', "{}", ""), "unknown kind of operation 'drop'"),
    (("set_priority", '{"queu": "a"}', "{}", ""), "unknown field 'queu' in the filter"),
    (("set_priority", "{}", "{}", ""), "the filter is empty"),
    (("set_priority", '{"ids": []}', "{}", ""), "the filter is empty"),
    (("set_priority", "[]", "{}", ""), "filter and spec are JSON objects"),
    (("set_priority", '{"queue": "a"}', "1", ""), "filter and spec are JSON objects"),
    (("set_priority", '{"queue": "a"}', "{}", ", priority => 5"), "priority is 1"),
]


async def test_sql_refuses_what_sql_can_tell(conn: Conn) -> None:
    for (*given, more), message in SQL_REFUSALS:
        with pytest.raises(psycopg.errors.InvalidParameterValue) as refused:
            await value(conn, SQL_CALL + more + ")", *given)
        assert (refused.value.diag.message_primary or "").startswith(message)
    assert await value(conn, "SELECT count(*) FROM awa.batch_operations") == 0


async def test_sql_knows_the_kinds_and_fields_that_the_program_knows(conn: Conn) -> None:
    source = await value(conn, "SELECT prosrc FROM pg_proc WHERE proname = 'check_batch_operation'")
    for known in (*kinds.names(), *JobFilter.model_fields):
        assert known in source


async def test_a_key_submits_once_from_sql_too(conn: Conn) -> None:
    call = SQL_CALL + ", idempotency_key => 'k')"
    first = await value(conn, call, "set_priority", '{"queue": "a"}', '{"priority": 1}')
    assert await value(conn, call, "set_priority", '{"queue": "a"}', '{"priority": 1}') == first
    with pytest.raises(psycopg.errors.UniqueViolation):
        await value(conn, call, "set_priority", '{"queue": "b"}', '{"priority": 1}')
