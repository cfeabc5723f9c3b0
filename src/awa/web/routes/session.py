"""Logging in and out, and how the console should look."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from awa.http import sessions
from awa.http.access import Right, needs
from awa.http.context import served
from awa.http.forms import read_form
from awa.http.origin import came_by_https
from awa.http.paths import root_path, safe_next
from awa.model.errors import TooMany, Unauthorized
from awa.web import words
from awa.web.context import THEME_COOKIE, THEMES
from awa.web.pages import PageRoute, go
from awa.web.render import PAGE_HEADERS, render

A_YEAR_S = 365 * 24 * 3600

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/login")
@needs(Right.OPEN)
async def login_page(request: Request, next: str | None = None) -> Response:
    """The form, or that there is nothing to log in to."""
    return _form(request, next)


@router.post("/login")
@needs(Right.OPEN)
async def log_in(request: Request) -> Response:
    """Begin a session and go where the caller wanted to go."""
    form = await read_form(request)
    answer = RedirectResponse(safe_next(request, form.get("next")), 303, headers=PAGE_HEADERS)
    try:
        sessions.log_in(request, answer, form.get("token"))
    except (Unauthorized, TooMany) as refusal:
        status = 429 if isinstance(refusal, TooMany) else 401
        return _form(request, form.get("next"), status=status, problem=refusal)
    return answer


@router.post("/logout")
@needs(Right.LEAVE)
async def log_out(request: Request) -> Response:
    """End the session."""
    answer = go(request, "/login", notice="You are logged out.")
    await sessions.log_out(request, answer)
    return answer


@router.post("/theme")
@needs(Right.OPEN)
async def theme(request: Request) -> Response:
    """Keep the choice in a cookie that scripts may read: they change it without asking here."""
    form = await read_form(request)
    answer = RedirectResponse(safe_next(request, form.get("next")), 303, headers=PAGE_HEADERS)
    chosen = form.get("theme")
    answer.set_cookie(
        THEME_COOKIE,
        chosen if chosen in THEMES else "system",
        max_age=A_YEAR_S,
        path=root_path(request) or "/",
        secure=came_by_https(request),
        samesite="lax",
    )
    return answer


def _form(
    request: Request,
    wanted: str | None,
    *,
    status: int = 200,
    problem: Unauthorized | TooMany | None = None,
) -> Response:
    return render(
        request,
        "login.html",
        status=status,
        wants_log_in=served(request).access.wants_log_in,
        next_path=safe_next(request, wanted),
        problem=words.sentence(problem.message) if problem else None,
        problem_hint=words.sentence(problem.hint or "") if problem else None,
    )
