"""Ends attempts in sets: what ended while one call was on its way goes with the next.

So a lone ending is sent at once, and under load the sets grow by themselves. Ending an attempt twice
changes nothing, hence a call whose answer was lost is simply sent again until the database is back:
no ending is lost while this process lives. An ending that the database can't store (it says so for the
whole set) is found by halving the set; that attempt then ends without what it reported, the others as they did.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Final, NamedTuple
from uuid import UUID

from awa.db.failures import is_lost_connection, is_unstorable
from awa.db.pool import Pool, connection
from awa.db.run import Connection
from awa.events import jobs as events
from awa.model.errors import AwaError
from awa.storage.callbacks import keep_follow_ups
from awa.storage.finish import Ending, complete, finish
from awa.worker.attempt import RETURNED, Attempt, Verdict
from awa.worker.follow_ups import Follower, insert_follow_ups
from awa.worker.hooks import Hooks
from awa.worker.ledger import Ledger
from awa.worker.retry import Retry

FLIGHT_MAX_ENDINGS: Final = 2_000
WAITING_MAX_ENDINGS: Final = 10_000
_UNSTORABLE: Final = "Unstorable"

log = logging.getLogger("awa.worker")


class _Ended(NamedTuple):
    attempt: Attempt
    verdict: Verdict
    busy_s: float


class Finisher:
    """Tells the database how attempts ended. `on_not_owned()` is called when one was not ours any more.

    `on_ended(queues)` is called when the database knows of ends in these queues.
    """

    def __init__(
        self,
        pool: Pool,
        on_not_owned: Callable[[], None],
        on_ended: Callable[[Iterable[str]], None] = lambda queues: None,
        hooks: Hooks | None = None,
    ) -> None:
        self._pool = pool
        self._hooks = hooks if hooks is not None and hooks.wants_ends() else None
        self._on_not_owned = on_not_owned
        self._on_ended = on_ended
        self._waiting: deque[_Ended] = deque()
        self._something = asyncio.Event()
        self._stopping = False
        self._relieved = asyncio.Event()
        self.returned = 0  # attempts handed back so far

    def end(self, attempt: Attempt, verdict: Verdict, busy_s: float) -> None:
        """Note how an attempt ended; its first end counts."""
        if attempt.ended:
            return
        attempt.ended = True
        if verdict is RETURNED:
            self.returned += 1
        self._waiting.append(_Ended(attempt, verdict, busy_s))
        self._something.set()

    async def run(self) -> None:
        """Send what ends until `stop` was called and everything is sent."""
        while self._waiting or not self._stopping:
            if not self._waiting:
                self._something.clear()
                await self._something.wait()
                continue
            await self._send_flight()
            self._relieved.set()

    async def _send_flight(self) -> None:
        """Send the next of what waits. A frame of its own: `run` would keep the last flight alive while it sleeps."""
        some = min(len(self._waiting), FLIGHT_MAX_ENDINGS)
        flight = [self._waiting.popleft() for _ in range(some)]
        for endings in _sorted_out(flight):
            await self._send(endings)

    async def keeps_up(self) -> None:
        """Wait until not too much is waiting: who claims more than can be ended fills the memory."""
        while len(self._waiting) > WAITING_MAX_ENDINGS and not self._stopping:
            self._relieved.clear()
            await self._relieved.wait()

    def stop(self) -> None:
        """Nothing will end any more."""
        self._stopping = True
        self._something.set()
        self._relieved.set()

    async def _send(self, endings: list[_Ended]) -> None:
        """One call, repeated until the database has answered it."""
        ledger = endings[0].attempt.ledger
        retry = Retry("ending attempts")
        sent_before = False
        while not ledger.dead:
            began_s = monotonic()
            try:
                async with connection(self._pool) as conn:
                    lost, states = await _tell(conn, ledger, endings)
            except AwaError as problem:
                if is_unstorable(problem):
                    await self._halve(endings, problem)
                    return
                sent_before = sent_before or is_lost_connection(problem)
                await retry.after(problem)
                continue
            events.finish_took(monotonic() - began_s)
            self._sent(ledger, endings, lost, sent_before=sent_before)
            if self._hooks is not None:
                for attempt, verdict, busy_s in endings:
                    seq = attempt.row.lane_seq
                    if seq not in lost:
                        self._hooks.ended(attempt, verdict, states.get(seq, "completed"), busy_s)
            return

    def _sent(
        self, ledger: Ledger, endings: list[_Ended], lost: set[int], *, sent_before: bool
    ) -> None:
        """The database has answered: `lost` are the positions that were not this runtime's any more."""
        counts: Counter[tuple[str, str]] = Counter()
        busy_s: Counter[str] = Counter()
        not_owned = 0
        for attempt, verdict, seconds in endings:
            row = attempt.row
            ledger.close(attempt)
            busy_s[row.queue] += seconds  # type: ignore[assignment]
            if (
                row.lane_seq not in lost or sent_before
            ):  # or ended by the call whose answer was lost
                counts[row.queue, verdict.outcome] += 1
            else:
                not_owned += 1
        events.ended(counts, busy_s, not_owned)
        self._on_ended(busy_s)
        if not_owned:
            self._on_not_owned()

    async def _halve(self, endings: list[_Ended], problem: AwaError) -> None:
        """Find the ending that can't be stored."""
        if len(endings) > 1:
            middle = len(endings) // 2
            await self._send(endings[:middle])
            await self._send(endings[middle:])
            return
        attempt, verdict, busy_s = endings[0]
        log.error("the end of job %d could not be stored: %s", attempt.row.job_id, problem)
        told = verdict.error
        if attempt.followers is not None or attempt.if_failed is not None:
            verdict, told = _without_followers(attempt, verdict, problem), None
        elif attempt.carried(verdict.outcome) is None and (
            told is None or told["kind"] == _UNSTORABLE
        ):
            return  # nothing left to leave out: it stays open here, and is rescued when this process ends
        attempt.changes, attempt.unsaved = None, False
        if told is not None:
            sentence = f"what this attempt reported could not be stored: {problem}"
            verdict = verdict._replace(error={"error": sentence, "kind": _UNSTORABLE})
        await self._send([_Ended(attempt, verdict, busy_s)])


