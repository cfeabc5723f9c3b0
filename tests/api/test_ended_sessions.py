"""A log-out holds at every server of a database, whichever of them was asked."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from psycopg import AsyncConnection, sql
from psycopg.conninfo import make_conninfo

from awa.api import create_app
from awa.api.routes import batch_op_events
from awa.asgi import create_app as create_console
from awa.db.migrate import migrate
from awa.db.pool import Pool, connect, make_pool
from awa.dev.postgres import Server
from awa.http import context, sse
from awa.http.access import Right, right_of
from awa.http.ended import LOOK_MAX_AGE_S, Ended
from awa.http.recent import Recent
from awa.http.routes import all_routes
from awa.maintenance import retention
from tests.api.conftest import MOVE, TOKENS, Ask, error_of
from tests.api.test_live import next_named, rest_of, watching
from tests.api.test_serve import serving
from tests.api.test_sessions import log_in, signed

SECRET = "s" * 32
Conn = AsyncConnection[Any]
Another = Callable[..., httpx.AsyncClient]


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def server(pool: Pool, clock: Clock, **options: Any) -> FastAPI:
    """One of several servers with the same secret and database."""
    app = create_app(pool, tokens=TOKENS, session_secret=SECRET, **options)
    app.state.served.ended = Ended(recent=Recent(clock=clock), tell_again_s=0.01)
    return app


@pytest.fixture
def another(ask: Ask, pool: Pool, clock: Clock) -> Another:
    """A browser at one more server: `another(read_only=…)`."""

    def browser(**options: Any) -> httpx.AsyncClient:
        return ask(app=server(pool, clock, **options))

    return browser


@pytest.fixture
async def viewers_pool(conn: Conn, database_url: str) -> AsyncIterator[Pool]:
    """Connections with a role that may read and nothing else."""
    name = f"viewer_{conn.info.dbname}"
    role = sql.Identifier(name)
    await conn.execute(sql.SQL("CREATE ROLE {}").format(role))
    await conn.execute(sql.SQL("GRANT USAGE ON SCHEMA awa TO {}").format(role))
    await conn.execute(sql.SQL("GRANT SELECT ON ALL TABLES IN SCHEMA awa TO {}").format(role))
    url = make_conninfo(database_url, options=f"-c role={name}")
    pool = make_pool(url, min_size=0, max_size=2, timeout_s=60)
    await pool.open()
    yield pool
    await pool.close()
    await conn.execute(sql.SQL("DROP OWNED BY {}").format(role))
    await conn.execute(sql.SQL("DROP ROLE {}").format(role))


async def cookie_of(browser: httpx.AsyncClient) -> dict[str, str]:
    """A copy of the browser's cookie."""
    await log_in(browser)
    return {"Cookie": f"awa_session={browser.cookies['awa_session']}"}


async def log_out(browser: httpx.AsyncClient) -> httpx.Response:
    return await browser.delete("/api/session", headers=await signed(browser))


async def stored(conn: Conn) -> list[Any]:
    found = await conn.execute(
        "SELECT digest, expires_at > now() + interval '36 hours' - interval '1 minute', "
        "expires_at <= now() + interval '36 hours' FROM awa.ended_sessions"
    )
    return await found.fetchall()


@pytest.mark.parametrize("read_only", [False, True])
async def test_a_log_out_here_ends_the_session_there(
    *, another: Another, clock: Clock, read_only: bool
) -> None:
    here, there, elsewhere = another(read_only=read_only), another(), another()
    kept, other = await cookie_of(here), await cookie_of(another())
    assert (await there.get("/api/queues", headers=kept)).status_code == 200
    assert (await log_out(here)).status_code == 204
    clock.now += LOOK_MAX_AGE_S
    for path in ("/api/queues", "/api/session", "/api/capabilities"):
        answer = await there.get(path, headers=kept)
        assert "session has ended" in error_of(answer, 401, "unauthorized")["message"]
    # Also at one that never saw it, as after a restart; and no other session of the same token.
    error_of(await elsewhere.get("/api/queues", headers=kept), 401, "unauthorized")
    assert (await elsewhere.get("/api/queues", headers=other)).status_code == 200


async def test_what_was_seen_a_moment_ago_is_not_asked_again(
    another: Another, clock: Clock, conn: Conn
) -> None:
    here, there = another(), another()
    kept = await cookie_of(here)
    await there.get("/api/queues", headers=kept)
    await log_out(here)
    clock.now += LOOK_MAX_AGE_S / 2
    assert (await there.get("/api/queues", headers=kept)).status_code == 200
    clock.now += LOOK_MAX_AGE_S / 2
    error_of(await there.get("/api/queues", headers=kept), 401, "unauthorized")
    # From then on it is known here, whatever the table says.
    await conn.execute("DELETE FROM awa.ended_sessions")
    clock.now += LOOK_MAX_AGE_S
    error_of(await there.get("/api/queues", headers=kept), 401, "unauthorized")


async def test_the_console_leads_to_the_log_in_page(another: Another, ask: Ask, pool: Pool) -> None:
    here = another()
    console = create_console(pool, tokens=TOKENS, session_secret=SECRET)
    there = ask(app=console)
    kept = await cookie_of(here)
    assert (await there.get("/queues", headers=kept)).status_code == 200
    await log_out(here)
    console.state.served.ended = Ended()
    answer = await there.get("/queues", headers=kept)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Fqueues")


