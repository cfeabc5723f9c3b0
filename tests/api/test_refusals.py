"""Whatever goes wrong leaves in one shape, with the right status, and nothing half done."""

import logging
from typing import Any
from uuid import uuid4

import httpx
import pytest
from psycopg import AsyncConnection

from awa.api import create_app, guarded
from awa.api.routes import batch_ops
from awa.db.pool import Pool, make_pool
from tests.api.conftest import MOVE, REMOTE, TOKENS, Ask, error_of, fields_of

CANCEL = {"state": "cancelling"}


@pytest.fixture
async def mutations() -> list[tuple[str, str, Any]]:
    return [
        ("POST", "/api/batch-ops", MOVE),
        ("PATCH", f"/api/batch-ops/{uuid4()}", CANCEL),
    ]


async def test_read_only_refuses_what_changes_and_leaves_what_looks(
    ask: Ask, mutations: list[tuple[str, str, Any]]
) -> None:
    for api in (ask(read_only=True), ask(read_only=True, tokens=TOKENS, token="admin")):
        for method, path, body in mutations:
            error_of(await api.request(method, path, json=body), 403, "read_only")
        assert (await api.post("/api/batch-ops/preview", json=MOVE)).status_code == 200
        assert (await api.get("/api/batch-ops")).status_code == 200


async def test_without_tokens_it_writes_for_this_machine_alone(
    ask: Ask, mutations: list[tuple[str, str, Any]]
) -> None:
    for api in (ask(peer=REMOTE), ask(local_writes=False)):
        for method, path, body in mutations:
            error_of(await api.request(method, path, json=body), 403, "read_only")
        assert (await api.post("/api/batch-ops/preview", json=MOVE)).status_code == 200


async def test_with_tokens_a_stranger_gets_nothing(
    ask: Ask, mutations: list[tuple[str, str, Any]]
) -> None:
    for api in (ask(tokens=TOKENS), ask(tokens=TOKENS, token="forged")):
        asked = [*mutations, ("POST", "/api/batch-ops/preview", MOVE), ("GET", "/metrics", None)]
        for method, path, body in asked:
            answer = await api.request(method, path, json=body)
            error_of(answer, 401, "unauthorized")
            assert answer.headers["www-authenticate"].startswith("Bearer")


async def test_a_stranger_learns_nothing_from_how_a_body_is_refused(ask: Ask) -> None:
    answer = await ask(tokens=TOKENS).post("/api/batch-ops", content=b"{not json")
    error_of(answer, 401, "unauthorized")


async def test_a_viewer_may_look_and_preview(
    ask: Ask, mutations: list[tuple[str, str, Any]]
) -> None:
    api = ask(tokens=TOKENS, token="viewer", peer=REMOTE)
    assert (await api.get("/api/batch-ops")).status_code == 200
    assert (await api.post("/api/batch-ops/preview", json=MOVE)).status_code == 200
    for method, path, body in mutations:
        error_of(await api.request(method, path, json=body), 403, "forbidden")


async def test_a_token_in_the_url_is_no_token_and_is_not_repeated(
    ask: Ask, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "awa")
    secret = "admin-token-0123456789"
    api = ask(tokens=TOKENS)
    error_of(await api.get(f"/api/batch-ops?access_token={secret}"), 401, "unauthorized")
    api = ask(tokens=TOKENS, token="admin")
    answer = await api.get(f"/api/batch-ops?access_token={secret}")
    assert fields_of(answer) == {"access_token"}
    assert secret not in answer.text
    assert secret not in caplog.text
    assert "GET /api/batch-ops 422 root" in caplog.text


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
    ],
)
async def test_a_foreign_page_can_not_use_the_browser_of_whoever_runs_the_server(
    api: httpx.AsyncClient, conn: AsyncConnection[Any], headers: dict[str, str]
) -> None:
    error_of(await api.post("/api/batch-ops", json=MOVE, headers=headers), 403, "forbidden")
    found = await conn.execute("SELECT count(*) FROM awa.batch_operations")
    assert await found.fetchone() == (0,)


async def test_what_a_form_can_send_is_no_request(api: httpx.AsyncClient) -> None:
    for media in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        answer = await api.post("/api/batch-ops", content=b"{}", headers={"Content-Type": media})
        error_of(answer, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"  ",
        b"null",
        b"{",
        b"[]",
        b'"text"',
        b"\xff\xfe",
        b'{"op_kind": NaN}',
        b'{"op_kind": "\\ud800"}',
        b"[" * 100_000,
        b'{"filter": ' * 5_000,
    ],
)
async def test_a_body_that_is_no_json_object_is_refused(
    api: httpx.AsyncClient, content: bytes
) -> None:
    for media in ({"Content-Type": "application/json"}, {}):
        answer = await api.post("/api/batch-ops", content=content, headers=media)
        assert fields_of(answer) <= {"body", "op_kind"}


@pytest.mark.parametrize(
    "body",
    [
        MOVE | {"filter": {"queue": "a\0b"}},
        MOVE | {"filter": {"ids": [1], "kinds": ["a", "b\0"]}},
        MOVE | {"filter": {"a\0b": 1}},
        MOVE | {"reason": "a\0b"},
    ],
)
async def test_a_nul_character_is_told_by_its_place(api: httpx.AsyncClient, body: Any) -> None:
    error = error_of(await api.post("/api/batch-ops", json=body), 422, "invalid")
    assert "NUL" in error["message"]


