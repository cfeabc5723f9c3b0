"""Who may do what: the one place where a request is let in or turned away.

Each route states the right that it needs (`@needs(Right.CHANGE)`); a route that states none cannot be
added. Before a byte of the body is read, `Access.admit` asks in this order:

1. Is this request meant for us? Without tokens the browser of whoever runs the server is itself a way
   in, so a foreign page must neither write (Origin, Sec-Fetch-Site) nor read through a host name that it
   points at this machine (Host).
2. Who is it? A bearer token, or without tokens the person at this machine.
3. May they? Read-only wins over every role.

With tokens the first question falls away: a browser never sends a bearer token by itself.
"""

import ipaddress
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeVar

from fastapi import Request

from awa.http.tokens import TOKEN_MAX_CHARS, Actor, Role, TokenTable
from awa.model.errors import Forbidden, ReadOnly, Unauthorized

LOCAL_ACTOR = "local"
ANONYMOUS_ACTOR = "anonymous"
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})

Endpoint = TypeVar("Endpoint", bound=Callable[..., object])


class Right(Enum):
    """What a route needs. PREVIEW only looks, so a viewer has it and read-only leaves it alone."""

    OPEN = "open"
    READ = "read"
    PREVIEW = "preview"
    CHANGE = "change"
    ADMIN = "admin"


_NEEDED_ROLE = {
    Right.READ: Role.VIEWER,
    Right.PREVIEW: Role.VIEWER,
    Right.CHANGE: Role.OPERATOR,
    Right.ADMIN: Role.ADMIN,
}
_CHANGING = frozenset({Right.CHANGE, Right.ADMIN})


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
class Access:
    """The server's rules.

    `local_writes` is False when it listens where others can reach it. `allowed_hosts` are further host
    names (lower case) that mean this server, for a proxy on the same machine that passes Host on.
    """

    tokens: TokenTable = field(default_factory=TokenTable)
    read_only: bool = False
    local_writes: bool = True
    allowed_hosts: frozenset[str] = frozenset()

    def admit(self, request: Request, right: Right) -> Actor:
        """Let the request in and say who it is, or raise Unauthorized, Forbidden or ReadOnly."""
        if right is Right.OPEN:
            return Actor(ANONYMOUS_ACTOR, Role.VIEWER)
        if not self.tokens:
            self._refuse_foreign_pages(request)
        actor = self.identify(request)
        if right in _CHANGING and self.is_read_only(request):
            raise ReadOnly("this server is read-only", hint=self._why_read_only())
        if actor.role < _NEEDED_ROLE[right]:
            raise Forbidden(
                f"{actor.name!r} has the role {actor.role.name.lower()}",
                hint=f"this needs the role {_NEEDED_ROLE[right].name.lower()}",
            )
        return actor

    def identify(self, request: Request) -> Actor:
        """Find the actor: the token's holder, or without tokens whoever sits at this machine."""
        if not self.tokens:
            if self.local_writes and came_from_this_machine(request):
                return Actor(LOCAL_ACTOR, Role.ADMIN)
            return Actor(ANONYMOUS_ACTOR, Role.VIEWER)
        scheme, _, presented = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not presented.strip():
            raise Unauthorized(
                "this server wants a token", hint="send the header Authorization: Bearer <token>"
            )
        actor = self.tokens.find(presented.strip()[: TOKEN_MAX_CHARS + 1])
        if actor is None:
            raise Unauthorized("the token is not known here", hint="ask who runs this server")
        return actor

    def is_read_only(self, request: Request) -> bool:
        """Whether a change by this request would be refused whatever its role."""
        if self.read_only:
            return True
        return not self.tokens and not (self.local_writes and came_from_this_machine(request))

    def _why_read_only(self) -> str:
        if self.read_only:
            return "it was started with --read-only"
        if not self.local_writes:
            return "it has no tokens and listens where others can reach it; set AWA_API_TOKENS"
        return "without tokens only requests from the same machine may change anything; set AWA_API_TOKENS"

    def _refuse_foreign_pages(self, request: Request) -> None:
        host = request.headers.get("host", "")
        name = host_name(host).lower()
        # The peer counts here, whatever a proxy's header says: a page could send such a header itself.
        if _peer_is_loopback(request) and not (is_loopback(name) or name in self.allowed_hosts):
            raise Forbidden(
                "the Host header is not a name of this machine",
                hint="use http://localhost or http://127.0.0.1, allow the host name, or set AWA_API_TOKENS",
            )
        if request.method in _SAFE_METHODS:
            return
        origin = request.headers.get("origin")
        site = request.headers.get("sec-fetch-site", "same-origin")
        if site not in {"same-origin", "none"} or (origin and not _same_origin(origin, host)):
            raise Forbidden(
                "a page from elsewhere may not send this",
                hint="call the API from a program or from its own pages, or set AWA_API_TOKENS",
            )


def came_from_this_machine(request: Request) -> bool:
    """Whether the peer is on loopback (or a Unix socket) and no proxy says it speaks for another."""
    if any(name in request.headers for name in _FORWARDED):
        return False
    return _peer_is_loopback(request)


def is_loopback(host: str) -> bool:
    """Whether a host name or address can only mean this machine."""
    if host.rstrip(".").lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def host_name(host: str) -> str:
    """The name in a Host header or an origin's authority, without its port and brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _peer_is_loopback(request: Request) -> bool:
    # No peer address, or one that is no address: a Unix socket.
    return request.client is None or not request.client.host or is_loopback(request.client.host)


def _same_origin(origin: str, host: str) -> bool:
    _, separator, authority = origin.partition("://")
    return bool(separator) and authority.lower() == host.lower()
