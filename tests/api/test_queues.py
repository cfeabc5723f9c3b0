"""Queues, kinds, runtimes and the overview over HTTP."""

from typing import Any

import httpx
import pytest
from psycopg import AsyncConnection

from awa.http import draining
from tests.api.conftest import TOKENS, Ask, error_of, fields_of
from tests.storage.world import World


@pytest.fixture
async def world(conn: AsyncConnection[Any]) -> World:
    return await World.on(conn)


async def test_queues_are_listed_and_shown(api: httpx.AsyncClient, world: World) -> None:
    await world.enqueue(3, "email", priority=1)
    await world.enqueue(1, "sms")
    page = (await api.get("/api/queues", params={"limit": 1})).json()
    (row,) = page["items"]
    assert row["queue"] == "email"
    assert row["depth"]["available"] == {"jobs": 3, "exact": True, "bound": "exact"}
    assert row["by_priority"]["1"]["jobs"] == 3
    rest = (await api.get("/api/queues", params={"cursor": page["next_cursor"]})).json()
    assert [one["queue"] for one in rest["items"]] == ["sms"]
    assert rest["next_cursor"] is None
    found = (await api.get("/api/queues", params={"search": "SM"})).json()
    assert [one["queue"] for one in found["items"]] == ["sms"]
    one = (await api.get("/api/queues/email")).json()
    assert one["depth"] == row["depth"]
    assert len(one["series"]) == 60
    error_of(await api.get("/api/queues/nothing"), 404, "not_found")


async def test_a_queue_is_paused_in_the_name_of_the_caller_and_resumed(
    ask: Ask, world: World
) -> None:
    await world.enqueue(1, "email")
    operator = ask(tokens=TOKENS, token="operator")
    paused = (await operator.post("/api/queues/email/pause")).json()
    assert (paused["paused"], paused["paused_by"]) == (True, "deploy")
    again = (await ask(tokens=TOKENS, token="admin").post("/api/queues/email/pause")).json()
    assert again == paused
    assert await world.claim(queue="email") == []
    resumed = (await operator.post("/api/queues/email/resume")).json()
    assert (resumed["paused"], resumed["paused_by"]) == (False, None)
    assert len(await world.claim(queue="email")) == 1
    error_of(await operator.post("/api/queues/nothing/resume"), 404, "not_found")


async def test_a_drain_says_how_many_it_cancelled(api: httpx.AsyncClient, world: World) -> None:
    waiting = await world.enqueue(5, "email")
    later = await world.enqueue(2, "email", run_at=await world.now(later_s=60))
    other = await world.enqueue(1, "sms")
    (running,) = await world.claim(1, "email")
    answer = await api.post("/api/queues/email/drain", json={"reason": "moved house"})
    assert answer.json() == {"queue": "email", "drained": 6, "more": False}
    left = [job_id for job_id in (*waiting, *later) if job_id != running.job_id]
    assert set(await world.states(left)) == {"cancelled"}
    assert await world.states([running.job_id, *other]) == ["running", "available"]
    said = (await world.job(left[0]))["errors"][-1]["error"]
    assert said.startswith("moved house")
    assert "local" in said
    again = await api.post("/api/queues/email/drain")
    assert again.json() == {"queue": "email", "drained": 0, "more": False}
    error_of(await api.post("/api/queues/nothing/drain"), 404, "not_found")


async def test_a_drain_that_runs_out_of_time_says_so(
    api: httpx.AsyncClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draining, "DRAIN_MAX_S", -1.0)
    await world.enqueue(5, "email")
    answer = await api.post("/api/queues/email/drain")
    assert answer.json() == {"queue": "email", "drained": 0, "more": True}


@pytest.mark.parametrize("name", ["%20", "a" * 201, "%09x"])
async def test_a_name_that_is_none_is_refused(api: httpx.AsyncClient, name: str) -> None:
    for answer in (
        await api.get(f"/api/queues/{name}"),
        await api.post(f"/api/queues/{name}/pause"),
        await api.post(f"/api/queues/{name}/resume"),
        await api.post(f"/api/queues/{name}/drain"),
    ):
        assert fields_of(answer) == {"queue"}


