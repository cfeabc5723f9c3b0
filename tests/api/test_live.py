"""Live events, asked of the real server: what is told, once to everybody, and every way in which a stream ends."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import httpx
import orjson
import pytest
from fastapi import FastAPI
from psycopg import AsyncConnection

from awa.api import create_app, serve
from awa.api.routes import batch_op_events, stats_events
from awa.http import overview, sse
from awa.http.live import Live
from awa.http.tokens import TokenTable
from awa.operations import progress
from awa.operations.reading import stats
from tests.api.conftest import MOVE, TOKENS, error_of
from tests.api.test_serve import serving

Told = AsyncIterator[dict[str, Any]]
OPERATOR = {"Authorization": "Bearer operator-token-0123456789"}


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_op_events, "LOOK_INTERVAL_S", 0.02)


@asynccontextmanager
async def client_of(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    async with (
        serving(app) as address,
        httpx.AsyncClient(base_url=address, timeout=60, headers=OPERATOR) as client,
    ):
        yield client


@asynccontextmanager
async def watching(client: httpx.AsyncClient, path: str, **headers: str) -> AsyncIterator[Told]:
    async with client.stream("GET", path, headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield _events(answer)


async def _events(answer: httpx.Response) -> Told:
    """The events as a browser takes them apart; a comment is an event without a name."""
    event: dict[str, Any] = {}
    async for line in answer.aiter_lines():
        if not line:
            if set(event) - {"retry"}:
                yield event
            event = {}
        else:
            name, _, value = line.partition(":")
            event[name or "comment"] = orjson.loads(value) if name == "data" else value.strip()


async def next_named(events: Told, name: str) -> dict[str, Any]:
    async with asyncio.timeout(60):
        async for event in events:
            if event.get("event") == name or name in event:
                return event
    raise AssertionError(f"the stream ended without {name}")


async def rest_of(events: Told) -> list[dict[str, Any]]:
    async with asyncio.timeout(60):
        return [event async for event in events]


async def submitted(client: httpx.AsyncClient) -> str:
    answer = await client.post("/api/batch-ops", json=MOVE)
    return f"/api/batch-ops/{answer.json()['id']}"


async def test_an_operation_is_told_from_its_beginning_to_its_end(
    database_url: str, conn: AsyncConnection[Any]
) -> None:
    async with client_of(create_app(database_url, tokens=TOKENS)) as client:
        path = await submitted(client)
        async with watching(client, f"{path}/events") as events:
            begun = await next_named(events, "transition")
            assert (begun["data"]["to_state"], begun["data"]["actor"]) == ("pending", "deploy")
            assert (await next_named(events, "progress"))["data"]["state"] == "pending"
            await conn.execute("UPDATE awa.batch_operations SET total_matched = 9, processed = 4")
            told = (await next_named(events, "progress"))["data"]
            assert (told["total_matched"], told["processed"], told["pending"]) == (9, 4, 5)
            assert {"rate_per_s", "seconds_left", "totals"} <= set(told)
            await client.patch(path, json={"state": "cancelling"})
            last = await rest_of(events)
    names = [event["event"] for event in last if "event" in event]
    assert names == ["transition", "progress", "done"]
    assert last[-1]["data"]["state"] == "cancelled"
    assert last[-1]["id"] == f"{last[0]['id']}-done"


async def test_who_comes_again_is_told_what_was_missed_and_nothing_twice(
    database_url: str, conn: AsyncConnection[Any]
) -> None:
    async with client_of(create_app(database_url, tokens=TOKENS)) as client:
        path = await submitted(client)
        async with watching(client, f"{path}/events") as events:
            seen = (await next_named(events, "transition"))["id"]
        await client.patch(path, json={"state": "cancelling"})
        async with watching(client, f"{path}/events", **{"Last-Event-ID": seen}) as events:
            told = await rest_of(events)
        assert [event["event"] for event in told] == ["transition", "progress", "done"]
        assert told[0]["data"]["to_state"] == "cancelled"
        again = await client.get(f"{path}/events", headers={"Last-Event-ID": told[-1]["id"]})
        assert (again.status_code, again.content) == (204, b"")


async def test_many_watchers_cost_one_look(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looking, most, looks = 0, 0, 0
    look = progress.look

    async def counted(*args: Any, **more: Any) -> Any:
        nonlocal looking, most, looks
        looking, looks = looking + 1, looks + 1
        most = max(most, looking)
        try:
            return await look(*args, **more)
        finally:
            looking -= 1

    monkeypatch.setattr(progress, "look", counted)
    monkeypatch.setattr(batch_op_events, "LOOK_INTERVAL_S", 3_600)
    app = create_app(database_url, tokens=TOKENS)
    async with client_of(app) as client:
        path = await submitted(client)
        async with AsyncExitStack() as stack:
            streams = [
                await stack.enter_async_context(watching(client, f"{path}/events"))
                for _ in range(20)
            ]
            for events in streams:
                await next_named(events, "progress")
            assert app.state.served.live.streams == 20
            assert (most, looks) == (1, 1)


async def test_a_watch_ends_with_its_last_watcher(database_url: str) -> None:
    app = create_app(database_url, tokens=TOKENS)
    async with client_of(app) as client:
        path = await submitted(client)
        async with watching(client, f"{path}/events") as events:
            await next_named(events, "progress")
        live: Live = app.state.served.live
        async with asyncio.timeout(60):
            while live.streams or live.watched:
                await client.get("/healthz")  # a round trip of the server's loop


async def test_too_many_streams_are_refused_and_told_when_to_come_back(database_url: str) -> None:
    app = create_app(database_url, tokens=TOKENS)
    app.state.served.live = Live(streams_max=1)
    async with client_of(app) as client:
        path = await submitted(client)
        async with watching(client, f"{path}/events") as events:
            await next_named(events, "progress")
            answer = await client.get(f"{path}/events")
            error_of(answer, 429, "too_many")
            assert int(answer.headers["retry-after"]) > 0


async def test_silence_is_filled_with_heartbeats_until_one_is_no_longer_let_in(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.05)
    monkeypatch.setattr(batch_op_events, "LOOK_INTERVAL_S", 3_600)
    app = create_app(database_url, tokens=TOKENS)
    async with client_of(app) as client:
        path = await submitted(client)
        async with watching(client, f"{path}/events") as events:
            for _ in range(3):
                assert (await next_named(events, "comment"))["comment"] == "still here"
            others = TokenTable(TOKENS.tokens[:1])
            app.state.served.access = replace(app.state.served.access, tokens=others)
            await rest_of(events)
        assert (await client.get(f"{path}/events")).status_code == 401


async def test_a_stream_does_not_keep_the_server_from_stopping(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long it would have patience with requests: `serving` fails if the stream isn't ended for it.
    monkeypatch.setattr(serve, "SHUTDOWN_MAX_S", 3_600)
    app = create_app(database_url, tokens=TOKENS)
    async with AsyncExitStack() as stack:
        async with serving(app) as address:
            client = httpx.AsyncClient(base_url=address, timeout=60, headers=OPERATOR)
            await stack.enter_async_context(client)
            path = await submitted(client)
            events = await stack.enter_async_context(watching(client, f"{path}/events"))
            await next_named(events, "progress")
            # Left open: the server is told to stop as the block ends, and has to end the stream itself.
        assert await rest_of(events) == []


async def test_a_purged_operation_is_gone(database_url: str, conn: AsyncConnection[Any]) -> None:
    async with client_of(create_app(database_url, tokens=TOKENS)) as client:
        path = await submitted(client)
        async with watching(client, f"{path}/events") as events:
            await next_named(events, "progress")
            await conn.execute("DELETE FROM awa.batch_operations")
            assert [event["event"] for event in await rest_of(events)] == ["gone"]


async def test_a_database_that_is_away_is_said_and_waited_for(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from awa.model.errors import DatabaseError

    look, away = progress.look, False

    async def sometimes(*args: Any, **more: Any) -> Any:
        if away:
            raise DatabaseError("hunter2 is the password")
        return await look(*args, **more)

    monkeypatch.setattr(progress, "look", sometimes)
    async with client_of(create_app(database_url, tokens=TOKENS)) as client:
        path = await submitted(client)
        async with watching(client, f"{path}/events") as events:
            await next_named(events, "progress")
            away = True
            told = await next_named(events, "comment")
            assert told["comment"] == "the database cannot answer now"
            away = False
            await client.patch(path, json={"state": "cancelling"})
            assert (await rest_of(events))[-1]["event"] == "done"
        away = True
        error_of(await client.get(f"{path}/events"), 503, "database")


async def test_the_overview_is_told_again_and_again(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stats_events, "LOOK_INTERVAL_S", 0.02)
    monkeypatch.setattr(overview, "YOUNG_ENOUGH_S", 0)
    async with (
        client_of(create_app(database_url, tokens=TOKENS)) as client,
        watching(client, "/api/stats/events") as events,
    ):
        first = (await next_named(events, "overview"))["data"]
        again = (await next_named(events, "overview"))["data"]
    assert first["at"] < again["at"]
    assert set(first["totals"]["available"]) == {"jobs", "exact", "bound"}
    assert first["verdict"]["level"] in {"ok", "warn", "bad"}


async def test_all_who_ask_for_the_overview_at_once_cost_one_look(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    look = stats.overview

    async def counted(*args: Any, **more: Any) -> Any:
        nonlocal looks
        looks += 1
        return await look(*args, **more)

    monkeypatch.setattr(stats, "overview", counted)
    monkeypatch.setattr(overview, "YOUNG_ENOUGH_S", 3_600)
    async with client_of(create_app(database_url, tokens=TOKENS)) as client:
        answers = await asyncio.gather(*(client.get("/api/stats") for _ in range(20)))
    assert [one.status_code for one in answers] == [200] * 20
    assert looks == 1
