"""A browser's session from log-in to log-out: its cookie, its CSRF token, and all the ways in which it ends."""

import logging
import re
from dataclasses import replace
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from awa.api import create_app
from awa.config import Settings
from awa.db.pool import Pool
from awa.http.throttle import FAILURES_AT_ONCE
from awa.http.tokens import TokenTable
from tests.api.conftest import MOVE, REMOTE, TOKENS, Ask, error_of

PAGE = {"Origin": "http://localhost:8080", "Sec-Fetch-Site": "same-origin"}
OPERATOR = "operator-token-0123456789"


async def log_in(browser: httpx.AsyncClient, token: str = OPERATOR) -> httpx.Response:
    return await browser.post("/api/session", json={"token": token}, headers=PAGE)


async def signed(browser: httpx.AsyncClient) -> dict[str, str]:
    """The headers that a page of ours sends along."""
    token = (await browser.get("/api/session", headers=PAGE)).json()["csrf_token"]
    return {**PAGE, "X-CSRF-Token": token}


@pytest.fixture
def browser(ask: Ask) -> httpx.AsyncClient:
    """A browser elsewhere, at a server with tokens; it keeps cookies."""
    return ask(tokens=TOKENS, peer=REMOTE)


async def test_a_log_in_makes_one_the_tokens_holder(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/api/batch-ops")).status_code == 401
    assert (await log_in(browser)).status_code == 204
    found = (await browser.get("/api/session", headers=PAGE)).json()
    assert (found["actor"], found["role"], found["read_only"]) == ("deploy", "operator", False)
    assert found["expires_at"]
    answer = await browser.post("/api/batch-ops", json=MOVE, headers=await signed(browser))
    assert (answer.status_code, answer.json()["submitted_by"]) == (201, "deploy")


async def test_the_cookie_is_exactly_as_it_is_said_to_be(browser: httpx.AsyncClient) -> None:
    cookie = (await log_in(browser)).headers["set-cookie"]
    assert re.fullmatch(
        r"awa_session=[\w.-]+; HttpOnly; Max-Age=43200; Path=/; SameSite=lax", cookie
    )


@pytest.mark.parametrize("how", ["scheme", "proxy"])
async def test_over_https_the_cookie_stays_on_https(browser: httpx.AsyncClient, how: str) -> None:
    url = "https://localhost:8080/api/session" if how == "scheme" else "/api/session"
    headers = {"X-Forwarded-Proto": "https"} if how == "proxy" else {}
    answer = await browser.post(url, json={"token": OPERATOR}, headers=headers)
    assert answer.headers["set-cookie"].endswith("; Secure")


async def test_how_long_it_is_good_is_a_setting(ask: Ask) -> None:
    short = Settings.from_env({}, session_hours=0.5)
    cookie = (await log_in(ask(tokens=TOKENS, settings=short))).headers["set-cookie"]
    assert "; Max-Age=1800;" in cookie


@pytest.mark.parametrize(
    "wrong", ["viewer-token-012345678", "", " ", "x" * 1_000, "é" * 20, OPERATOR + "x"]
)
async def test_a_wrong_token_is_no_way_in(browser: httpx.AsyncClient, wrong: str) -> None:
    answer = await log_in(browser, wrong)
    error_of(answer, 401, "unauthorized")
    assert "set-cookie" not in answer.headers
    assert answer.headers["www-authenticate"]


async def test_a_log_out_ends_the_session_for_whoever_kept_the_cookie(
    browser: httpx.AsyncClient,
) -> None:
    await log_in(browser)
    kept = browser.cookies["awa_session"]
    answer = await browser.delete("/api/session", headers=await signed(browser))
    assert answer.status_code == 204
    assert "Max-Age=0" in answer.headers["set-cookie"]
    assert "awa_session" not in browser.cookies
    again = await browser.get("/api/batch-ops", headers={"Cookie": f"awa_session={kept}"})
    assert "session has ended" in error_of(again, 401, "unauthorized")["message"]


async def test_a_log_out_ends_no_other_session(ask: Ask, pool: Pool) -> None:
    app = create_app(pool, tokens=TOKENS)
    here, there = ask(app=app), ask(app=app)
    await log_in(here)
    await log_in(there)
    await here.delete("/api/session", headers=await signed(here))
    assert (await there.get("/api/session")).status_code == 200


async def test_a_session_goes_with_its_token(ask: Ask, pool: Pool) -> None:
    app = create_app(pool, tokens=TOKENS)
    browser = ask(app=app, peer=REMOTE)
    await log_in(browser)
    rest = TokenTable(tuple(one for one in TOKENS.tokens if one.actor.name != "deploy"))
    app.state.served.access = replace(app.state.served.access, tokens=rest)
    error_of(await browser.get("/api/batch-ops"), 401, "unauthorized")


async def test_two_servers_with_one_secret_are_one_to_a_browser(ask: Ask) -> None:
    secret = "s" * 32
    first = ask(tokens=TOKENS, session_secret=secret)
    await log_in(first)
    kept = {"Cookie": f"awa_session={first.cookies['awa_session']}"}
    second = ask(tokens=TOKENS, session_secret=secret)
    assert (await second.get("/api/session", headers=kept)).status_code == 200
    stranger = ask(tokens=TOKENS)
    assert (await stranger.get("/api/session", headers=kept)).status_code == 401


async def test_a_bearer_token_wins_over_a_cookie(browser: httpx.AsyncClient) -> None:
    await log_in(browser)
    bearer = {"Authorization": "Bearer viewer-token-0123456789"}
    found = (await browser.get("/api/session", headers=bearer)).json()
    assert (found["actor"], found["csrf_token"], found["expires_at"]) == ("grafana", "", None)
    wrong = {"Authorization": "Bearer not-known-0123456789"}
    assert (await browser.get("/api/session", headers=wrong)).status_code == 401


async def test_without_tokens_there_is_nothing_to_log_in_to(api: httpx.AsyncClient) -> None:
    error_of(await log_in(api), 409, "conflict")


CHANGES: list[tuple[str, str, Any]] = [
    ("POST", "/api/batch-ops", MOVE),
    ("POST", "/api/batch-ops/preview", MOVE),
    ("DELETE", "/api/session", None),
]


@pytest.mark.parametrize(("method", "path", "body"), CHANGES)
async def test_a_cookie_alone_changes_nothing(
    ask: Ask, pool: Pool, method: str, path: str, body: Any
) -> None:
    app = create_app(pool, tokens=TOKENS)
    browser, other = ask(app=app), ask(app=app)
    await log_in(browser)
    await log_in(other, "admin-token-0123456789")
    for headers in (
        {},
        PAGE,
        {**PAGE, "X-CSRF-Token": ""},
        {**PAGE, "X-CSRF-Token": "made-up"},
        {**PAGE, "X-CSRF-Token": browser.cookies["awa_session"]},
        await signed(other),
    ):
        answer = await browser.request(method, path, json=body, headers=headers)
        assert error_of(answer, 403, "forbidden")["details"] == {"reason": "csrf"}
    right = await browser.request(method, path, json=body, headers=await signed(browser))
    assert right.is_success


async def test_a_page_at_this_machine_needs_its_token_too(api: httpx.AsyncClient) -> None:
    answer = await api.post("/api/batch-ops", json=MOVE, headers=PAGE)
    assert error_of(answer, 403, "forbidden")["details"] == {"reason": "csrf"}
    answer = await api.post("/api/batch-ops", json=MOVE, headers=await signed(api))
    assert answer.status_code == 201
    assert (await api.post("/api/batch-ops", json=MOVE)).status_code == 201


FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://localhost:3000"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site", "Origin": "http://localhost:8080"},
]


