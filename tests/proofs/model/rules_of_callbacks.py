"""What handlers that wait do, and those who answer them."""

from itertools import pairwise

import hypothesis.strategies as st
from hypothesis.stateful import rule

from awa.storage.callbacks import Resolution
from awa.storage.finish import Ending, finish
from tests.proofs.model.keys import Moving
from tests.proofs.model.reference import Attempt, Callback
from tests.proofs.model.rules_of_work import Work
from tests.storage.world import World

ANSWERS: list[Resolution] = [
    "complete",
    "complete",
    "fail",
    "retry",
    "resume",
    "resume",
    "heartbeat",
]


WAITS = "waiting_external"


class Answers(Work):
    """Rules of callbacks."""

    @rule(pick=st.integers(0, 8))
    def register(self, pick: int) -> None:
        """An attempt that runs registers a callback."""
        if attempt := self._running(pick):
            self.run(self._register(attempt))

    @rule(pick=st.integers(0, 8), foreign=st.sampled_from([False] * 6 + [True]))
    def wait(self, pick: int, foreign: bool) -> None:
        """An attempt ends, to wait for a callback of its own, or for one that isn't."""
        if attempt := self._running(pick):
            self.run(self._wait(attempt, foreign=foreign))

    @rule(
        pick=st.integers(0, 8),
        answer=st.sampled_from(ANSWERS),
        in_time=st.sampled_from([True, True, False]),
    )
    def answer(self, pick: int, answer: Resolution, in_time: bool) -> None:
        """Somebody answers a callback: in time, too early, too late, or once more."""
        known = self.model.callbacks[::-1]
        known = [callback for callback in known if callback.waits or not in_time]
        if known:
            self.run(self._answer(known[pick % len(known)], answer))

    @rule(over=st.sampled_from([True, False, False]))
    def time_out(self, over: bool) -> None:
        """The time of all callbacks is over, but for those whose jobs are in somebody's hands; or it isn't yet."""
        self.run(self._time_out() if over else self._nothing_is_due())

    def _running(self, pick: int) -> Attempt | None:
        running = list(self.model.running().values())[::-1]
        return running[pick % len(running)] if running else None

    async def _register(self, attempt: Attempt) -> Callback:
        worker = World(self.house.conn, attempt.runtime_id)
        callback = Callback(await worker.register(attempt.claimed, 600.0), attempt)
        self.model.callbacks.append(callback)
        return callback

    async def _wait(self, attempt: Attempt, *, foreign: bool) -> None:
        mine = [c for c in self.model.callbacks if (c.attempt is attempt) is not foreign]
        callback = mine[-1] if mine else await self._register(attempt)
        claimed = attempt.claimed
        ending = Ending(
            claimed.lane_id, claimed.claim_no, claimed.lane_seq, "waiting", 60.0,
            callback_id=callback.id,
        )  # fmt: skip
        answered = await finish(self.house.conn, attempt.runtime_id, [ending])
        state = self.model.wait(attempt, callback)
        assert answered == {claimed.lane_seq: state}
        # One that was answered already comes past the state of waiting.
        steps = ["running", state] if callback.attempt is not attempt else ["running", WAITS, state]
        for left, entered in pairwise(steps):
            self.keys.follow([self._moving(attempt.job_id, left, entered)])

    def _moving(self, job_id: int, left: str, entered: str) -> Moving:
        return Moving(job_id, self.model.jobs[job_id].queue, left, entered)

    async def _answer(self, callback: Callback, answer: Resolution) -> None:
        if callback.waits and callback.attempt.job_id in self.held_by_others():
            return  # it would wait for that transaction
        came = await self.house.answer(callback.id, answer)
        assert came.outcome == self.model.answer(callback, answer)
        if came.outcome == "applied":
            state = self.model.jobs[callback.attempt.job_id].state
            assert came.job_state == state
            self.keys.follow([self._moving(callback.attempt.job_id, WAITS, state)])

    async def _nothing_is_due(self) -> None:
        assert await self.house.time_out() == 0

    async def _time_out(self) -> None:
        held = self.held_by_others()
        due = [
            callback
            for callback in self.model.callbacks
            if callback.answer is None and not (callback.waits and callback.attempt.job_id in held)
        ]
        assert await self.house.time_out(await self.house.now(later_s=3600)) == len(due)
        waited = [callback.attempt.job_id for callback in due if callback.waits]
        for callback in due:
            self.model.time_out(callback)
        self.keys.follow(
            self._moving(job_id, WAITS, self.model.jobs[job_id].state) for job_id in waited
        )
