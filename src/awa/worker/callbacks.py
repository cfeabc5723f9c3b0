"""Callbacks of the attempts that run here: registered for them, and waited for inside of a handler.

A handler that waits inside keeps its attempt, its slot and its place in this process; one that returns
`WaitForCallback` gives them up. The answer is looked up in the database, more and more seldom, and at once when a
message says that it is there: behind a pooler, or while the listener is away, looking alone does it.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar
from uuid import UUID

from awa.config import Settings
from awa.db.failures import is_lost_connection, is_transient
from awa.db.pool import Pool, connection
from awa.db.run import Row
from awa.events import callbacks as events
from awa.model.callback import (
    CallbackFailed,
    CallbackRetried,
    CallbackTimedOut,
    CallbackToken,
    Signer,
    check_callback_id,
    check_timeout,
)
from awa.model.errors import AwaError, Conflict, NotFound
from awa.storage import callbacks
from awa.worker.retry import Retry
from awa.worker.threads import from_thread

if TYPE_CHECKING:
    from awa.worker.attempt import Attempt

T = TypeVar("T")

LOOK_FIRST_S: Final = 0.2
LOOK_LONGEST_S: Final = 5.0


class Desk:
    """Where attempts of this process register callbacks and wait for them."""

    def __init__(self, pool: Pool, settings: Settings) -> None:
        """Raises ValidationError for a secret or an address that makes no sense."""
        self._loop = asyncio.get_running_loop()
        self._pool = pool
        self._signer = Signer.of(settings.callback_secret, settings.callback_url)
        self._waiting: dict[UUID, list[asyncio.Event]] = defaultdict(list)

    async def register(self, attempt: Attempt, timeout_seconds: float) -> CallbackToken:
        """A new callback of an attempt. Raises Conflict if the attempt is not ours any more."""
        timeout_s = check_timeout(timeout_seconds)
        row = attempt.row
        async with connection(self._pool) as conn:
            found = await callbacks.register(
                conn,
                attempt.ledger.runtime_id,
                (row.lane_id, row.claim_no, row.lane_seq),
                timeout_s,
            )
        if found is None:
            raise Conflict(
                f"this attempt of job {row.job_id} has ended already, and can't register a callback",
                hint="it was cancelled, ran past its deadline, or was given to another worker",
            )
        events.registered()
        return CallbackToken.make(found.callback_id, found.expires_at, self._signer)

    async def wait(self, attempt: Attempt, callback: object) -> Any:
        """The payload of the answer. Raises CallbackTimedOut, CallbackFailed, CallbackRetried, NotFound, Conflict."""
        callback_id = check_callback_id(callback, field="token")
        retry = Retry("waiting for a callback")
        pause_s = LOOK_FIRST_S
        with self._awaited(callback_id) as heard:
            while True:
                heard.clear()
                try:
                    answer = await self._look(attempt, callback_id)
                except AwaError as problem:
                    if not (is_lost_connection(problem) or is_transient(problem)):
                        raise
                    await retry.after(problem)
                    continue
                if answer["resolution"] is not None:
                    return _taken(callback_id, answer)
                if attempt.why is not None:
                    raise Conflict(
                        f"the attempt that waits for callback {callback_id} was stopped: {attempt.why}"
                    )
                await _heard(heard, min(pause_s, max(answer["left_s"], 0.0)))
                pause_s = min(pause_s * 1.5, LOOK_LONGEST_S)

    def from_thread(self, wish: Coroutine[Any, Any, T]) -> T:
        """What a plain handler wishes, done on the event loop."""
        return from_thread(self._loop, wish)

    def heard(self, message: dict[str, Any]) -> None:
        """A control message may say that answers are there."""
        for named in message.get("callbacks", ()):
            for waiter in self._waiting.get(UUID(named), ()):
                waiter.set()

    async def _look(self, attempt: Attempt, callback_id: UUID) -> Row:
        """The callback as it stands; one whose time is over is timed out by whoever sees it first."""
        async with connection(self._pool) as conn:
            seen = await _seen(conn, attempt, callback_id)
            if seen["resolution"] is None and seen["left_s"] <= 0:
                await callbacks.resolve(conn, callback_id, "time_out", by="awa")
                seen = await _seen(conn, attempt, callback_id)
            if seen["resolution"] is not None:
                await callbacks.use(conn, callback_id)
        return seen

    @contextmanager
    def _awaited(self, callback_id: UUID) -> Iterator[asyncio.Event]:
        heard = asyncio.Event()
        self._waiting[callback_id].append(heard)
        try:
            yield heard
        finally:
            self._waiting[callback_id].remove(heard)
            if not self._waiting[callback_id]:
                del self._waiting[callback_id]


async def _seen(conn: Any, attempt: Attempt, callback_id: UUID) -> Row:
    seen = await callbacks.answer(conn, callback_id)
    if seen is None:
        raise NotFound(f"there is no callback {callback_id}")
    if (seen["lane_seq"], seen["claim_no"]) != (attempt.row.lane_seq, attempt.row.claim_no):
        raise Conflict(
            f"callback {callback_id} belongs to another attempt",
            hint="an attempt waits for callbacks that it has registered itself",
        )
    return seen


def _taken(callback_id: UUID, answer: Row) -> Any:
    """What the answer is to the handler."""
    told = answer["error"] or {}
    match answer["resolution"]:
        case "complete" | "resume":
            return answer["payload"]
        case "fail":
            raise CallbackFailed({"error": "the callback reported a failure", **told})
        case "retry":
            raise CallbackRetried(told.get("error", "the callback asked for another attempt"))
        case _:
            raise CallbackTimedOut(f"no answer came in time to callback {callback_id}")


async def _heard(heard: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await heard.wait()
    except TimeoutError:
        pass
