"""The web console: pages for operators, rendered here and enhanced by small modules.

`install` adds the pages to an application that has `state.served` (see awa.http.context). Pages call the
same functions as the API.
"""

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from awa.http.problems import answer_to
from awa.web import assets
from awa.web.pages import error_page, wants_page
from awa.web.routes import ROUTERS

__all__ = ["install"]


def install(app: FastAPI) -> None:
    """Add the console's pages to the app."""
    app.include_router(assets.router)
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(HTTPException, _on_http_error)


async def _on_http_error(request: Request, error: Exception) -> Response:
    """Where there is nothing, a browser gets a page and a program the API's answer."""
    return error_page(request, error) if wants_page(request) else answer_to(request, error)