@pytest.mark.parametrize("foreign", FOREIGN)
async def test_a_foreign_page_gets_nothing_out_of_a_session(
    browser: httpx.AsyncClient, foreign: dict[str, str]
) -> None:
    await log_in(browser)
    token = (await signed(browser))["X-CSRF-Token"]
    for method, path, body in (*CHANGES, ("GET", "/api/batch-ops", None)):
        headers = {**foreign, "X-CSRF-Token": token}
        answer = await browser.request(method, path, json=body, headers=headers)
        assert error_of(answer, 403, "forbidden")["details"] == {"reason": "foreign"}


@pytest.mark.parametrize("foreign", FOREIGN)
async def test_a_foreign_page_logs_nobody_in(
    browser: httpx.AsyncClient, foreign: dict[str, str]
) -> None:
    answer = await browser.post("/api/session", json={"token": OPERATOR}, headers=foreign)
    assert error_of(answer, 403, "forbidden")["details"] == {"reason": "foreign"}
    assert "set-cookie" not in answer.headers


async def test_many_wrong_tokens_have_to_wait_and_so_does_the_right_one(
    ask: Ask, pool: Pool
) -> None:
    app = create_app(pool, tokens=TOKENS)
    guesser, other = ask(app=app, peer=REMOTE), ask(app=app, peer=("192.0.2.8", 1))
    for _ in range(FAILURES_AT_ONCE):
        assert (await log_in(guesser, "a-wrong-token-0123456789")).status_code == 401
    answer = await log_in(guesser)
    wait_s = error_of(answer, 429, "too_many")["details"]["retry_after_s"]
    assert 0 < wait_s <= int(answer.headers["retry-after"]) <= 30
    assert (await log_in(other)).status_code == 204
    bearer = {"Authorization": f"Bearer {OPERATOR}"}
    assert (await guesser.get("/api/batch-ops", headers=bearer)).status_code == 200


