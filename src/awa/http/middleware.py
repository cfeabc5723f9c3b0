"""Around every request: one line in the log, careful headers, and an answer even to our own mistakes.

The log line holds the method, the path, the status, the actor and the time. It never holds the query
string or a header, where a caller may have put a secret. The server's own access log stays off.
A path and query beyond any use are refused here, before anything reads them.
"""

import logging
import time

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from awa.http import problems
from awa.http.paths import route_path

log = logging.getLogger("awa.api")

# The longest filter that is taken, percent-encoded at its worst (12 bytes a character), and room for the other parameters.
URL_MAX_BYTES = 160 * 1024
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    # Not no-referrer: with that a browser sends `Origin: null` along with our own forms, as a foreign page's would be.
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
# Probes and scrapes come every few seconds and would bury the rest.
_QUIET = frozenset({"/healthz", "/readyz", "/metrics"})


class Envelope:
    """The outermost layer of the app."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = time.perf_counter()
        status: int | None = None

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                present = {name.lower() for name, _ in message.get("headers", [])}
                extra = [pair for pair in _HEADERS if pair[0] not in present]
                message = {**message, "headers": [*message.get("headers", []), *extra]}
            await send(message)

        try:
            answer = _too_long(scope) or self.app
            await answer(scope, receive, send_with_headers)
        except ClientDisconnect:
            pass
        except Exception as error:
            if status is not None:
                raise  # half an answer has left; only breaking off tells the caller
            await problems.of_surprise(error)(scope, receive, send_with_headers)
        finally:
            _note(scope, status, time.perf_counter() - began)


def _too_long(scope: Scope) -> ASGIApp | None:
    """The refusal of a path and query that are longer than any that is of use."""
    length = len(scope.get("raw_path") or scope["path"].encode()) + len(scope["query_string"])
    if length <= URL_MAX_BYTES:
        return None
    return problems.problem(
        414,
        "uri_too_long",
        f"path and query have {length:,} bytes, and at most {URL_MAX_BYTES:,} are taken",
        hint="narrow the filter, or name fewer ids",
    )


def _note(scope: Scope, status: int | None, seconds: float) -> None:
    path = scope["path"]
    if route_path(scope) in _QUIET and status == 200:
        return
    actor = scope.get("state", {}).get("actor")
    log.info(
        "%s %s %s %s %.1f ms",
        scope["method"],
        # A path can hold line breaks and control characters; the log has one line for each request.
        path.encode("unicode_escape").decode("ascii")[:500],
        status or "-",
        actor.name if actor else "-",
        seconds * 1000,
    )
