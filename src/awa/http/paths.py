"""Paths below wherever the application is mounted: `/jobs` here may be `/ops/awa/jobs` for a browser."""

import re
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

from awa.model.errors import invalid_field

NEXT_MAX_CHARS = 4_000
_ROOT_PATH = re.compile(r"(/(?!\.\.?(/|$))[A-Za-z0-9._~-]+)+")


def root_path(request: HTTPConnection) -> str:
    """The path that the application is mounted at; empty at the root."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def route_path(scope: Scope) -> str:
    """A request's path without that below which the application is mounted."""
    path, root = str(scope["path"]), str(scope.get("root_path", "")).rstrip("/")
    return path[len(root) :] if root and path.startswith(f"{root}/") else path


def local_path(request: HTTPConnection, path: str) -> str:
    """A path of this application as a browser has to ask for it."""
    return root_path(request) + path


def safe_next(request: HTTPConnection, given: str | None, default: str = "/") -> str:
    """Where to go after a log-in: `given` if it is a path of this application, else `default`.

    Browsers take a backslash for a slash and drop tabs and line breaks, so a path with any of them is refused
    rather than understood, as is everything that could name another host.
    """
    fallback = local_path(request, default)
    if given is None or len(given) > NEXT_MAX_CHARS or not given.isprintable() or "\\" in given:
        return fallback
    if given.startswith("//"):
        return fallback  # another host, however many slashes; urlsplit sees none behind three
    root = root_path(request)
    try:
        parts = urlsplit(given)
    except ValueError:
        return fallback
    if parts.scheme or parts.netloc or not parts.path.startswith(f"{root}/"):
        return fallback
    return fallback if ".." in parts.path.split("/") else given


class BelowPath:
    """Serves an application below a path of a proxy, whether the proxy takes the path away or leaves it there."""

    def __init__(self, app: ASGIApp, path: str) -> None:
        self.app = app
        self.path = path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, with the path in it where ASGI wants it."""
        if scope["type"] == "http":
            asked = str(scope["path"])
            if asked != self.path and not asked.startswith(f"{self.path}/"):
                asked = self.path + asked
            scope = {**scope, "root_path": self.path, "path": asked}
        await self.app(scope, receive, send)


def checked_root_path(path: str) -> str:
    """A path to be served below, such as /ops/awa, without its last slash; empty for the root."""
    plain = path.rstrip("/")
    if plain and not _ROOT_PATH.fullmatch(plain):
        raise invalid_field(
            "root_path",
            f"expected a path such as /ops/awa, of letters, digits and . _ ~ - only, got {path!r}",
        )
    return plain
