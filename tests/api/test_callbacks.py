"""Callbacks over HTTP: by a signed URL, by a token, and on a server that does nothing else."""

import logging
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from psycopg import AsyncConnection

from awa.api import create_app
from awa.asgi import create_app as create_whole
from awa.config import Settings
from awa.db.pool import Pool
from awa.http.routes import all_routes
from awa.model.callback import CallbackToken, Signer
from tests.api.conftest import REMOTE, TOKENS, Ask, error_of
from tests.storage.world import World

SECRET = "a-secret-of-more-than-32-characters"
SETTINGS = Settings(callback_secret=SECRET)


@pytest.fixture
async def world(conn: AsyncConnection[Any]) -> World:
    return await World.on(conn)


def token_of(callback: UUID, secret: str = SECRET) -> CallbackToken:
    signer = Signer.of(secret, "http://localhost:8080")
    return CallbackToken.make(callback, datetime.now(UTC), signer)


@pytest.mark.parametrize(
    ("action", "body", "state"),
    [
        ("complete", {"payload": {"charged": 700}}, "completed"),
        ("complete", None, "completed"),
        ("fail", {"error": "no money"}, "failed"),
        ("fail", {"error": {"error": "no money", "code": 51}}, "failed"),
        ("retry", {}, "retryable"),
        ("resume", {"payload": [1]}, "available"),
        ("heartbeat", {"timeout_seconds": 90}, "waiting_external"),
    ],
)
async def test_whoever_has_a_signed_url_may_do_what_it_says(
    ask: Ask, world: World, action: str, body: Any, state: str
) -> None:
    job_id, callback = await world.waiting()
    outside = ask(tokens=TOKENS, settings=SETTINGS, peer=REMOTE)
    url = token_of(callback).url(action)
    answer = await outside.post(url, json=body) if body is not None else await outside.post(url)
    assert answer.status_code == 200, answer.text
    came = answer.json()
    assert (came["action"], came["job_id"], came["state"]) == (action, job_id, state)
    assert await world.state(job_id) == state
    again = await outside.post(url, json=body or {})
    if action == "heartbeat":
        assert again.status_code == 200
        return
    error = error_of(again, 409, "conflict")
    assert error["details"]["resolution"] == action
    assert error["details"]["state"] == state
    assert "by signed at" in error["message"]


@pytest.mark.parametrize("action", ["complete", "heartbeat"])
async def test_a_signed_url_is_of_no_use_after_the_callbacks_time(
    ask: Ask, world: World, action: str
) -> None:
    job_id, callback = await world.waiting()
    await world.expire(callback)
    late = await ask(settings=SETTINGS, peer=REMOTE).post(token_of(callback).url(action))
    error = error_of(late, 409, "conflict")
    assert (error["details"]["reason"], error["details"]["job_id"]) == ("late", job_id)
    assert await world.state(job_id) == "waiting_external"


async def test_the_signature_may_come_in_a_header(ask: Ask, world: World) -> None:
    _, callback = await world.waiting()
    outside = ask(settings=SETTINGS, peer=REMOTE, local_writes=False)
    headers = {"X-Awa-Signature": token_of(callback).signature("complete")}
    answer = await outside.post(f"/api/callbacks/{callback}/complete", headers=headers)
    assert (answer.status_code, answer.json()["state"]) == (200, "completed")


@pytest.mark.parametrize("wrong", ["action", "callback", "secret", "expired", "mangled", "none"])
async def test_a_signature_that_is_not_good_is_refused_and_repeated_nowhere(
    ask: Ask, world: World, caplog: pytest.LogCaptureFixture, wrong: str
) -> None:
    job_id, callback = await world.waiting()
    outside = ask(tokens=TOKENS, settings=SETTINGS, peer=REMOTE)
    url = token_of(callback).url("resume")
    match wrong:
        case "action":
            url = url.replace("/resume?", "/complete?")
        case "callback":
            url = url.replace(str(callback), str(uuid4()))
        case "secret":
            url = token_of(callback, "another-secret-of-32-characters-x").url("resume")
        case "expired":
            url = token_of(callback).url("resume", valid_seconds=1e-6)
        case "mangled":
            url = url[:-1] + ("0" if url[-1] != "0" else "1")
        case _:
            url = url.partition("&")[0] + "&signature="
    signed = url.rpartition("=")[2]
    with caplog.at_level(logging.DEBUG, "awa"):
        error = error_of(await outside.post(url), 403, "forbidden")
    assert error["details"] == {"reason": "signature"}
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("awa")]
    assert not signed or not any(signed in told for told in [str(error), *ours])
    assert await world.state(job_id) == "waiting_external"


