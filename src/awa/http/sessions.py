"""Logging in and out with a browser: a token goes in once, from then on a cookie that says nothing to anybody else.

The cookie is signed, out of reach of scripts, and sent along by our own site and by links that lead here. That
last part is why it is Lax and not Strict: a link in the chat of an incident must not end at the log-in page.
What changes something is protected three times besides: Origin, Sec-Fetch-Site, and a CSRF token.
"""

import logging

from fastapi import Request, Response

from awa.http.access import COOKIE, Access, Right
from awa.http.context import served
from awa.http.origin import came_by_https, peer_of, refuse_foreign_page
from awa.http.paths import root_path
from awa.http.signed_urls import is_signed
from awa.http.signing import Session
from awa.http.tokens import TOKEN_MAX_CHARS, Actor
from awa.model.errors import Conflict, TooMany, Unauthorized

__all__ = ["COOKIE", "csrf_token", "log_in", "log_out", "refuse_ended", "session_of"]

log = logging.getLogger("awa.api")


def log_in(request: Request, response: Response, token: str) -> Actor:
    """Begin a session of the token's holder and put its cookie on `response`.

    Raises Conflict if the server has no tokens, Forbidden for a foreign page, TooMany after many wrong tokens from
    the same peer (a right one has to wait as well, else the limit would be none), and Unauthorized for a wrong one.
    """
    access = served(request).access
    refuse_foreign_page(request, access.allowed_hosts)
    if not access.wants_log_in:
        raise Conflict(
            "there is nothing to log in to: this server has no tokens", hint="set AWA_API_TOKENS"
        )
    peer = peer_of(request)
    _refuse_if_often_wrong(request, peer)
    holder = access.tokens.find_token(token.strip()[: TOKEN_MAX_CHARS + 1])
    if holder is None:
        served(request).throttle.failed(peer)
        log.warning("a log-in from %s was refused: its token is not known", peer)
        raise Unauthorized("the token is not known here", hint="ask who runs this server")
    log.info("%s logged in from %s", holder.actor.name, peer)
    _put_cookie(request, response, access.sessions.begin(holder), access.sessions.max_age_s)
    return holder.actor


async def log_out(request: Request, response: Response) -> None:
    """End this request's session, here, at other servers and in the browser. Whoever calls this has checked the CSRF token."""
    session = session_of(request)
    if session is not None:
        context = served(request)
        sessions = context.access.sessions
        sessions.end(session)
        log.info("%s logged out", session.actor_name)
        if sessions.are_shared:
            await context.ended.tell(session, sessions.left_s(session), context.changing)
    _put_cookie(request, response, "", 0)


async def refuse_ended(request: Request, right: Right) -> None:
    """Raise Unauthorized if the session by whose word a request was admitted was ended at another server.

    Raises DatabaseError if that can't be asked. Who logs out is not asked, nor is who needs no session.
    """
    if right in (Right.OPEN, Right.LEAVE) or (right is Right.ANSWER and is_signed(request)):
        return
    context = served(request)
    session = context.access.session_of(request)
    if session is None or not context.access.sessions.are_shared:
        return
    if await context.ended.is_ended(session, context.reading):
        context.access.sessions.end(session)
        raise Unauthorized("the session has ended", hint="log in again")


def session_of(request: Request) -> Session | None:
    """The session of the request's cookie, if it has one that is still good."""
    access = served(request).access
    cookie = request.cookies.get(COOKIE)
    return None if cookie is None else access.sessions.read(cookie, access.tokens)


def csrf_token(request: Request) -> str:
    """What this caller's forms and scripts have to send along; empty for a bearer token. Raises Unauthorized."""
    access: Access = served(request).access
    return access.csrf_token(access.caller(request))


def _refuse_if_often_wrong(request: Request, peer: str) -> None:
    wait_s = served(request).throttle.wait_s(peer)
    if wait_s > 0:
        raise TooMany(
            "too many wrong tokens came from your address",
            hint=f"try again in {wait_s:.0f} seconds",
            details={"retry_after_s": round(wait_s, 1)},
        )


def _put_cookie(request: Request, response: Response, value: str, max_age_s: float) -> None:
    response.set_cookie(
        COOKIE,
        value,
        max_age=int(max_age_s),
        path=root_path(request) or "/",
        secure=came_by_https(request),
        httponly=True,
        samesite="lax",
    )
