"""Deleting what ended long ago."""

from typing import Any

import httpx
import pytest
from psycopg import AsyncConnection

from awa.api.routes import batch_ops
from awa.operations import retention
from tests.api.conftest import MOVE, TOKENS, Ask, error_of, fields_of

NOW = "2026-06-01T00:00:00Z"


async def ended(api: httpx.AsyncClient, conn: AsyncConnection[Any], at: str, items: int = 0) -> str:
    found: str = (await api.post("/api/batch-ops", json=MOVE)).json()["id"]
    await conn.execute(
        "UPDATE awa.batch_operations SET state = 'completed', finalized_at = %s, retention_until = %s WHERE id = %s",
        (at, "2090-01-01", found),
    )
    await conn.execute(
        "INSERT INTO awa.batch_operation_items (operation_id, job_id) SELECT %s, generate_series(1, %s)",
        (found, items),
    )
    return found


async def left(api: httpx.AsyncClient) -> set[str]:
    return {one["id"] for one in (await api.get("/api/batch-ops")).json()["items"]}


async def test_what_ended_before_goes_and_the_rest_stays(
    api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    await ended(api, conn, "2026-05-31T23:59:59Z", items=7)
    young = await ended(api, conn, NOW)
    active = (await api.post("/api/batch-ops", json=MOVE)).json()["id"]
    answer = await api.delete("/api/batch-ops", params={"before": NOW})
    assert answer.json() == {"operations": 1, "items": 7, "more": False}
    assert await left(api) == {young, active}


async def test_a_long_purge_says_that_there_is_more(
    api: httpx.AsyncClient, conn: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "CHUNK_ITEMS", 4)
    old = await ended(api, conn, "2026-05-01T00:00:00Z", items=10)
    monkeypatch.setattr(batch_ops, "PURGE_MAX_S", 0.0)
    deleted = 0
    for _ in range(10):
        done = (await api.delete("/api/batch-ops", params={"before": NOW})).json()
        deleted += done["items"]
        if not done["more"]:
            break
        assert done["items"] <= 4
    assert deleted == 10
    assert old not in await left(api)


@pytest.mark.parametrize(
    "before", ["", "yesterday", "2026-06-01T00:00:00", "2026-06-01", "9999-01-01T00:00:00Z"]
)
async def test_a_time_that_is_none_is_refused(api: httpx.AsyncClient, before: str) -> None:
    assert fields_of(await api.delete("/api/batch-ops", params={"before": before})) == {"before"}


async def test_only_an_admin_may(ask: Ask) -> None:
    for role in ("viewer", "operator"):
        answer = await ask(tokens=TOKENS, token=role).delete(f"/api/batch-ops?before={NOW}")
        error_of(answer, 403, "forbidden")
    answer = await ask(tokens=TOKENS, token="admin").delete(f"/api/batch-ops?before={NOW}")
    assert answer.status_code == 200
    answer = await ask(read_only=True).delete(f"/api/batch-ops?before={NOW}")
    error_of(answer, 403, "read_only")