def _without_followers(attempt: Attempt, verdict: Verdict, problem: AwaError) -> Verdict:
    """A job whose follow-ups can't be stored is not completed: it is tried again, and says why."""
    attempt.followers = attempt.if_failed = None
    if verdict.outcome not in {"completed", "waiting"}:
        return verdict
    sentence = f"what was to follow could not be stored: {problem}"
    return Verdict("retried", error={"error": sentence, "kind": _UNSTORABLE})


def _sorted_out(flight: list[_Ended]) -> list[list[_Ended]]:
    """Sets that one call can take: one runtime id, and plain completions (the fast way) by themselves."""
    sets: dict[tuple[int, bool], list[_Ended]] = {}
    for ended in flight:
        sets.setdefault((id(ended.attempt.ledger), _is_plain(ended)), []).append(ended)
    return list(sets.values())


def _is_plain(ended: _Ended) -> bool:
    attempt = ended.attempt
    return (
        ended.verdict.outcome == "completed"
        and attempt.changes is None
        and attempt.followers is None
    )


async def _tell(
    conn: Connection, ledger: Ledger, endings: list[_Ended]
) -> tuple[set[int], dict[int, str]]:
    """Tell the database of one set; answers the positions that were not ours any more, and the others' states.

    Plain completions have no states: they are completed.
    """
    if not _is_plain(endings[0]):
        owned = await _finish(conn, ledger, endings)
        return {ended.attempt.row.lane_seq for ended in endings} - owned.keys(), owned
    rows = [ended.attempt.row for ended in endings]
    lost = await complete(
        conn,
        ledger.runtime_id,
        [row.lane_id for row in rows],
        [row.claim_no for row in rows],
        [row.lane_seq for row in rows],
    )
    return lost, {}


async def _finish(conn: Connection, ledger: Ledger, endings: list[_Ended]) -> dict[int, str]:
    """End attempts, and insert what follows those that are over for good; answers position -> state of what was ours."""
    told = [_told(ended) for ended in endings]
    if not any(ended.attempt.followers or ended.attempt.if_failed for ended in endings):
        return await finish(conn, ledger.runtime_id, told)
    async with conn.transaction():
        owned = await finish(conn, ledger.runtime_id, told)
        wanted: list[Follower] = []
        kept: dict[UUID, tuple[list[Follower], list[Follower]]] = {}
        for attempt, verdict, _ in endings:
            completed, failed = attempt.followers or [], attempt.if_failed or []
            match owned.get(attempt.row.lane_seq):
                case "completed":
                    wanted += completed
                case "failed":
                    wanted += failed
                case "waiting_external" if verdict.callback_id is not None:
                    kept[verdict.callback_id] = completed, failed
        await insert_follow_ups(conn, wanted)
        if kept:
            await keep_follow_ups(conn, kept)
    return owned


def _told(ended: _Ended) -> Ending:
    attempt, verdict, _ = ended
    row = attempt.row
    return Ending(
        row.lane_id,
        row.claim_no,
        row.lane_seq,
        verdict.outcome,
        verdict.delay_s,
        verdict.error,
        attempt.carried(verdict.outcome),
        verdict.callback_id,
    )
