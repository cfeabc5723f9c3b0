"""Who may do what: the one place where a request is let in or turned away.

Each route states the right that it needs (`@needs(Right.…)`); a route that states none cannot be
added. Before a byte of the body is read, it is asked in this order:

1. Is this request meant for us? A browser sends cookies by itself, and without tokens the browser of whoever
   runs the server is itself a way in. So wherever a browser's word is taken, a foreign page may neither write
   nor read (origin.py), and without tokens no host name but this machine's own may be used for it.
2. Who is it? A bearer token, a session's cookie, or without tokens the person at this machine.
3. Did one of our own pages make it up? What changes something by a browser's word carries a CSRF token.
4. May they? Read-only wins over every role.

With a bearer token the first and third questions fall away: a browser never sends one by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from fastapi import Request

from awa.http.forms import is_form, read_form
from awa.http.origin import (
    SAFE_METHODS,
    came_from_this_machine,
    refuse_foreign_host,
    refuse_foreign_page,
    sent_by_browser,
)
from awa.http.signed_urls import is_signed, signed_actor, unsigned
from awa.http.signing import Session, Sessions
from awa.http.tokens import TOKEN_MAX_CHARS, Actor, Role, TokenTable
from awa.model.callback import Signer
from awa.model.errors import Forbidden, ReadOnly, Unauthorized

LOCAL_ACTOR = "local"
ANONYMOUS_ACTOR = "anonymous"
COOKIE = "awa_session"
CSRF_HEADER = "x-csrf-token"
CSRF_FIELD = "csrf_token"
# What the CSRF token of those without a session is bound to: everyone at this machine is the same person.
NO_SESSION = "no session"

Endpoint = TypeVar("Endpoint", bound=Callable[..., object])


class Right(Enum):
    """What a route needs. PREVIEW only looks, so a viewer has it and read-only leaves it alone."""

    OPEN = "open"
    READ = "read"
    LEAVE = "leave"  # to log out: as READ, also for a session that was ended elsewhere
    PREVIEW = "preview"
    CHANGE = "change"
    ANSWER = "answer"  # a callback: by its signature, or as CHANGE
    ADMIN = "admin"


_NEEDED_ROLE = {
    Right.OPEN: Role.VIEWER,
    Right.READ: Role.VIEWER,
    Right.LEAVE: Role.VIEWER,
    Right.PREVIEW: Role.VIEWER,
    Right.CHANGE: Role.OPERATOR,
    Right.ANSWER: Role.OPERATOR,
    Right.ADMIN: Role.ADMIN,
}
_CHANGING = frozenset({Right.CHANGE, Right.ANSWER, Right.ADMIN})


def needs(right: Right) -> Callable[[Endpoint], Endpoint]:
    """Say what an endpoint needs."""

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, "__awa_right__", right)  # noqa: B010 -- functions declare no such attribute
        return endpoint

    return mark


def right_of(endpoint: Callable[..., object]) -> Right:
    """The right that `needs` put on the endpoint; an endpoint without one is a mistake."""
    right = getattr(endpoint, "__awa_right__", None)
    if not isinstance(right, Right):
        raise TypeError(f"{endpoint!r} must say what it needs: @needs(Right.…)")
    return right


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks, and whether the browser said so by itself (a cookie, or just being at this machine)."""

    actor: Actor
    session: Session | None = None
    by_token: bool = False

    @property
    def csrf_binding(self) -> str:
        """What this caller's CSRF tokens are bound to."""
        return self.session.id if self.session else NO_SESSION


NOBODY = Caller(Actor(ANONYMOUS_ACTOR, Role.VIEWER))


