"""Batch operations over HTTP: what an operator's program sends and sees."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from psycopg import AsyncConnection

from awa.model.operation import OPERATION_COLUMNS
from tests.api.conftest import MOVE, TOKENS, Ask, error_of, fields_of


@pytest.fixture
async def jobs(conn: AsyncConnection[Any]) -> list[int]:
    """Three jobs of the queue `email`, and one of another."""
    found = await conn.execute(
        "SELECT awa.enqueue('send', queue => q) FROM unnest('{email,email,email,other}'::text[]) q"
    )
    return [row[0] for row in await found.fetchall()]


async def operations(conn: AsyncConnection[Any]) -> int:
    found = await (await conn.execute("SELECT count(*) FROM awa.batch_operations")).fetchone()
    assert found is not None
    return int(found[0])


async def submitted(api: httpx.AsyncClient, **more: Any) -> dict[str, Any]:
    answer = await api.post("/api/batch-ops", json=MOVE | more)
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_preview_counts_and_samples_and_changes_nothing(
    api: httpx.AsyncClient, jobs: list[int], conn: AsyncConnection[Any]
) -> None:
    answer = await api.post("/api/batch-ops/preview", json=MOVE)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["total_matched"] == 3
    assert [job["id"] for job in found["sample"]] == jobs[:3]
    assert set(found["sample"][0]) >= {"id", "kind", "queue", "state"}
    assert await operations(conn) == 0


async def test_submit_answers_with_the_whole_operation(
    api: httpx.AsyncClient, jobs: list[int]
) -> None:
    found = await submitted(api, reason="mail provider is down")
    assert str(UUID(found["id"])) == found["id"]
    assert set(found) >= set(OPERATION_COLUMNS)
    assert found["state"] == "pending"
    assert found["submitted_by"] == "local"
    assert found["reason"] == "mail provider is down"
    assert found["filter"] == MOVE["filter"]
    assert found["spec"] == MOVE["spec"]


async def test_submit_and_get_say_the_same(api: httpx.AsyncClient) -> None:
    found = await submitted(api)
    answer = await api.get(f"/api/batch-ops/{found['id']}")
    assert answer.status_code == 200
    assert answer.json() == found


async def test_the_submitter_is_the_token_s_holder_and_never_a_field(
    ask: Ask, conn: AsyncConnection[Any]
) -> None:
    api = ask(tokens=TOKENS, token="operator")
    assert (await submitted(api))["submitted_by"] == "deploy"
    answer = await api.post("/api/batch-ops", json=MOVE | {"submitted_by": "root"})
    assert fields_of(answer) == {"submitted_by"}
    assert await operations(conn) == 1


async def test_an_empty_filter_needs_a_word(
    api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    everything = MOVE | {"filter": {}}
    assert fields_of(await api.post("/api/batch-ops", json=everything)) == {"filter"}
    nothing = MOVE | {"filter": {"ids": []}}
    assert fields_of(await api.post("/api/batch-ops", json=nothing)) == {"filter"}
    assert await operations(conn) == 0
    assert (await api.post("/api/batch-ops/preview", json=everything)).status_code == 200
    assert (await submitted(api, filter={}, all=True))["filter"] == {}
    assert (await submitted(api, filter={}, allow_all=True))["filter"] == {}


async def test_a_submission_can_be_repeated_under_its_key(
    api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    first = await submitted(api, idempotency_key="incident-7")
    assert (await submitted(api, idempotency_key="incident-7"))["id"] == first["id"]
    other = MOVE | {"spec": {"queue": "elsewhere"}, "idempotency_key": "incident-7"}
    error = error_of(await api.post("/api/batch-ops", json=other), 409, "conflict")
    assert error["details"] == {"id": first["id"]}
    assert await operations(conn) == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"op_kind": "set_prioritty"}, "op_kind"),
        ({"op_kind": 7}, "op_kind"),
        ({"filter": {"queu": "email"}}, "queu"),
        ({"filter": {"state": "completed"}}, "state"),
        ({"filter": {"state": "nowhere"}}, "state"),
        ({"filter": {"queue": 7}}, "queue"),
        ({"filter": {"queue": ""}}, "queue"),
        ({"filter": {"ids": ["1"]}}, "ids[0]"),
        ({"filter": {"ids": [2**63]}}, "ids[0]"),
        ({"filter": {"created_at_gte": "2026-06-01T00:00:00"}}, "created_at_gte"),
        (
            {
                "filter": {
                    "created_at_gte": "2026-06-02T00:00:00Z",
                    "created_at_lt": "2026-06-01T00:00:00Z",
                }
            },
            "created_at_gte",
        ),
        ({"filter": []}, "filter"),
        ({"filter": None}, "filter"),
        ({"spec": {"queue": "x" * 201}}, "queue"),
        ({"spec": {"queue": "x", "priority": 5}}, "priority"),
        ({"spec": {"queue": "x", "priority": 0}}, "priority"),
        ({"spec": {}}, "queue"),
        ({"spec": "x"}, "spec"),
        ({"filtr": {}}, "filtr"),
    ],
)
@pytest.mark.parametrize("path", ["/api/batch-ops", "/api/batch-ops/preview"])
async def test_wrong_input_is_refused_by_name(
    api: httpx.AsyncClient,
    conn: AsyncConnection[Any],
    path: str,
    change: dict[str, Any],
    field: str,
) -> None:
    answer = await api.post(path, json=MOVE | change)
    assert {name.removeprefix("filter.").removeprefix("spec.") for name in fields_of(answer)} == {
        field
    }
    assert await operations(conn) == 0


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"all": "yes"}, "all"),
        ({"reason": "x" * 2_001}, "reason"),
        ({"reason": 7}, "reason"),
        ({"idempotency_key": ""}, "idempotency_key"),
    ],
)
async def test_what_only_submit_takes_is_checked_as_well(
    api: httpx.AsyncClient, change: dict[str, Any], field: str
) -> None:
    assert fields_of(await api.post("/api/batch-ops", json=MOVE | change)) == {field}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ([], "body: expected an object"),
        (MOVE | {"filter": []}, "filter: expected an object"),
        (MOVE | {"op_kind": 3}, "op_kind: expected a text"),
        (MOVE | {"all": "yes"}, "all: expected true or false"),
    ],
)
async def test_a_value_of_the_wrong_type_is_told_what_was_expected(
    api: httpx.AsyncClient, body: object, told: str
) -> None:
    answer = await api.post("/api/batch-ops", json=body)
    assert error_of(answer, 422, "invalid")["message"] == told


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("limit=0", "limit: must be at least 1"),
        ("limit=1001", "limit: must be at most 1000"),
        ("limit=ten", "limit: expected a whole number"),
        ("state=nowhere", "state: expected 'pending', 'scanning', "),
    ],
)
async def test_a_wrong_parameter_is_told_what_was_expected(
    api: httpx.AsyncClient, query: str, told: str
) -> None:
    answer = await api.get(f"/api/batch-ops?{query}")
    assert error_of(answer, 422, "invalid")["message"].startswith(told)


async def test_a_misspelt_field_is_told_the_right_one(api: httpx.AsyncClient) -> None:
    answer = await api.post("/api/batch-ops", json=MOVE | {"filter": {"queu": "email"}})
    assert "did you mean 'queue'" in error_of(answer, 422, "invalid")["message"]
    answer = await api.post("/api/batch-ops", json=MOVE | {"reasn": "…"})
    assert "did you mean 'reason'" in error_of(answer, 422, "invalid")["message"]


async def test_pages_go_by_key_and_meet_each_operation_once(api: httpx.AsyncClient) -> None:
    expected = [(await submitted(api))["id"] for _ in range(5)][::-1]
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(3):
        params = {"limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = (await api.get("/api/batch-ops", params=params)).json()
        assert set(page) == {"items", "next_cursor"}
        seen += [one["id"] for one in page["items"]]
        await submitted(api)  # what comes meanwhile does not move the pages
        cursor = page["next_cursor"]
    assert seen == expected
    assert cursor is None


async def test_the_list_can_be_narrowed_to_a_state(api: httpx.AsyncClient) -> None:
    waiting, ended = (await submitted(api))["id"], (await submitted(api))["id"]
    await api.patch(f"/api/batch-ops/{ended}", json={"state": "cancelling"})
    page = (await api.get("/api/batch-ops", params={"state": "pending"})).json()
    assert [one["id"] for one in page["items"]] == [waiting]
    page = (await api.get("/api/batch-ops", params={"state": "running"})).json()
    assert page == {"items": [], "next_cursor": None}


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("state=nowhere", "state"),
        ("state=", "state"),
        ("limit=0", "limit"),
        ("limit=1001", "limit"),
        ("limit=ten", "limit"),
        ("cursor=nonsense", "cursor"),
        ("cursor=%FF%FF", "cursor"),
        ("cursor=%00", "cursor"),
        ("stat=running", "stat"),
        ("limit=1&limit=2", "limit"),
    ],
)
async def test_a_wrong_query_is_refused_by_name(
    api: httpx.AsyncClient, query: str, field: str
) -> None:
    assert fields_of(await api.get(f"/api/batch-ops?{query}")) == {field}


async def test_an_operation_that_has_not_begun_is_cancelled_at_once(
    api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    found = await submitted(api)
    answer = await api.patch(
        f"/api/batch-ops/{found['id']}", json={"state": "cancelling", "reason": "a mistake"}
    )
    assert answer.status_code == 200, answer.text
    assert answer.json()["state"] == "cancelled"
    events = await conn.execute(
        "SELECT actor, from_state, to_state, reason FROM awa.batch_operation_events ORDER BY id DESC LIMIT 1"
    )
    assert await events.fetchone() == ("local", "pending", "cancelled", "a mistake")


async def test_an_operation_under_way_is_asked_to_stop(
    api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    found = await submitted(api)
    await conn.execute("UPDATE awa.batch_operations SET state = 'running'")
    answer = await api.patch(f"/api/batch-ops/{found['id']}", json={"state": "cancelling"})
    assert answer.json()["state"] == "cancelling"


@pytest.mark.parametrize("state", ["completed", "failed", "cancelled", "cancelling"])
async def test_a_second_cancel_is_a_conflict_that_names_the_present_state(
    api: httpx.AsyncClient, conn: AsyncConnection[Any], state: str
) -> None:
    found = await submitted(api)
    await conn.execute("UPDATE awa.batch_operations SET state = %s", (state,))
    answer = await api.patch(f"/api/batch-ops/{found['id']}", json={"state": "cancelling"})
    error = error_of(answer, 409, "conflict")
    assert error["details"]["state"] == state
    assert state in error["message"]


async def test_an_unknown_id_is_not_found(api: httpx.AsyncClient) -> None:
    for wanted in (uuid4(), "no-id", "1"):
        path = f"/api/batch-ops/{wanted}"
        error_of(await api.get(path), 404, "not_found")
        error_of(await api.patch(path, json={"state": "cancelling"}), 404, "not_found")