async def test_a_good_signature_is_not_logged_either(
    ask: Ask, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    _, callback = await world.waiting()
    url = token_of(callback).url("complete")
    with caplog.at_level(logging.INFO, "awa.api"):
        await ask(settings=SETTINGS, peer=REMOTE).post(url)
    assert f"/api/callbacks/{callback}/complete 200 signed" in caplog.text
    assert "signature" not in caplog.text


@pytest.mark.parametrize(
    ("token", "status"), [("viewer", 403), ("operator", 200), ("admin", 200), (None, 401)]
)
async def test_without_a_signature_it_wants_an_operator(
    ask: Ask, world: World, token: str | None, status: int
) -> None:
    _, callback = await world.waiting()
    client = ask(tokens=TOKENS, token=token, peer=REMOTE)
    answer = await client.post(f"/api/callbacks/{callback}/complete", json={"payload": 1})
    assert answer.status_code == status
    if status == 200:
        shown = (await client.get(f"/api/callbacks/{callback}")).json()
        assert shown["resolved_by"] == {"operator": "deploy", "admin": "root"}[token or ""]


async def test_a_server_without_the_secret_says_so(ask: Ask, world: World) -> None:
    _, callback = await world.waiting()
    error = error_of(await ask(peer=REMOTE).post(token_of(callback).url()), 403, "forbidden")
    assert "AWA_CALLBACK_SECRET" in error["hint"]


async def test_read_only_wins_over_a_signature(ask: Ask, world: World) -> None:
    job_id, callback = await world.waiting()
    server = ask(settings=SETTINGS, read_only=True)
    error_of(await server.post(token_of(callback).url()), 403, "read_only")
    assert await world.state(job_id) == "waiting_external"


async def test_a_callback_is_shown_without_its_secrets(ask: Ask, world: World) -> None:
    job_id, callback = await world.waiting()
    await world.answer(callback, "complete", payload={"card": "4111", "amount": 7}, by="bank")
    viewer = ask(tokens=TOKENS, token="viewer")
    shown = (await viewer.get(f"/api/callbacks/{callback}")).json()
    assert (shown["job_id"], shown["job_state"], shown["resolution"]) == (
        job_id, "completed", "complete",
    )  # fmt: skip
    assert shown["payload"] == {"card": "•••", "amount": 7}
    error_of(await viewer.get(f"/api/callbacks/{uuid4()}"), 404, "not_found")
    error_of(await viewer.get("/api/callbacks/nonsense"), 404, "not_found")


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("{id}/explode", {}, 404, "not_found"),
        ("nonsense/complete", {}, 404, "not_found"),
        ("{unknown}/complete", {}, 404, "not_found"),
        ("{id}/complete", {"error": "no"}, 422, "invalid"),
        ("{id}/fail", {"payload": 1}, 422, "invalid"),
        ("{id}/fail", {"error": {"code": 1}}, 422, "invalid"),
        ("{id}/heartbeat", {"timeout_seconds": -1}, 422, "invalid"),
        ("{id}/complete", {"paylod": 1}, 422, "invalid"),
        ("{id}/complete", {"payload": "\x00"}, 422, "invalid"),
    ],
)
async def test_what_makes_no_sense_is_refused(
    *, api: httpx.AsyncClient, world: World, path: str, body: Any, status: int, code: str
) -> None:
    job_id, callback = await world.waiting()
    path = path.format(id=callback, unknown=uuid4())
    error_of(await api.post(f"/api/callbacks/{path}", json=body), status, code)
    assert await world.state(job_id) == "waiting_external"


async def test_a_server_of_callbacks_has_nothing_else(pool: Pool, ask: Ask, world: World) -> None:
    _, callback = await world.waiting()
    app = create_whole(pool, settings=SETTINGS, callbacks_only=True)
    paths = {route.path for route in all_routes(app)}
    assert paths == {"/api/callbacks/{callback_id}/{action}", "/healthz"}
    here = ask(app=app)
    for path in (
        "/",
        "/jobs",
        "/api/jobs",
        "/api/openapi.json",
        "/metrics",
        "/readyz",
        "/assets/app.css",
    ):
        error_of(await here.get(path), 404, "not_found")
    error_of(await here.get(f"/api/callbacks/{callback}"), 404, "not_found")
    assert (await here.get("/healthz")).json() == {"status": "ok"}
    # Not even somebody at this machine is believed without a signature.
    error = error_of(await here.post(f"/api/callbacks/{callback}/complete"), 403, "forbidden")
    assert error["details"] == {"reason": "signature"}
    assert "came with neither" in error["message"]
    assert (await here.post(token_of(callback).url())).json()["state"] == "completed"


def test_the_whole_server_has_the_routes_of_callbacks(pool: Pool) -> None:
    app: FastAPI = create_app(pool)
    paths = {route.path for route in all_routes(app)}
    assert {
        "/api/callbacks/{callback_id}",
        "/api/callbacks/{callback_id}/{action}",
        "/healthz",
    } <= paths
