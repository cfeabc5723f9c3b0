"""Pause, resume, pace and the switch over HTTP: what is answered, who is recorded, who is refused."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from psycopg import AsyncConnection

from tests.api.conftest import MOVE, TOKENS, Ask, error_of, fields_of


async def submitted(api: httpx.AsyncClient, **more: Any) -> str:
    """The path of a new operation."""
    answer = await api.post("/api/batch-ops", json=MOVE | more)
    assert answer.status_code == 201, answer.text
    return f"/api/batch-ops/{answer.json()['id']}"


async def asked(api: httpx.AsyncClient, path: str, **body: Any) -> dict[str, Any]:
    answer = await api.patch(path, json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_an_operation_is_paused_and_goes_on_where_it_was(
    ask: Ask, conn: AsyncConnection[Any]
) -> None:
    api = ask(tokens=TOKENS, token="operator")
    path = await submitted(api)
    await conn.execute("UPDATE awa.batch_operations SET state = 'scanning'")
    paused = await asked(api, path, state="paused", reason="too fast")
    assert (paused["state"], paused["paused_from"]) == ("paused", "scanning")
    assert (paused["paused_by"], paused["paused_reason"]) == ("deploy", "too fast")
    assert (await api.get("/api/batch-ops?state=paused")).json()["items"][0]["id"] in path
    resumed = await asked(api, path, state="running")
    assert (resumed["state"], resumed["paused_by"]) == ("scanning", None)
    assert (await asked(api, path, state="cancelling"))["state"] == "cancelling"


async def test_rate_and_priority_are_changed_alone_or_with_the_state(
    api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    path = await submitted(api, max_rows_per_second=100, priority=3)
    changed = await asked(api, path, max_rows_per_second=500)
    assert (changed["max_rows_per_second"], changed["priority"]) == (500, 3)
    changed = await asked(api, path, state="paused", priority=1, max_rows_per_second=None)
    assert (changed["state"], changed["priority"]) == ("paused", 1)
    assert changed["max_rows_per_second"] is None
    found = await conn.execute("SELECT changes FROM awa.batch_operation_events ORDER BY id")
    assert [row[0] for row in await found.fetchall()] == [
        None,
        {"max_rows_per_second": [100, 500]},
        {"max_rows_per_second": [500, None], "priority": [3, 1]},
        None,
    ]


async def test_what_cannot_be_done_changes_nothing_else_either(api: httpx.AsyncClient) -> None:
    path = await submitted(api)
    error_of(await api.patch(path, json={"state": "running", "priority": 1}), 409, "conflict")
    assert (await api.get(path)).json()["priority"] == 2


@pytest.mark.parametrize("state", ["paused", "running"])
@pytest.mark.parametrize("present", ["completed", "failed", "cancelled", "cancelling"])
async def test_a_wrong_move_is_a_conflict_that_names_the_present_state(
    api: httpx.AsyncClient, conn: AsyncConnection[Any], present: str, state: str
) -> None:
    path = await submitted(api)
    await conn.execute("UPDATE awa.batch_operations SET state = %s", (present,))
    error = error_of(await api.patch(path, json={"state": state}), 409, "conflict")
    assert error["details"]["state"] == present
    error = error_of(await api.patch(path, json={"priority": 1}), 409, "conflict")
    assert error["details"]["state"] == present


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"state": "completed"}, "state"),
        ({"state": None}, "state"),
        ({}, "state"),
        ({"reason": "why"}, "state"),
        ({"max_rows_per_second": 5, "state": "cancelling"}, "max_rows_per_second"),
        ({"priority": 1, "state": "cancelling"}, "priority"),
        ({"max_rows_per_second": 0}, "max_rows_per_second"),
        ({"max_rows_per_second": 1_000_001}, "max_rows_per_second"),
        ({"max_rows_per_second": "5"}, "max_rows_per_second"),
        ({"max_rows_per_second": True}, "max_rows_per_second"),
        ({"priority": 5}, "priority"),
        ({"state": "paused", "actor": "root"}, "actor"),
    ],
)
async def test_what_makes_no_sense_is_refused_by_name(
    api: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    path = await submitted(api)
    assert fields_of(await api.patch(path, json=body)) == {field}


async def test_terms_can_be_given_on_submit(api: httpx.AsyncClient) -> None:
    terms = {
        "priority": 1,
        "max_rows_per_second": 500,
        "not_before": "2999-01-01T00:00:00Z",
        "max_jobs": 10,
    }
    found = (await api.get(await submitted(api, **terms))).json()
    assert {name: found[name] for name in terms} | {"not_before": None} == terms | {
        "not_before": None
    }
    assert found["not_before"].startswith("2999-01-01T00:00:00")
    for wrong in ({"max_jobs": 0}, {"not_before": "2999-01-01"}, {"priority": 0}):
        answer = await api.post("/api/batch-ops", json=MOVE | wrong)
        assert fields_of(answer) == set(wrong)


async def test_the_switch_holds_and_releases_all(ask: Ask) -> None:
    api = ask(tokens=TOKENS, token="operator")
    assert (await api.get("/api/batch-ops/hold")).json()["held"] is False
    answer = await api.post("/api/batch-ops/hold", json={"reason": "replica"})
    assert answer.status_code == 200, answer.text
    held = answer.json()
    assert (held["held"], held["held_by"], held["reason"]) == (True, "deploy", "replica")
    assert (await api.get("/api/batch-ops/hold")).json() == held
    error = error_of(await api.post("/api/batch-ops/hold"), 409, "conflict")
    assert (error["details"]["held_by"], error["details"]["reason"]) == ("deploy", "replica")
    assert (await api.get("/readyz")).status_code == 200
    await submitted(api)  # it waits
    assert (await api.post("/api/batch-ops/release")).json()["held"] is False
    error_of(await api.post("/api/batch-ops/release"), 409, "conflict")


@pytest.mark.parametrize("path", ["/api/batch-ops/hold", "/api/batch-ops/release", ""])
async def test_who_may_only_look_steers_nothing(ask: Ask, path: str) -> None:
    for api, code in (
        (ask(read_only=True), "read_only"),
        (ask(tokens=TOKENS, token="viewer"), "forbidden"),
    ):
        if path:
            error_of(await api.post(path), 403, code)
            assert (await api.get("/api/batch-ops/hold")).status_code == 200
        else:
            for body in ({"state": "paused"}, {"state": "running"}, {"priority": 1}):
                answer = await api.patch(f"/api/batch-ops/{uuid4()}", json=body)
                error_of(answer, 403, code)


async def test_unknown_operations_are_not_found(api: httpx.AsyncClient) -> None:
    for wanted in (uuid4(), "no-id"):
        for body in ({"state": "paused"}, {"state": "running"}, {"max_rows_per_second": 5}):
            answer = await api.patch(f"/api/batch-ops/{wanted}", json=body)
            error_of(answer, 404, "not_found")
