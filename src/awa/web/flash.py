"""One sentence for the next page: what a form just did. It travels in a cookie and is shown once."""

from typing import Final
from urllib.parse import quote, unquote

from fastapi import Request, Response

from awa.web.urls import url_for

COOKIE: Final = "awa_notice"
KEPT_S: Final = 60
TEXT_MAX_CHARS: Final = 300


def leave_notice(request: Request, answer: Response, text: str) -> None:
    """Let the next page say this."""
    answer.set_cookie(
        COOKIE,
        quote(text[:TEXT_MAX_CHARS]),
        max_age=KEPT_S,
        path=_path(request),
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def notice_of(request: Request) -> str | None:
    """What the page before left to be said."""
    return unquote(request.cookies.get(COOKIE, ""))[:TEXT_MAX_CHARS] or None


def forget_notice(request: Request, answer: Response) -> None:
    """It was said."""
    answer.delete_cookie(COOKIE, path=_path(request))


def _path(request: Request) -> str:
    return url_for(request, "/")
