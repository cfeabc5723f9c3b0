"""Undo over HTTP: what is answered, who is recorded, who is refused."""

from typing import Any
from uuid import uuid4

import httpx
import pytest
from psycopg import AsyncConnection

from awa.operations import submit
from tests.api.conftest import TOKENS, Ask, error_of
from tests.operations.kit import add_jobs, new_runner, pool_of, run_to_end

Conn = AsyncConnection[Any]


@pytest.fixture
async def moved(database_url: str, conn: Conn) -> str:
    """The path of an operation that has moved three jobs."""
    await add_jobs(conn, 3, queue="a")
    operation = await submit.submit(conn, "move_queue", {"queue": "a"}, {"queue": "b"})
    await lead(database_url, conn)
    return f"/api/batch-ops/{operation['id']}"


async def lead(database_url: str, conn: Conn) -> None:
    """A leader comes by and does what there is to do."""
    async with pool_of(database_url) as pool:
        await run_to_end(await new_runner(conn, pool))


async def test_an_operation_is_undone_after_a_look(
    ask: Ask, conn: Conn, database_url: str, moved: str
) -> None:
    api = ask(tokens=TOKENS, token="operator")
    seen = await api.post(f"{moved}/undo/preview")
    assert seen.status_code == 200, seen.text
    assert (seen.json()["total_matched"], seen.json()["ineligible"]) == (3, {})
    body = {"reason": "wrong queue", "plan_token": seen.json()["plan_token"], "max_jobs": 2}
    answer = await api.post(f"{moved}/undo", json=body)
    assert answer.status_code == 201, answer.text
    begun = answer.json()
    assert (begun["op_kind"], begun["state"]) == ("undo", "pending")
    assert (begun["submitted_by"], begun["reason"]) == ("deploy", "wrong queue")
    assert moved.endswith(begun["undo_of"])
    await lead(database_url, conn)
    first = (await api.get(moved)).json()
    assert first["undos"] == [
        {"id": begun["id"], "state": "completed", "total_matched": 2, "processed": 2}
    ]
    assert (await api.post(f"{moved}/undo")).json()["priority"] == 2, "a body is not needed"


async def test_what_can_not_be_undone_is_a_conflict_with_the_present_state(
    api: httpx.AsyncClient, conn: Conn, database_url: str, moved: str
) -> None:
    begun = (await api.post(f"{moved}/undo")).json()
    for path in (f"{moved}/undo", f"{moved}/undo/preview"):
        error = error_of(await api.post(path), 409, "conflict")
        assert error["details"] == {
            "state": "completed",
            "undo": begun["id"],
            "undo_state": "pending",
        }
    path = f"/api/batch-ops/{begun['id']}/undo"
    assert error_of(await api.post(path), 409, "conflict")["details"] == {"state": "pending"}
    await lead(database_url, conn)
    error = error_of(await api.post(f"{moved}/undo"), 409, "conflict")
    assert error["details"]["undo_state"] == "completed"
    assert (await api.post(path)).status_code == 201, "the undo can be undone"


async def test_an_unknown_operation_is_not_found(api: httpx.AsyncClient) -> None:
    for path in ("undo", "undo/preview"):
        error_of(await api.post(f"/api/batch-ops/{uuid4()}/{path}"), 404, "not_found")


async def test_a_drifted_plan_is_refused_with_the_difference(
    api: httpx.AsyncClient, conn: Conn, moved: str
) -> None:
    token = (await api.post(f"{moved}/undo/preview")).json()["plan_token"]
    (job,) = await (await conn.execute("SELECT min(id) FROM awa.jobs")).fetchall()
    await api.post(f"/api/jobs/{job[0]}/cancel")
    answer = await api.post(f"{moved}/undo", json={"plan_token": token})
    error = error_of(answer, 409, "plan_drifted")
    assert (error["details"]["planned"], error["details"]["now"]) == (3, 2)


@pytest.mark.parametrize(
    "body", [{"priority": 5}, {"max_jobs": 0}, {"filter": {}}, {"plan_token": "x"}]
)
async def test_wrong_terms_are_wrong_input(
    api: httpx.AsyncClient, moved: str, body: dict[str, Any]
) -> None:
    error_of(await api.post(f"{moved}/undo", json=body), 422, "invalid")


async def test_a_viewer_may_look_and_not_undo(ask: Ask, moved: str) -> None:
    viewer = ask(tokens=TOKENS, token="viewer")
    assert (await viewer.post(f"{moved}/undo/preview")).status_code == 200
    error_of(await viewer.post(f"{moved}/undo"), 403, "forbidden")


async def test_an_undo_is_not_submitted_as_a_kind(api: httpx.AsyncClient) -> None:
    body = {"op_kind": "undo", "filter": {"queue": "a"}, "spec": {}}
    error = error_of(await api.post("/api/batch-ops", json=body), 422, "invalid")
    assert "is asked of the operation" in str(error)
