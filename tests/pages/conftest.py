"""The console's pages as HTML: asked through ASGI as a browser on this machine would, taken apart as a browser would."""

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from psycopg import AsyncConnection

from awa.asgi import create_app
from awa.db.pool import Pool, make_pool
from awa.http.tokens import parse_tokens
from tests.pages.reading import Page
from tests.storage.world import World

TOKENS = parse_tokens(
    [
        "vera:viewer:viewer-token-0123456789",
        "olga:operator:operator-token-0123456789",
    ]
)
LOCAL = ("127.0.0.1", 50_000)
REMOTE = ("192.0.2.7", 50_000)
ORIGIN = "http://localhost:8080"


class Visitor:
    """A browser without scripts: it follows links and sends forms, with its cookies and its origin."""

    def __init__(self, client: httpx.AsyncClient, below: str = "") -> None:
        self.client = client
        self.below = below

    async def get(self, path: str, status: int = 200, **query: str) -> Page:
        """The page at a path below the console's root."""
        answer = await self.client.get(self.below + path, params=query or None)
        assert answer.status_code == status, answer.text[:2_000]
        return Page(answer)

    async def send(self, page: Page, action: str, status: int = 303, **fields: str) -> Page:
        """A form of the page, found by the end of its action, sent with these fields filled in."""
        form = page.form(action)
        answer = await self.client.post(
            form.action, data={**form.fields, **fields}, headers={"Origin": ORIGIN}
        )
        assert answer.status_code == status, answer.text[:2_000]
        return Page(answer)

    async def log_in(self, role: str) -> None:
        """Log in by the form with the token of that role."""
        page = await self.get("/login")
        await self.send(page, "/login", token=f"{role}-token-0123456789")


Visit = Callable[..., Visitor]


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    """The pool that the app uses."""
    pool = make_pool(database_url, min_size=0, max_size=4, timeout_s=60)
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture
async def visit(pool: Pool) -> AsyncIterator[Visit]:
    """Makes visitors: `visit(tokens=…, peer=…, below="/ops/awa", read_only=…)`."""
    async with AsyncExitStack() as stack:

        def visitor(
            *,
            app: FastAPI | None = None,
            peer: tuple[str, int] = LOCAL,
            below: str = "",
            **options: Any,
        ) -> Visitor:
            app = app or create_app(pool, **options)
            if below:
                outer = FastAPI()
                outer.mount(below, app)
                app = outer
            client = httpx.AsyncClient(
                transport=httpx.ASGITransport(app=app, client=peer),
                base_url=ORIGIN,
                headers={"Accept": "text/html"},
            )
            stack.push_async_callback(client.aclose)
            return Visitor(client, below)

        yield visitor


@pytest.fixture
def console(visit: Visit) -> Visitor:
    """The console without tokens, on this machine."""
    return visit()


@pytest.fixture
async def world(conn: AsyncConnection[Any]) -> World:
    """Words for what happens in the database."""
    return await World.on(conn)
