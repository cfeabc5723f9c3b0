"""What every page does around its endpoint: let the request in, and turn whatever goes wrong into a page.

An endpoint raises; here an unknown caller is led to the log-in page and every other error becomes a page that
says what happened and what to do, with the status that the API would give.
"""

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from awa.http import problems
from awa.http.access import admit_page, right_of
from awa.http.sessions import refuse_ended
from awa.model.errors import Unauthorized
from awa.web import flash
from awa.web.render import PAGE_HEADERS, render
from awa.web.urls import url_for

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class PageRoute(APIRoute):
    """A route that answers with a page; router = APIRouter(route_class=PageRoute, include_in_schema=False)."""

    def get_route_handler(self) -> Handler:
        handle = super().get_route_handler()
        right = right_of(self.endpoint)

        async def guarded(request: Request) -> Response:
            try:
                actor = await admit_page(request, right)
                await refuse_ended(request, right)
                request.state.actor = actor
                return await handle(request)
            except Unauthorized:
                return _to_log_in(request)
            except ClientDisconnect:
                raise
            except Exception as error:
                return error_page(request, error)

        return guarded


def go(request: Request, path: str, *parts: object, notice: str = "", **query: object) -> Response:
    """After a form: to another page, which says what was done."""
    return go_to(request, url_for(request, path, *parts, **query), notice=notice)


def go_to(request: Request, link: str, *, notice: str = "") -> Response:
    """The same to a link that one of awa.web.urls made."""
    answer = RedirectResponse(link, 303, headers=PAGE_HEADERS)
    if notice:
        flash.leave_notice(request, answer, notice)
    return answer


def error_page(request: Request, error: Exception) -> Response:
    """The page for an error: the same words, status and headers as the API's answer."""
    answer = problems.answer_to(request, error)
    told = orjson.loads(bytes(answer.body))["error"]
    kept = {
        name: value for name, value in answer.headers.items() if name in {"retry-after", "allow"}
    }
    return render(
        request,
        "error.html",
        status=answer.status_code,
        headers=kept,
        status_code=answer.status_code,
        error=told,
        again=again(request),
    )


def wants_page(request: Request) -> bool:
    """Whether a browser asks for a page, and not a program for an answer of the API."""
    return "text/html" in request.headers.get("accept", "")


def again(request: Request) -> str:
    """The link to the page that was asked for."""
    return request.url.path + (f"?{request.url.query}" if request.url.query else "")


def _to_log_in(request: Request) -> Response:
    """To the log-in page, and back from there to what was asked for."""
    asked = again(request) if request.method == "GET" else None
    return RedirectResponse(url_for(request, "/login", next=asked), 303, headers=PAGE_HEADERS)
