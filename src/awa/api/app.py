"""The ASGI application, put together: context, routes, errors, envelope.

`create_app(url)` opens a pool of its own when it starts, or with the first request where nothing says that it
starts, and closes it when it stops; a program that has a pool hands it over and keeps it. A database that is
away does not keep the server from starting: it answers 503 until the database is back, and /readyz says so.
"""

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from awa.api import openapi
from awa.api.routes import (
    batch_hold,
    batch_op_events,
    batch_op_items,
    batch_ops,
    batch_undo,
    callbacks,
    capabilities,
    cron,
    dlq,
    health,
    jobs,
    kinds,
    metrics,
    queues,
    runtime,
    session,
    stats,
    stats_events,
)
from awa.config import Settings
from awa.db.pool import Pool, connection_string, make_pool
from awa.http import problems
from awa.http.access import Access
from awa.http.context import CONNECTION_WAIT_S, Served
from awa.http.middleware import Envelope
from awa.http.signing import Sessions
from awa.http.tokens import TokenTable
from awa.http.version import VERSION
from awa.model.callback import Signer

POOL_MAX_SIZE = 10
_RESOURCES = (
    session,
    batch_hold,
    batch_undo,
    batch_ops,
    batch_op_items,
    batch_op_events,
    jobs,
    callbacks,
    queues,
    dlq,
    cron,
    kinds,
    runtime,
    stats,
    stats_events,
    capabilities,
    health,
    metrics,
)
# Always there, and with `callbacks_only` alone.
_CALLBACKS_ONLY = (callbacks.answering, health.alive)


def create_app(
    database: Pool | str,
    *,
    tokens: TokenTable | None = None,
    read_only: bool = False,
    local_writes: bool = True,
    allowed_hosts: Iterable[str] = (),
    settings: Settings | None = None,
    session_secret: str | None = None,
    callbacks_only: bool = False,
) -> FastAPI:
    """Build the app over a pool, or over a URL for which it opens one.

    Without tokens only requests from this machine may change anything, and none when `local_writes` is
    False, which `serve` sets if it listens on more than loopback. `read_only` wins over every role.
    `session_secret` signs the sessions of browsers; without one they end with the process. With `callbacks_only` it answers
    callbacks and /healthz, and nothing else is there; then nobody is believed for being at this machine.
    """
    settings = settings or Settings.from_env()
    access = Access(
        tokens or TokenTable(),
        read_only=read_only,
        local_writes=local_writes and not callbacks_only,
        allowed_hosts=frozenset(host.lower() for host in allowed_hosts),
        sessions=Sessions(session_secret, max_age_s=settings.session_hours * 3600),
        signer=Signer.of(settings.callback_secret),
    )
    app = FastAPI(
        title="Awa",
        version=VERSION,
        openapi_url=None if callbacks_only else "/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        responses=openapi.problems(414),  # of the envelope, so on every route
        lifespan=_opened,
    )
    app.state.served = _served(database, access, settings)
    if not callbacks_only:
        for resource in _RESOURCES:
            app.include_router(resource.router)
    for router in _CALLBACKS_ONLY:
        app.include_router(router)
    problems.install(app)
    openapi.describe(app)
    app.add_middleware(Envelope)
    return app


def _served(database: Pool | str, access: Access, settings: Settings) -> Served:
    if not isinstance(database, str):
        return Served(access, settings, given_pool=database)
    connection_string(database)  # a URL that can't be read is told now, not with the first request
    return Served(access, settings, make_pool=partial(_make_pool, database))


def _make_pool(url: str) -> Pool:
    return make_pool(url, min_size=1, max_size=POOL_MAX_SIZE, timeout_s=CONNECTION_WAIT_S)


@asynccontextmanager
async def _opened(app: FastAPI) -> AsyncIterator[None]:
    served: Served = app.state.served
    await served.pool()
    try:
        yield
    finally:
        await served.close()
