"""Schedules over HTTP."""

from typing import Any

import httpx
import pytest
from psycopg import AsyncConnection

from awa.model.cron import make_schedule
from awa.operations import cron
from tests.api.conftest import TOKENS, Ask, error_of


@pytest.fixture
async def schedules(conn: AsyncConnection[Any]) -> None:
    """Two of them, one with a secret."""
    secret = {"to": "ada@example.com", "api_key": "sk-123"}
    made = [
        make_schedule("a/b report", "0 9 * * *", secret, options={"kind": "report"}),
        make_schedule("beat", "* * * * *", {}, options={"kind": "beat", "queue": "beats"}),
    ]
    await cron.declare(conn, "shop", made)


@pytest.mark.usefixtures("schedules")
async def test_they_are_listed_by_name_and_in_pages(api: httpx.AsyncClient) -> None:
    first = (await api.get("/api/cron", params={"limit": 1})).json()
    rest = (await api.get("/api/cron", params={"cursor": first["next_cursor"]})).json()
    assert [row["name"] for row in first["items"] + rest["items"]] == ["a/b report", "beat"]
    assert rest["next_cursor"] is None
    assert first["items"][0]["args"] == {"to": "ada@example.com", "api_key": "•••"}
    assert len(first["items"][0]["next_fires"]) == 5


@pytest.mark.usefixtures("schedules")
async def test_one_is_paused_triggered_and_resumed(ask: Ask) -> None:
    api = ask(tokens=TOKENS, token="operator")
    paused = (await api.post("/api/cron/beat/pause")).json()
    assert (paused["state"], paused["paused_by"]) == ("paused", "deploy")
    fired = (await api.post("/api/cron/beat/trigger")).json()
    assert (fired["name"], fired["queue"]) == ("beat", "beats")
    job = (await api.get("/api/jobs", params={"kind": "beat"})).json()["items"][0]
    assert job["id"] == fired["job_id"]
    resumed = (await api.post("/api/cron/beat/resume")).json()
    assert (resumed["state"], resumed["fired_count"]) == ("active", 1)
    assert (await api.get("/api/cron/beat")).json()["state"] == "active"


@pytest.mark.usefixtures("schedules")
@pytest.mark.parametrize("deed", ["pause", "resume", "trigger"])
async def test_a_viewer_changes_nothing(ask: Ask, deed: str) -> None:
    api = ask(tokens=TOKENS, token="viewer")
    error_of(await api.post(f"/api/cron/beat/{deed}"), 403, "forbidden")


@pytest.mark.usefixtures("schedules")
async def test_a_name_may_hold_a_slash(api: httpx.AsyncClient) -> None:
    assert (await api.get("/api/cron/a%2Fb%20report")).json()["name"] == "a/b report"
    assert (await api.post("/api/cron/a%2Fb%20report/pause")).json()["state"] == "paused"


async def test_an_unknown_name_is_not_found(api: httpx.AsyncClient) -> None:
    for path in ("/api/cron/nothing", "/api/cron/nothing/pause"):
        ask = api.post if path.endswith("pause") else api.get
        error_of(await ask(path), 404, "not_found")
