"""Dead letters over HTTP."""

import httpx
import pytest
from psycopg import AsyncConnection

from awa.api.routes import dlq
from awa.operations import dead_letters
from tests.api.conftest import TOKENS, Ask, error_of
from tests.storage.world import World


@pytest.fixture
async def letters(conn: AsyncConnection[object]) -> list[int]:
    """Five dead letters of two causes, one with a secret."""
    world = await World.on(conn)
    await dead_letters.enable(conn, "default", True)
    for error, jobs in (("refused", 3), ("timeout", 2)):
        await world.enqueue(jobs, kind="send", args_json='{"password": "hunter2"}')
        claimed = await world.claim()
        await world.finish(claimed, "failed", error={"error": error, "kind": "E"})
    rows, _ = await dead_letters.page(conn, dead_letters.which())
    return [row["id"] for row in rows]


async def test_they_are_listed_in_pages_without_their_secrets(
    api: httpx.AsyncClient, letters: list[int]
) -> None:
    first = (await api.get("/api/dlq", params={"limit": 3})).json()
    rest = (await api.get("/api/dlq", params={"cursor": first["next_cursor"]})).json()
    assert [row["id"] for row in first["items"] + rest["items"]] == letters
    assert {row["args"]["password"] for row in first["items"]} == {"•••"}


@pytest.mark.usefixtures("letters")
async def test_the_depth_is_told_by_queue_and_by_cause(api: httpx.AsyncClient) -> None:
    found = (await api.get("/api/dlq/depth")).json()
    assert [(row["queue"], row["depth"]) for row in found["queues"]] == [("default", 5)]
    assert [(row["error"], row["depth"]) for row in found["causes"]] == [
        ("refused", 3),
        ("timeout", 2),
    ]


async def test_one_is_retried_elsewhere_and_then_is_none(
    api: httpx.AsyncClient, letters: list[int]
) -> None:
    path = f"/api/dlq/{letters[0]}/retry"
    answer = (await api.post(path, json={"queue": "quarantine", "priority": 4})).json()
    assert answer == {"id": letters[0], "state": "available", "queue": "quarantine"}
    error = error_of(await api.post(path), 409, "conflict")
    assert error["details"] == {"state": "available"}
    error_of(await api.post("/api/dlq/999999/retry"), 404, "not_found")


@pytest.mark.usefixtures("letters")
async def test_a_cause_is_retried_and_the_rest_purged(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dead_letters, "CHUNK_JOBS", 2)
    causes = (await api.get("/api/dlq/depth")).json()["causes"]
    chosen = {"fingerprint": causes[0]["fingerprint"], "to_queue": "again"}
    assert (await api.post("/api/dlq/retry", json=chosen)).json() == {
        "jobs": 3,
        "more": False,
        "kept": 0,
    }
    monkeypatch.setattr(dlq, "WORK_MAX_S", -1.0)
    purged = (await api.post("/api/dlq/purge", json={"all": True})).json()
    assert purged == {"jobs": 2, "more": True}


@pytest.mark.usefixtures("letters")
@pytest.mark.parametrize("deed", ["retry", "purge"])
async def test_everything_has_to_be_said(api: httpx.AsyncClient, deed: str) -> None:
    error_of(await api.post(f"/api/dlq/{deed}", json={}), 422, "not_confirmed")
    assert len((await api.get("/api/dlq")).json()["items"]) == 5


async def test_a_queue_is_switched_on_and_off(api: httpx.AsyncClient) -> None:
    on = (await api.put("/api/dlq/queues/a%2Fb")).json()
    assert on == {"queue": "a/b", "dlq_enabled": True}
    assert (await api.delete("/api/dlq/queues/a%2Fb")).json()["dlq_enabled"] is False


async def test_an_operator_retries_and_only_an_admin_purges(ask: Ask, letters: list[int]) -> None:
    viewer, operator = ask(tokens=TOKENS, token="viewer"), ask(tokens=TOKENS, token="operator")
    error_of(await viewer.post(f"/api/dlq/{letters[0]}/retry"), 403, "forbidden")
    error_of(await operator.post("/api/dlq/purge", json={"all": True}), 403, "forbidden")
    assert (await operator.post(f"/api/dlq/{letters[0]}/retry")).status_code == 200
