"""The app over this test's database, asked through ASGI as a program on this machine would."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from awa.api import create_app
from awa.db.pool import Pool, make_pool
from awa.http.tokens import TokenTable, parse_tokens

TOKENS = parse_tokens(
    [
        "grafana:viewer:viewer-token-0123456789",
        "deploy:operator:operator-token-0123456789",
        "root:admin:admin-token-0123456789",
    ]
)
LOCAL = ("127.0.0.1", 50_000)
REMOTE = ("192.0.2.7", 50_000)
MOVE: dict[str, Any] = {
    "op_kind": "move_queue",
    "filter": {"queue": "email"},
    "spec": {"queue": "escalations"},
}

Ask = Callable[..., httpx.AsyncClient]


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    pool = make_pool(database_url, min_size=0, max_size=4, timeout_s=60)
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture
async def ask(pool: Pool) -> AsyncIterator[Ask]:
    """Makes clients of the app: `ask(tokens=…, token=…, peer=…, read_only=…)`."""
    async with AsyncExitStack() as stack:

        def client(
            *,
            app: FastAPI | None = None,
            tokens: TokenTable | None = None,
            token: str | None = None,
            peer: tuple[str, int] = LOCAL,
            **options: Any,
        ) -> httpx.AsyncClient:
            app = app or create_app(pool, tokens=tokens, **options)
            made = httpx.AsyncClient(
                transport=httpx.ASGITransport(app=app, client=peer),
                base_url="http://localhost:8080",
                headers={"Authorization": f"Bearer {token}-token-0123456789"} if token else {},
            )
            stack.push_async_callback(made.aclose)
            return made

        yield client


@pytest.fixture
def api(ask: Ask) -> httpx.AsyncClient:
    """The API as it is without tokens, asked from this machine."""
    return ask()


def error_of(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The error object, after a look that it is one, whole and nothing else."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert set(body) == {"error"}
    error: dict[str, Any] = body["error"]
    assert set(error) >= {"code", "message", "fields"}
    assert set(error) <= {"code", "message", "fields", "hint", "details"}
    assert error["code"] == code
    assert error["message"]
    for field in error["fields"]:
        assert set(field) == {"field", "message"}
    return error


def fields_of(answer: httpx.Response) -> set[str]:
    """The fields that a 422 complains of."""
    return {one["field"] for one in error_of(answer, 422, "invalid")["fields"]}
