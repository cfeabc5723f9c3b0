"""Log-outs, known to all servers of a database.

A session is a signed cookie, so every server with the same `AWA_SESSION_SECRET` believes it by itself. That it was ended stands
in the database, as a digest of its id, and each server asks for a session that it meets, at most once in `LOOK_MAX_AGE_S`. A
server with a key of its own has its sessions for itself, and asks nothing.

If the database can't be asked, a session isn't believed: what it could see needs the database anyway. A log-out needs none: it
ends the session in the browser and in this process at once, and is written down as soon as the database is back.
"""

import asyncio
import hashlib
import logging
from collections import OrderedDict
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from awa.db import run
from awa.db.failures import is_lost_connection, is_transient
from awa.db.run import Connection
from awa.http.recent import Recent
from awa.http.signing import ENDED_MAX, Session
from awa.model.errors import AwaError

LOOK_MAX_AGE_S = 1.0
# Servers' clocks may differ: a row must not be forgotten while another one still takes the cookie for fresh.
KEPT_LONGER_S = 24 * 3600.0
TELL_AGAIN_S = 2.0

Transaction = Callable[[], AbstractAsyncContextManager[Connection]]

log = logging.getLogger("awa.api")


class Ended:
    """What one process asks and tells of ended sessions. `owed` is what it could not write down yet."""

    def __init__(self, *, recent: Recent | None = None, tell_again_s: float = TELL_AGAIN_S) -> None:
        self.owed: OrderedDict[bytes, float] = OrderedDict()
        self._recent = Recent() if recent is None else recent
        self._tell_again_s = tell_again_s
        self._telling: asyncio.Task[None] | None = None

    async def is_ended(self, session: Session, reading: Transaction) -> bool:
        """Whether it was ended anywhere, as it was known a moment ago. Raises AwaError if that can't be asked."""
        digest = digest_of(session)

        async def look() -> bool:
            async with reading() as conn:
                return bool(await run.value(conn, "api/session_ended", {"digest": digest}))

        return await self._recent.get(digest, LOOK_MAX_AGE_S, look)

    async def tell(self, session: Session, left_s: float, changing: Transaction) -> None:
        """Write down that it has ended; later, if the database can't be reached. `left_s`: how long it would be good."""
        digest, keep_s = digest_of(session), max(left_s, 0.0) + KEPT_LONGER_S
        try:
            await _write(changing, digest, keep_s)
        except AwaError as problem:
            if not _passes(problem):
                log.warning("a log-out holds at this server alone, it can't be stored: %s", problem)
                return
            log.warning("a log-out will be written down when the database is back: %s", problem)
            self.owed[digest] = keep_s
            while len(self.owed) > ENDED_MAX:
                self.owed.popitem(last=False)
            if self._telling is None or self._telling.done():
                self._telling = asyncio.create_task(self._tell_owed(changing), name="awa-log-outs")

    async def close(self) -> None:
        """Try no more. What is owed then is lost, and only this process knew of it."""
        telling, self._telling = self._telling, None
        if telling is not None:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)

    async def _tell_owed(self, changing: Transaction) -> None:
        while self.owed:
            await asyncio.sleep(self._tell_again_s)
            digest, keep_s = next(iter(self.owed.items()))
            try:
                await _write(changing, digest, keep_s)
            except AwaError as problem:
                if _passes(problem):
                    continue
                log.warning("a log-out holds at this server alone, it can't be stored: %s", problem)
            self.owed.pop(digest, None)


def digest_of(session: Session) -> bytes:
    """Under what a session is written down as ended. Its id is random, and lets nobody in without the signature."""
    return hashlib.sha256(b"awa.session:" + session.id.encode()).digest()


async def _write(changing: Transaction, digest: bytes, keep_s: float) -> None:
    async with changing() as conn:
        await run.count(conn, "api/end_session", {"digest": digest, "keep_s": keep_s})


def _passes(problem: AwaError) -> bool:
    """Whether it may work later, by itself."""
    return is_lost_connection(problem) or is_transient(problem)