async def test_what_is_stored_lets_nobody_in(another: Another, conn: Conn) -> None:
    browser = another()
    kept = await cookie_of(browser)
    await log_out(browser)
    ((digest, late, early),) = await stored(conn)
    # As long as the cookie would be good, and a day, since clocks differ.
    assert (len(digest), late, early) == (32, True, True)
    told = bytes(digest)
    assert told not in kept["Cookie"].encode()
    assert told.hex() not in kept["Cookie"]


async def test_a_live_stream_ends_with_its_session(
    database_url: str, monkeypatch: pytest.MonkeyPatch, another: Another
) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_S", 0.05)
    monkeypatch.setattr(batch_op_events, "LOOK_INTERVAL_S", 3_600)
    here = another()
    kept = await cookie_of(here)
    submitted = await here.post("/api/batch-ops", json=MOVE, headers=await signed(here))
    events_path = f"/api/batch-ops/{submitted.json()['id']}/events"
    there = create_app(database_url, tokens=TOKENS, session_secret=SECRET)
    async with (
        serving(there) as address,
        httpx.AsyncClient(base_url=address, timeout=60, headers=kept) as client,
        watching(client, events_path) as events,
    ):
        for _ in range(3):
            assert (await next_named(events, "comment"))["comment"] == "still here"
        await log_out(here)
        there.state.served.ended = Ended()
        await rest_of(events)
        assert (await client.get(events_path)).status_code == 401


async def test_who_shows_a_token_and_who_has_a_key_of_its_own_costs_no_query(
    ask: Ask, pool: Pool, clock: Clock, conn: Conn
) -> None:
    await conn.execute("DROP TABLE awa.ended_sessions")
    program = ask(app=server(pool, clock), token="operator")
    assert (await program.get("/api/queues")).status_code == 200
    alone = ask(tokens=TOKENS)
    kept = await cookie_of(alone)
    assert (await alone.get("/api/queues", headers=kept)).status_code == 200
    assert (await log_out(alone)).status_code == 204
    error_of(await alone.get("/api/queues", headers=kept), 401, "unauthorized")


async def test_a_right_that_is_missing_keeps_nobody_from_logging_out(
    ask: Ask, another: Another, viewers_pool: Pool, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    """A viewer's role, or a standby: the session ends in the browser and here, and the log says that it is so."""
    browser, other = ask(app=server(viewers_pool, clock)), another()
    kept = await cookie_of(browser)
    with caplog.at_level(logging.WARNING, "awa.api"):
        answer = await log_out(browser)
    assert answer.status_code == 204
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert "a log-out holds at this server alone" in caplog.text
    clock.now += LOOK_MAX_AGE_S
    error_of(await browser.get("/api/queues", headers=kept), 401, "unauthorized")
    assert (await other.get("/api/queues", headers=kept)).status_code == 200


async def test_with_the_database_away_one_can_log_out_and_it_is_written_down_later(
    own_server: Server, ask: Ask, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "CONNECTION_WAIT_S", 0.2)
    url = own_server.url()
    async with await connect(url) as admin:
        await migrate(admin)
    pool = make_pool(url, min_size=0, max_size=2, timeout_s=0.2)
    await pool.open()
    app, other = server(pool, clock), server(pool, clock)
    here, there = ask(app=app), ask(app=other)
    kept = await cookie_of(here)
    headers = await signed(here)
    own_server.halt()
    clock.now += LOOK_MAX_AGE_S
    for browser in (here, there):  # a session that can't be asked for is not believed
        error_of(await browser.get("/api/capabilities", headers=kept), 503, "database")
    answer = await here.delete("/api/session", headers=headers)
    assert answer.status_code == 204
    assert "Max-Age=0" in answer.headers["set-cookie"]
    error_of(await here.get("/api/queues", headers=kept), 401, "unauthorized")
    assert len(app.state.served.ended.owed) == 1

    own_server.restart()

    async with asyncio.timeout(60):
        while app.state.served.ended.owed:  # noqa: ASYNC110 -- nobody announces it
            await asyncio.sleep(0.01)
    error_of(await there.get("/api/queues", headers=kept), 401, "unauthorized")
    await pool.close()


def test_whatever_believes_a_session_says_that_it_may_be_unable_to() -> None:
    app = create_app("postgresql:///nowhere")
    described = app.openapi()["paths"]
    routes = [route for route in all_routes(app) if isinstance(route, APIRoute)]
    asking = [one for one in routes if right_of(one.endpoint) not in (Right.OPEN, Right.LEAVE)]
    assert len(asking) > 40
    for route in asking:
        path = re.sub(r":\w+}", "}", route.path)
        for method in route.methods or ():
            assert "503" in described[path][method.lower()]["responses"], (method, path)


async def test_a_server_that_stops_waits_for_no_database(clock: Clock, pool: Pool) -> None:
    app = server(pool, clock)
    ended: Ended = app.state.served.ended
    never = asyncio.Event()
    ended.owed[b"d" * 32] = 1.0
    ended._telling = asyncio.create_task(never.wait())  # type: ignore[arg-type]
    async with asyncio.timeout(60):
        await app.state.served.close()


async def test_rows_are_forgotten_when_the_cookie_is_too_old_anyway(conn: Conn) -> None:
    await conn.execute(
        "INSERT INTO awa.ended_sessions SELECT sha256(int4send(n)), now() + (n + 0.5) * interval '1 hour' "
        "FROM generate_series(-2, 2) n"
    )
    assert await retention.forget_sessions(conn) == 2
    assert await retention.forget_sessions(conn) == 0
    found = await conn.execute(
        "SELECT count(*), min(expires_at) >= now() - interval '1 minute' FROM awa.ended_sessions"
    )
    assert await found.fetchone() == (3, True)
