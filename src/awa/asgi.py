"""The whole HTTP side as one ASGI application: the API and the console on one pool, behind the same rules.

`create_app` stands alone or below any path of another application; see docs/reference/http.md.
"""

from collections.abc import Iterable

from fastapi import FastAPI

from awa import web
from awa.api.app import create_app as create_api
from awa.config import Settings
from awa.db.pool import Pool
from awa.http.tokens import TokenTable

__all__ = ["create_app"]


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
    """API and console over a pool, or over a URL for which one is opened; parameters as `awa.api.create_app`."""
    app = create_api(
        database,
        tokens=tokens,
        read_only=read_only,
        local_writes=local_writes,
        allowed_hosts=allowed_hosts,
        settings=settings,
        session_secret=session_secret,
        callbacks_only=callbacks_only,
    )
    if not callbacks_only:
        web.install(app)
    return app