@dataclass(frozen=True, slots=True)
class Access:
    """The server's rules.

    `local_writes` is False when it listens where others can reach it. `allowed_hosts` are further host
    names (lower case) that mean this server, for a proxy that passes Host on or changes it.
    """

    tokens: TokenTable = field(default_factory=TokenTable)
    read_only: bool = False
    local_writes: bool = True
    allowed_hosts: frozenset[str] = frozenset()
    sessions: Sessions = field(default_factory=Sessions)
    signer: Signer | None = None

    @property
    def wants_log_in(self) -> bool:
        """Whether callers have to say who they are."""
        return bool(self.tokens)

    def admit(self, request: Request, right: Right) -> Actor:
        """Let the request in and say who it is, or raise Unauthorized, Forbidden or ReadOnly.

        A CSRF token is looked for in the header; `admit_page` takes a form's field as well.
        """
        if right is Right.OPEN:
            return NOBODY.actor
        if right is Right.ANSWER and is_signed(request):
            if self.read_only:
                raise ReadOnly("this server is read-only", hint=self.why_read_only())
            return signed_actor(request, self.signer)
        caller = self.caller(request)
        if right is Right.ANSWER and self.is_read_only(request) and not self.read_only:
            raise unsigned()
        # A program at this machine is believed: JSON is nothing that a foreign page can send unasked.
        if caller.session is not None or sent_by_browser(request):
            self.check_csrf(request, caller, request.headers.get(CSRF_HEADER, ""))
        self.check_right(request, caller.actor, right)
        return caller.actor

    def identify(self, request: Request) -> Actor:
        """Find the actor: a token's holder, a session's, or without tokens whoever sits at this machine."""
        return self.caller(request).actor

    def caller(self, request: Request) -> Caller:
        """Find who asks; raises Unauthorized, and Forbidden if a foreign page uses somebody's browser."""
        if not self.tokens:
            refuse_foreign_host(request, self.allowed_hosts)
            refuse_foreign_page(request, self.allowed_hosts)
            if self.local_writes and came_from_this_machine(request):
                return Caller(Actor(LOCAL_ACTOR, Role.ADMIN))
            return NOBODY
        if "authorization" in request.headers:
            return Caller(self._holder(request.headers["authorization"]), by_token=True)
        cookie = request.cookies.get(COOKIE)
        if cookie is None:
            raise Unauthorized(
                "this server wants a token",
                hint="send the header Authorization: Bearer <token>, or log in",
            )
        refuse_foreign_page(request, self.allowed_hosts)
        session = self.sessions.read(cookie, self.tokens)
        if session is None:
            raise Unauthorized("the session has ended", hint="log in again")
        return Caller(session.actor, session)

    def session_of(self, request: Request) -> Session | None:
        """The session by whose word a request is admitted, as far as this process knows; None with a bearer token."""
        cookie = request.cookies.get(COOKIE)
        if cookie is None or not self.tokens or "authorization" in request.headers:
            return None
        return self.sessions.read(cookie, self.tokens)

    def csrf_token(self, caller: Caller) -> str:
        """What the caller's pages have to send along; empty for a bearer token, which needs none."""
        return "" if caller.by_token else self.sessions.csrf_token(caller.csrf_binding)

    def check_csrf(self, request: Request, caller: Caller, presented: str) -> None:
        """Raise Forbidden if an unsafe request by a browser's word isn't made up by a page of ours."""
        if caller.by_token or request.method in SAFE_METHODS:
            return
        if not self.sessions.csrf_fits(presented, caller.csrf_binding):
            raise Forbidden(
                "the request lacks the token of the page that sent it, or the token is old",
                hint="reload the page and try again; a program sends a bearer token instead",
                details={"reason": "csrf"},
            )

    def is_read_only(self, request: Request) -> bool:
        """Whether a change by this request would be refused whatever its role."""
        if self.read_only:
            return True
        return not self.tokens and not (self.local_writes and came_from_this_machine(request))

    def why_not(self, request: Request, actor: Actor, right: Right) -> str | None:
        """Why this caller could not do what needs `right`, as a sentence; None if it could."""
        try:
            self.check_right(request, actor, right)
        except (ReadOnly, Forbidden) as refusal:
            return str(refusal)
        return None

    def check_right(self, request: Request, actor: Actor, right: Right) -> None:
        """Raise ReadOnly or Forbidden unless the actor may do what needs `right`."""
        if right in _CHANGING and self.is_read_only(request):
            raise ReadOnly("this server is read-only", hint=self.why_read_only())
        if actor.role < _NEEDED_ROLE[right]:
            raise Forbidden(
                f"{actor.name!r} has the role {actor.role.name.lower()}",
                hint=f"this needs the role {_NEEDED_ROLE[right].name.lower()}",
                details={"reason": "role"},
            )

    def _holder(self, header: str) -> Actor:
        scheme, _, presented = header.partition(" ")
        if scheme.lower() != "bearer" or not presented.strip():
            raise Unauthorized(
                "this server wants a bearer token",
                hint="send the header Authorization: Bearer <token>",
            )
        actor = self.tokens.find(presented.strip()[: TOKEN_MAX_CHARS + 1])
        if actor is None:
            raise Unauthorized("the token is not known here", hint="ask who runs this server")
        return actor

    def why_read_only(self) -> str:
        """Why nobody who asks as this request does may change anything; only if `is_read_only`."""
        if self.read_only:
            return "it was started with --read-only"
        if not self.local_writes:
            return "it has no tokens and listens where others can reach it; set AWA_API_TOKENS"
        return "without tokens only requests from the same machine may change anything; set AWA_API_TOKENS"


async def admit_page(request: Request, right: Right) -> Actor:
    """Let a page's request in, as `Access.admit` does; a form's CSRF token may be its field `csrf_token`.

    The form is read, bounded, once the caller is known. Sets `request.state.actor`, `.by_session` and `.csrf_token`.
    """
    access: Access = request.app.state.served.access
    caller = NOBODY if right is Right.OPEN else access.caller(request)
    if right is not Right.OPEN and request.method not in SAFE_METHODS:
        presented = request.headers.get(CSRF_HEADER, "")
        if not presented and is_form(request):
            presented = (await read_form(request)).get(CSRF_FIELD)
        access.check_csrf(request, caller, presented)
    access.check_right(request, caller.actor, right)
    request.state.actor = caller.actor
    request.state.by_session = caller.session is not None
    request.state.csrf_token = access.csrf_token(caller)
    return caller.actor