async def test_a_proxy_on_this_machine_is_not_one_person(ask: Ask, pool: Pool) -> None:
    """Behind a proxy all come from loopback; the address that it appends tells them apart."""
    app = create_app(pool, tokens=TOKENS)
    proxied = ask(app=app)
    for _ in range(FAILURES_AT_ONCE):
        await proxied.post(
            "/api/session",
            json={"token": "a-wrong-token-0123456789"},
            headers={"X-Forwarded-For": "10.0.0.1, 198.51.100.1"},
        )
    for last, status in (("198.51.100.1", 429), ("198.51.100.2", 204)):
        answer = await proxied.post(
            "/api/session", json={"token": OPERATOR}, headers={"X-Forwarded-For": last}
        )
        assert answer.status_code == status
    direct = ask(app=app, peer=REMOTE)
    for number in range(FAILURES_AT_ONCE):
        await direct.post(
            "/api/session",
            json={"token": "a-wrong-token-0123456789"},
            headers={"X-Forwarded-For": f"10.0.0.{number}"},
        )
    assert (await log_in(direct)).status_code == 429


async def test_no_token_is_told_in_an_answer_a_url_or_the_log(
    browser: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = "a-wrong-token-0123456789"
    logging.getLogger("httpx").disabled = True  # the client's own log is not ours
    answers = [
        await log_in(browser, wrong),
        await log_in(browser),
        await browser.post("/api/session", json={"token": wrong, "tokne": wrong}),
        await browser.post("/api/session", json={"token": [wrong]}),
        await browser.post("/api/session", content=f'{{"token": "{wrong}'),
        await browser.get("/api/batch-ops", params={"token": wrong}),
        await browser.get("/api/batch-ops", headers={"Authorization": f"Bearer {wrong}"}),
        await browser.get("/api/batch-ops", headers={"Authorization": f"Basic {wrong}"}),
    ]
    logging.getLogger("httpx").disabled = False
    told = [one.text + str(one.headers) for one in answers]
    told += [one.getMessage() for one in caplog.records if one.name.startswith("awa")]
    cookie = browser.cookies["awa_session"]
    assert [one for one in told if wrong in one or OPERATOR in one] == []
    assert [one for one in told if cookie in one and "set-cookie" not in one] == []
    assert "deploy logged in from 192.0.2.7" in caplog.text
    assert "a log-in from 192.0.2.7 was refused" in caplog.text


async def test_read_only_and_roles_hold_for_sessions(ask: Ask) -> None:
    for token, options, code in (
        ("admin-token-0123456789", {"read_only": True}, "read_only"),
        ("viewer-token-0123456789", {}, "forbidden"),
    ):
        browser = ask(tokens=TOKENS, **options)
        await log_in(browser, token)
        headers = await signed(browser)
        answer = await browser.post("/api/batch-ops", json=MOVE, headers=headers)
        error_of(answer, 403, code)
        preview = await browser.post("/api/batch-ops/preview", json=MOVE, headers=headers)
        assert preview.status_code == 200


def test_a_short_secret_keeps_the_server_from_starting() -> None:
    from awa.model.errors import ValidationError

    with pytest.raises(ValidationError, match="AWA_SESSION_SECRET"):
        create_app("postgresql:///nowhere", tokens=TOKENS, session_secret="short")


def test_the_app_is_made_with_what_it_was_given() -> None:
    app: FastAPI = create_app("postgresql:///nowhere", tokens=TOKENS)
    assert app.state.served.access.tokens is TOKENS