async def test_a_body_that_is_none_is_refused(api: httpx.AsyncClient, world: World) -> None:
    await world.enqueue(1, "email")
    assert fields_of(await api.post("/api/queues/email/drain", json={"why": "x"})) == {"why"}
    assert fields_of(await api.post("/api/queues/email/drain", json={"reason": 1})) == {"reason"}
    long = {"reason": "x" * 2_001}
    assert fields_of(await api.post("/api/queues/email/drain", json=long)) == {"reason"}
    for query in ("limit=0", "cursor=!", "serch=x", "limit=1001"):
        for path in ("/api/queues", "/api/kinds"):
            assert fields_of(await api.get(f"{path}?{query}")) == {query.partition("=")[0]}


async def test_kinds_runtimes_and_the_overview_are_told(
    api: httpx.AsyncClient, world: World
) -> None:
    await world.enqueue(2, "email", kind="mail")
    (kind,) = (await api.get("/api/kinds")).json()["items"]
    assert (kind["kind"], kind["counts"]["available"]["jobs"]) == ("mail", 2)
    runtime = (await api.get("/api/runtime")).json()
    assert [one["id"] for one in runtime["items"]] == [str(world.runtime_id)]
    assert runtime["leader"] is None
    assert (await api.get("/api/runtime?include_ended=true")).status_code == 200
    assert fields_of(await api.get("/api/runtime?include_ended=maybe")) == {"include_ended"}
    overview = (await api.get("/api/stats")).json()
    assert overview["backlog"][0]["queue"] == "email"
    assert overview["verdict"]["level"] == "bad"
    assert len(overview["series"]) == 60


async def test_what_pages_poll_has_an_entity_tag(api: httpx.AsyncClient, world: World) -> None:
    await world.enqueue(1, "email", kind="mail")
    for path in ("/api/jobs", "/api/kinds", "/api/jobs/counts"):
        first = await api.get(path)
        again = await api.get(path, headers={"If-None-Match": first.headers["etag"]})
        assert again.status_code == 304, path


async def test_limits_are_set_and_taken_away(api: httpx.AsyncClient, world: World) -> None:
    await world.enqueue(5, "email")
    set_ = await api.patch("/api/queues/email", json={"max_running": 2, "rate_limit": 9})
    limits = ("max_running", "rate_limit", "rate_period_s")
    assert [set_.json()[name] for name in limits] == [2, 9, 1.0]
    assert len(await world.claim(queue="email")) == 2
    shown = (await api.get("/api/queues/email")).json()
    assert [shown[name] for name in limits] == [2, 9, 1.0]
    assert shown["held_by"] == "max_running"
    body = {"max_running": None, "rate_limit": 2, "rate_period_s": 3600}
    assert (await api.patch("/api/queues/email", json=body)).status_code == 200
    assert (await api.get("/api/queues/email")).json()["held_by"] == "rate"
    off = (await api.patch("/api/queues/email", json={"rate_limit": None})).json()
    assert [off[name] for name in limits] == [None, None, None]
    (row,) = (await api.get("/api/queues")).json()["items"]
    assert row["max_running"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"max_running": 0}, "max_running"),
        ({"max_running": "5"}, "max_running"),
        ({"rate_limit": 5, "rate_period_s": 0}, "rate_period_s"),
        ({"rate_period_s": 5}, "rate_period_s"),
        ({"rate": 5}, "rate"),
    ],
)
async def test_limits_that_make_no_sense(
    api: httpx.AsyncClient, body: dict[str, Any], field: str
) -> None:
    answer = await api.patch("/api/queues/email", json=body)
    assert fields_of(answer) == {field}


async def test_a_change_without_a_limit_is_refused(api: httpx.AsyncClient) -> None:
    error_of(await api.patch("/api/queues/email", json={}), 422, "invalid")


async def test_a_name_may_hold_a_slash_and_no_line_break(api: httpx.AsyncClient) -> None:
    assert (await api.patch("/api/queues/a%2Fb", json={"max_running": 3})).json()["queue"] == "a/b"
    assert (await api.get("/api/queues/a%2Fb")).json()["queue"] == "a/b"
    assert (await api.post("/api/queues/a%2Fb/pause")).json()["paused"] is True
    assert (await api.post("/api/queues/a%2Fb/resume")).json()["paused"] is False
    assert (await api.post("/api/queues/a%2Fb/drain")).json()["drained"] == 0
    for method, path in (
        ("PATCH", "/api/queues/a%0Ab"),
        ("POST", "/api/queues/a%0Ab/pause"),
        ("PUT", "/api/dlq/queues/a%0Ab"),
        ("DELETE", "/api/dlq/queues/%0Ab"),
    ):
        answer = await api.request(method, path, json={} if method == "PATCH" else None)
        assert error_of(answer, 422, "invalid")["fields"][0]["field"] == "queue", path