async def test_a_body_has_a_greatest_length(
    api: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guarded, "BODY_MAX_BYTES", 1_000)

    async def in_parts() -> Any:
        for _ in range(11):
            yield b" " * 100

    answer = await api.post("/api/batch-ops", json=MOVE | {"reason": "x" * 1_000})
    error_of(answer, 413, "too_large")
    error_of(await api.post("/api/batch-ops", content=in_parts()), 413, "too_large")


async def test_what_comes_back_of_wrong_input_is_short(api: httpx.AsyncClient) -> None:
    answer = await api.post("/api/batch-ops", json={"x" * 100_000: 1})
    error_of(answer, 422, "invalid")
    assert len(answer.content) < 5_000


@pytest.mark.parametrize("path", ["/", "/api", "/api/nothing", "/api/batch-ops/", "/docs", "/%00"])
async def test_an_unknown_path_is_not_found(api: httpx.AsyncClient, path: str) -> None:
    error_of(await api.get(path), 404, "not_found")


async def test_a_method_that_is_not_possible_is_refused(api: httpx.AsyncClient) -> None:
    for method, path, allowed in (
        ("PUT", "/api/batch-ops", {"GET", "POST", "DELETE"}),
        ("POST", "/healthz", {"GET", "HEAD"}),
        ("DELETE", "/api/batch-ops/preview", {"GET", "PATCH", "POST"}),
    ):
        answer = await api.request(method, path)
        error_of(answer, 405, "method_not_allowed")
        assert set(answer.headers["allow"].split(", ")) == allowed


async def test_without_its_database_it_answers_503_and_says_no_more(
    ask: Ask, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awa.http.context.CONNECTION_WAIT_S", 0.1)
    pool = make_pool("postgresql://nobody:hunter2@127.0.0.1:1/nowhere", min_size=0, max_size=2)
    await pool.open()
    try:
        api = ask(app=create_app(pool))
        for answer in (
            await api.get("/api/batch-ops"),
            await api.post("/api/batch-ops", json=MOVE),
            await api.get("/readyz"),
        ):
            error_of(answer, 503, "database")
            assert answer.headers["retry-after"]
            assert "127.0.0.1" not in answer.text
        assert (await api.get("/healthz")).status_code == 200
        assert (await api.get("/metrics")).status_code == 200
        assert "hunter2" not in caplog.text
    finally:
        await pool.close()


async def test_connections_that_died_in_the_pool_cost_no_request(
    pool: Pool, api: httpx.AsyncClient, conn: AsyncConnection[Any]
) -> None:
    for _ in range(2):
        assert (await api.get("/api/batch-ops")).status_code == 200
        await conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    assert (await api.post("/api/batch-ops", json=MOVE)).status_code == 201


async def test_a_database_without_our_schema_is_503_and_says_what_to_do(
    ask: Ask, empty_database_url: str
) -> None:
    pool = make_pool(empty_database_url, min_size=0, max_size=2)
    await pool.open()
    try:
        api = ask(app=create_app(pool))
        for path in ("/readyz", "/api/batch-ops"):
            error = error_of(await api.get(path), 503, "schema_not_migrated")
            assert "awa migrate" in error["hint"]
    finally:
        await pool.close()


async def test_a_statement_that_takes_too_long_is_ended(
    api: httpx.AsyncClient, conn: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awa.http.context.LOCK_WAIT_MAX_MS", 50)
    found = (await api.post("/api/batch-ops", json=MOVE)).json()
    async with conn.transaction():
        await conn.execute("SELECT FROM awa.batch_operations FOR UPDATE")
        answer = await api.patch(f"/api/batch-ops/{found['id']}", json=CANCEL)
        error_of(answer, 503, "database")
    answer = await api.patch(f"/api/batch-ops/{found['id']}", json=CANCEL)
    assert answer.json()["state"] == "cancelled"


async def test_our_own_mistake_is_500_with_a_reference_into_the_log(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr(batch_ops, "preview", broken)
    error = error_of(await ask().post("/api/batch-ops/preview", json=MOVE), 500, "internal")
    reference = error["hint"].rpartition(" ")[2]
    assert reference in caplog.text
    assert "secret detail" in caplog.text
    assert "secret detail" not in str(error)


async def test_looking_can_not_change_anything_even_by_mistake(
    ask: Ask, conn: AsyncConnection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def writes(inside: AsyncConnection[Any], *_: Any, **__: Any) -> Any:
        await inside.execute("INSERT INTO awa.queue_meta (queue) VALUES ('touched')")

    monkeypatch.setattr(batch_ops, "preview", writes)
    answer = await ask().post("/api/batch-ops/preview", json=MOVE)
    assert answer.status_code >= 500
    found = await conn.execute("SELECT count(*) FROM awa.queue_meta")
    assert await found.fetchone() == (0,)


async def test_every_answer_has_careful_headers(api: httpx.AsyncClient) -> None:
    for path, kept in (
        ("/api/batch-ops", "private, no-cache"),
        ("/nowhere", "no-store"),
        ("/healthz", "no-store"),
        ("/api/session", "no-store"),
    ):
        headers = (await api.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == kept


async def test_a_path_in_the_log_stays_on_its_line(
    api: httpx.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "awa.api")
    await api.get("/nowhere%0AGET%20/forged%20200")
    assert "\n" not in caplog.records[-1].getMessage()
