"""Who did it stands in everything that keeps a record: operations, their events, queues, and the jobs themselves."""

import logging
from typing import Any

import pytest
from psycopg import AsyncConnection

from tests.api.conftest import MOVE, TOKENS, Ask


async def only(conn: AsyncConnection[Any], query: str) -> Any:
    found = await (await conn.execute(query)).fetchone()
    assert found is not None
    return found[0]


async def test_operations_and_their_events_name_who_asked(
    ask: Ask, conn: AsyncConnection[Any]
) -> None:
    operator, admin = ask(tokens=TOKENS, token="operator"), ask(tokens=TOKENS, token="admin")
    found = (await operator.post("/api/batch-ops", json=MOVE)).json()
    assert found["submitted_by"] == "deploy"
    await admin.patch(f"/api/batch-ops/{found['id']}", json={"state": "cancelling"})
    events = await conn.execute(
        "SELECT actor, to_state FROM awa.batch_operation_events ORDER BY id"
    )
    assert await events.fetchall() == [("deploy", "pending"), ("root", "cancelled")]


async def test_queues_and_jobs_name_who_asked(ask: Ask, conn: AsyncConnection[Any]) -> None:
    operator = ask(tokens=TOKENS, token="operator")
    jobs = [await only(conn, "SELECT awa.enqueue('work', queue => 'email')") for _ in range(3)]
    assert (await operator.post("/api/queues/email/pause")).json()["paused_by"] == "deploy"
    cancelled = await operator.post(f"/api/jobs/{jobs[0]}/cancel")
    assert cancelled.json()["errors"][-1]["error"] == "cancelled by deploy"
    body = {"reason": "the customer has left"}
    cancelled = await operator.post(f"/api/jobs/{jobs[1]}/cancel", json=body)
    told = "the customer has left (cancelled by deploy)"
    assert cancelled.json()["errors"][-1]["error"] == told
    await operator.post("/api/queues/email/drain")
    drained = (await operator.get(f"/api/jobs/{jobs[2]}")).json()
    assert drained["errors"][-1]["error"] == "the queue was drained (cancelled by deploy)"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/batch-ops", MOVE),
        ("POST", "/api/queues/email/resume", None),
        ("DELETE", "/api/batch-ops?before=2026-01-01T00:00:00Z", None),
    ],
)
async def test_the_log_names_who_asked(
    ask: Ask, caplog: pytest.LogCaptureFixture, method: str, path: str, body: Any
) -> None:
    caplog.set_level(logging.INFO, "awa.api")
    await ask(tokens=TOKENS, token="admin").request(method, path, json=body)
    line = caplog.records[-1].getMessage()
    assert line.startswith(f"{method} {path.partition('?')[0]} ")
    assert " root " in line
