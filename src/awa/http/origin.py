"""Where a request comes from: this machine or another, a program or a page, one of ours or a foreign one.

A browser says of its own accord which page sent a request, in headers that no page can write: Sec-Fetch-Site
(to localhost and over https) and Origin (with everything that isn't a plain GET). A program sends neither.
"""

import ipaddress

from starlette.requests import HTTPConnection

from awa.model.errors import Forbidden

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_FORWARDED = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
_OWN_SITES = frozenset({"same-origin", "none"})
_BROWSER_HEADERS = ("sec-fetch-site", "origin", "cookie")


def refuse_foreign_page(request: HTTPConnection, allowed_hosts: frozenset[str]) -> None:
    """Raise Forbidden if a page from elsewhere sent this, whatever its method.

    A link on a foreign page may be followed: then the browser shows our page, and the foreign one sees nothing.
    """
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        # Decisive: with a strict referrer policy the Origin of our own forms is null.
        foreign = site not in _OWN_SITES and not _follows_link(request)
    else:
        origin = request.headers.get("origin")
        foreign = bool(origin) and not _is_ours(origin or "", request, allowed_hosts)
    if foreign:
        raise Forbidden(
            "a page from elsewhere may not send this",
            hint="use the server's own pages, or call the API from a program with a bearer token",
            details={"reason": "foreign"},
        )


def refuse_foreign_host(request: HTTPConnection, allowed_hosts: frozenset[str]) -> None:
    """Raise Forbidden if this machine is called by a name that isn't its own: somebody pointed that name here."""
    name = host_name(request.headers.get("host", "")).lower()
    # The peer counts here, whatever a proxy's header says: a page could send such a header itself.
    if _peer_is_loopback(request) and not (is_loopback(name) or name in allowed_hosts):
        raise Forbidden(
            "the Host header is not a name of this machine",
            hint="use http://localhost or http://127.0.0.1, allow the host name, or set AWA_API_TOKENS",
            details={"reason": "foreign"},
        )


def sent_by_browser(request: HTTPConnection) -> bool:
    """Whether a browser sent it: it carries what programs don't send unless they are asked to."""
    return any(name in request.headers for name in _BROWSER_HEADERS)


def came_from_this_machine(request: HTTPConnection) -> bool:
    """Whether the peer is on loopback (or a Unix socket) and no proxy says it speaks for another."""
    if any(name in request.headers for name in _FORWARDED):
        return False
    return _peer_is_loopback(request)


def came_by_https(request: HTTPConnection) -> bool:
    """Whether the browser spoke TLS, to us or to the proxy in front; it is believed, as it only makes stricter."""
    if request.url.scheme == "https":
        return True
    return request.headers.get("x-forwarded-proto", "").strip().lower() == "https"


def peer_of(request: HTTPConnection) -> str:
    """Whom to hold responsible: the peer's address, a whole /64 of IPv6.

    A proxy on this machine appends the address it saw to X-Forwarded-For; from any other peer that header is
    its own invention.
    """
    peer = request.client.host if request.client else ""
    if _peer_is_loopback(request):
        forwarded = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip()
        peer = forwarded or peer
    try:
        address = ipaddress.ip_address(peer)
    except ValueError:
        return "local"
    if address.version == 6:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


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


def _follows_link(request: HTTPConnection) -> bool:
    return (
        request.scope["method"] in SAFE_METHODS
        and request.headers.get("sec-fetch-mode") == "navigate"
        and request.headers.get("sec-fetch-dest") == "document"
    )


def _is_ours(origin: str, request: HTTPConnection, allowed_hosts: frozenset[str]) -> bool:
    _, separator, authority = origin.lower().partition("://")
    if not separator:
        return False
    return authority == request.headers.get("host", "").lower() or (
        host_name(authority) in allowed_hosts
    )


def _peer_is_loopback(request: HTTPConnection) -> bool:
    # No peer address, or one that is no address: a Unix socket.
    return request.client is None or not request.client.host or is_loopback(request.client.host)
