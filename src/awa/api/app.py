"""The ASGI application, put together: context, routes, errors, envelope.

`create_app(url)` opens a pool of its own when it starts and closes it when it stops; a program that has
a pool hands it over and keeps it. A database that is away does not keep the server from starting: it
answers 503 until the database is back, and /readyz says so.
"""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from fastapi import FastAPI

from awa.api.openapi import describe
from awa.api.routes import batch_ops, capabilities, health, metrics
from awa.config import Settings
from awa.db.pool import Pool, make_pool
from awa.http import problems
from awa.http.access import Access
from awa.http.context import CONNECTION_WAIT_S, Served
from awa.http.middleware import Envelope
from awa.http.tokens import TokenTable
from awa.http.version import VERSION

POOL_MAX_SIZE = 10


def create_app(
    database: Pool | str,
    *,
    tokens: TokenTable | None = None,
    read_only: bool = False,
    local_writes: bool = True,
    allowed_hosts: Iterable[str] = (),
    settings: Settings | None = None,
) -> FastAPI:
    """Build the app over a pool, or over a URL for which it opens one.

    Without tokens only requests from this machine may change anything, and none when `local_writes` is
    False, which `serve` sets if it listens on more than loopback. `read_only` wins over every role.
    """
    access = Access(
        tokens or TokenTable(),
        read_only=read_only,
        local_writes=local_writes,
        allowed_hosts=frozenset(host.lower() for host in allowed_hosts),
    )
    own_pool = isinstance(database, str)
    pool = _make_pool(database) if isinstance(database, str) else database
    app = FastAPI(
        title="Awa",
        version=VERSION,
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=_opened(pool) if own_pool else None,
    )
    app.state.served = Served(pool, access, settings or Settings.from_env())
    for resource in (batch_ops, capabilities, health, metrics):
        app.include_router(resource.router)
    problems.install(app)
    describe(app)
    app.add_middleware(Envelope)
    return app


def _make_pool(url: str) -> Pool:
    return make_pool(url, min_size=1, max_size=POOL_MAX_SIZE, timeout_s=CONNECTION_WAIT_S)


def _opened(pool: Pool) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        # Not waited for: without its database the server starts as well, and says so.
        await pool.open(wait=False)
        try:
            yield
        finally:
            await pool.close()

    return lifespan
