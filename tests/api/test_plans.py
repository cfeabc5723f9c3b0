"""Plan tokens over HTTP: what a program gets with a preview, and what it hears when the jobs have drifted."""

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
from psycopg import AsyncConnection

from awa.config import Settings
from tests.api.conftest import MOVE, TOKENS, Ask, error_of, fields_of
from tests.plans import aged


async def enqueue(conn: AsyncConnection[Any], count: int, queue: str = "email") -> None:
    await conn.execute(
        "SELECT awa.enqueue('send', queue => %s) FROM generate_series(1, %s)", [queue, count]
    )


async def operations(conn: AsyncConnection[Any]) -> int:
    found = await (await conn.execute("SELECT count(*) FROM awa.batch_operations")).fetchone()
    assert found is not None
    return int(found[0])


async def planned(api: httpx.AsyncClient, **changed: Any) -> dict[str, Any]:
    answer = await api.post("/api/batch-ops/preview", json=MOVE | changed)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def submit(api: httpx.AsyncClient, token: Any, **changed: Any) -> httpx.Response:
    return await api.post("/api/batch-ops", json=MOVE | {"plan_token": token} | changed)


async def test_a_preview_says_all_that_an_operator_decides_by(
    api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    await enqueue(conn, 30)
    seen = await planned(api)
    assert seen["breakdown"]["queue"] == {"email": 30}
    assert (seen["noop"], seen["ineligible"]) == (0, {})
    assert set(seen["estimate"]) == {"duration_s", "rate_per_s", "measured"}
    assert seen["plan_token"].startswith("awa1.")
    assert (await submit(api, seen["plan_token"])).status_code == 201


async def test_jobs_that_have_drifted_are_409_with_the_difference(
    api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    await enqueue(conn, 30)
    token = (await planned(api))["plan_token"]
    await enqueue(conn, 20)
    error = error_of(await submit(api, token), 409, "plan_drifted")
    assert "30 jobs planned, 50 now: 20 more in queue email" in error["message"]
    assert error["details"]["difference"] == 20
    assert error["details"]["queues"] == [
        {"queue": "email", "planned": 30, "now": 50, "difference": 20}
    ]
    assert token not in str(error)
    assert await operations(conn) == 0
    assert (await submit(api, (await planned(api))["plan_token"])).status_code == 201


async def test_a_plan_for_something_else_is_422_with_what_differs(
    api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    await enqueue(conn, 3)
    token = (await planned(api))["plan_token"]
    assert fields_of(await submit(api, token, filter={"queue": "sms"})) == {"filter"}
    assert fields_of(await submit(api, token, spec={"queue": "x"})) == {"spec"}
    other = {"op_kind": "set_priority", "spec": {"priority": 1}}
    assert fields_of(await submit(api, token, **other)) == {"op_kind", "spec"}
    assert await operations(conn) == 0


@pytest.mark.parametrize(
    "token", ["", "x", 7, [], "awa1.e30.e30", "\ud800.x.y", "awa1.\u0000.x", "y" * 100_000]
)
async def test_what_is_no_token_of_this_database_is_422(
    api: httpx.AsyncClient, conn: AsyncConnection[Any], token: Any
) -> None:
    answer = await api.post(
        "/api/batch-ops",
        content=json.dumps(MOVE | {"plan_token": token}),
        headers={"content-type": "application/json"},
    )
    assert fields_of(answer) <= {"plan_token", "body"}, answer.text
    assert await operations(conn) == 0


async def test_a_token_that_was_changed_is_422(
    api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    await enqueue(conn, 3)
    token = (await planned(api))["plan_token"]
    head, payload, signature = token.split(".")
    for wrong in (
        f"{head}.{payload[:-1]}A.{signature}",
        f"{head}.{payload}.{signature[::-1]}",
        token[:-1],
    ):
        assert fields_of(await submit(api, wrong)) == {"plan_token"}
    assert await operations(conn) == 0


async def test_a_token_whose_time_is_over_is_409(
    api: httpx.AsyncClient, conn: AsyncConnection[Any], database_url: str
) -> None:
    await enqueue(conn, 3)
    token = (await planned(api))["plan_token"]
    old = aged(database_url, token, timedelta(hours=2))
    error = error_of(await submit(api, old), 409, "plan_expired")
    assert set(error["details"]) == {"made_at", "expires_at"}
    assert await operations(conn) == 0


async def test_the_server_s_settings_decide(ask: Ask, conn: AsyncConnection[Any]) -> None:
    await enqueue(conn, 30)
    api = ask(settings=Settings(plan_drift_percent=100))
    token = (await planned(api))["plan_token"]
    await enqueue(conn, 30)
    assert (await submit(api, token)).status_code == 201


async def test_one_server_s_tokens_are_good_at_another(
    ask: Ask, conn: AsyncConnection[Any]
) -> None:
    await enqueue(conn, 3)
    token = (await planned(ask(tokens=TOKENS, token="viewer")))["plan_token"]
    assert (await submit(ask(tokens=TOKENS, token="viewer"), token)).status_code == 403
    assert (await submit(ask(tokens=TOKENS, token="operator"), token)).status_code == 201
