"""Server-sent events: what happens to one thing, told to a browser as it happens.

A stream ends when its reader leaves, when there is no more to tell, when the server stops, when whoever reads is
no longer let in, and after half an hour in any case; a browser then comes again by itself and says with
Last-Event-ID what it saw last.
"""

import asyncio
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from awa.http.access import Right
from awa.http.context import served
from awa.http.json import to_json
from awa.http.live import Topic, Watch
from awa.http.sessions import refuse_ended
from awa.model.errors import AwaError

HEARTBEAT_S = 15.0
STREAM_MAX_S = 1_800.0
RETRY_MS = 2_000
MEDIA_TYPE = "text/event-stream"

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Event:
    """One event; after the `last` one the stream ends."""

    name: str
    data: Any
    id: str | None = None
    last: bool = False

    def encoded(self) -> bytes:
        """The event as it goes over the line. JSON has no line breaks, so the data is one line."""
        lines = [b"event: " + self.name.encode()]
        if self.id is not None:
            lines.append(b"id: " + self.id.encode())
        lines.append(b"data: " + to_json(self.data))
        return b"\n".join(lines) + b"\n\n"


class EventStream(Response, Generic[S]):
    """The answer: begins once the first look has succeeded, so an error before that is an ordinary answer."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        request: Request,
        topic: Topic[S],
        tell: Callable[[S], Iterable[Event]],
        right: Right,
        heartbeat_s: float = HEARTBEAT_S,
    ) -> None:
        # No length and no compression; a proxy such as nginx is told not to collect it.
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._request = request
        self._topic = topic
        self._events = tell
        self._right = right
        self._heartbeat_s = heartbeat_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with served(self._request).live.watching(self._topic) as watch:
            await self._first_look(watch)
            telling = asyncio.create_task(self._tell(watch, send))
            leaving = asyncio.create_task(_left(receive))
            try:
                await asyncio.wait({telling, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                leaving.cancel()
                if not telling.done():
                    telling.cancel()
                with suppress(asyncio.CancelledError):
                    await telling

    async def _first_look(self, watch: Watch[S]) -> None:
        while watch.version == 0:
            await watch.newer_than(0, self._heartbeat_s)
        if watch.seen is None and watch.trouble is not None:
            raise watch.trouble

    async def _tell(self, watch: Watch[S], send: Send) -> None:
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        await _send(send, f"retry: {RETRY_MS}\n\n".encode())
        until = time.monotonic() + STREAM_MAX_S
        version = 0
        while not watch.ended and time.monotonic() < until:
            if not await watch.newer_than(version, self._heartbeat_s):
                if not await self._still_admitted():
                    break
                await _send(send, b": still here\n\n")
                continue
            version = watch.version
            if not await self._tell_news(watch, send):
                break
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _tell_news(self, watch: Watch[S], send: Send) -> bool:
        """Tell what is new; False after the last event."""
        if watch.trouble is not None:
            await _send(send, b": the database cannot answer now\n\n")
            return True
        if watch.seen is None:
            return True
        events = list(self._events(watch.seen))
        if events:
            await _send(send, b"".join(event.encoded() for event in events))
        return not any(event.last for event in events)

    async def _still_admitted(self) -> bool:
        try:
            served(self._request).access.admit(self._request, self._right)
            await refuse_ended(self._request, self._right)
        except AwaError:
            return False  # the next attempt is told why
        return True


def stream(
    request: Request,
    topic: Topic[S],
    tell: Callable[[S], Iterable[Event]],
    *,
    right: Right = Right.READ,
    heartbeat_s: float | None = None,
) -> Response:
    """Tell one client what happens to a topic: `tell` makes events of each state that is new to this client."""
    return EventStream(request, topic, tell, right, heartbeat_s or HEARTBEAT_S)


async def _send(send: Send, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
