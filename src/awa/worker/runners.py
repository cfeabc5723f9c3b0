"""Runners: asyncio tasks that take attempts from a queue's buffer and run their handlers, one by one.

A task for each job would cost more than the rest of a small job's way through this process. So a
runner goes on to the next job, but only while it is as good as new: when a handler left something in
the context variables, or the task was cancelled, the runner ends and a fresh one takes its place. No
handler ever sees what another one left behind.

There are at most `size` runners, so that many handlers run at once. Runners are woken one by one: each
that starts a job wakes the next if there is more to do. Handlers that never wait are then all run by one
runner, without waking the others in vain.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Final, TypeAlias

from awa.model.task import Tasks
from awa.worker.attempt import RETURNED, Attempt, Verdict, run_attempt
from awa.worker.hooks import Hooks
from awa.worker.threads import Threads

# A runner lets the event loop breathe after so long without a pause.
STRETCH_MAX_S: Final = 0.01

OnEnd: TypeAlias = Callable[[Attempt, Verdict, float], None]

log = logging.getLogger("awa.worker")


class Runners:
    """The runners of one queue. `on_end(attempt, verdict, busy_s)` is called for each attempt that was run."""

    def __init__(
        self, size: int, tasks: Tasks, threads: Threads, on_end: OnEnd, hooks: Hooks | None = None
    ) -> None:
        self._size = size
        self._tasks = tasks
        self._threads = threads
        self._on_end = on_end
        self._on_start = hooks.started if hooks is not None and hooks.wants_start() else None
        self._buffer: deque[Attempt] = deque()
        self._alive: set[asyncio.Task[None]] = set()
        self._parked: list[asyncio.Future[None]] = []
        self._waking = False
        self._closed = False
        self.running: set[Attempt] = set()

    def add(self, attempts: list[Attempt]) -> None:
        """Run these, in order."""
        self._buffer.extend(attempts)
        self._wake_one()

    @property
    def buffered(self) -> deque[Attempt]:
        """Claimed, but not begun. Who takes one out of it has to end it."""
        return self._buffer

    def close(self) -> None:
        """No more attempts: parked runners end, running ones end after their job."""
        self._closed = True
        for parked in self._parked:
            if not parked.done():
                parked.set_result(None)
        self._parked.clear()

    async def join(self, timeout_s: float) -> bool:
        """Wait, after `close`, until no handler runs; False if some still do after `timeout_s`."""
        if self._alive:
            await asyncio.wait(set(self._alive), timeout=timeout_s)
        return not self._alive

    def _wake_one(self) -> None:
        """Get one more runner going, unless one is on its way already."""
        if self._waking or not self._buffer:
            return
        if self._parked:
            self._waking = True
            self._parked.pop().set_result(None)
        elif len(self._alive) < self._size:
            self._waking = True
            task = asyncio.create_task(self._serve(), name="awa-runner")
            self._alive.add(task)
            task.add_done_callback(self._retired)

    def _retired(self, task: asyncio.Task[None]) -> None:
        self._alive.discard(task)
        if not task.cancelled() and (problem := task.exception()) is not None:
            log.error("a runner failed; another one takes its place", exc_info=problem)
        if not self._closed:
            self._wake_one()

    async def _serve(self) -> None:
        """The life of one runner."""
        me = asyncio.current_task()
        assert me is not None
        untouched = contextvars.copy_context()
        rested_s = monotonic()
        self._waking = False
        while not self._closed or self._buffer:
            if not self._buffer:
                await self._park()
                rested_s = monotonic()
                continue
            attempt = self._buffer.popleft()
            if self._buffer:
                self._wake_one()
            if attempt.ended:  # lost while it waited here
                self._on_end(attempt, RETURNED, 0.0)
                continue
            await self._run(attempt, me)
            del attempt  # a runner that sleeps keeps nothing of the last job alive
            if me.cancelling() or not _same(untouched, contextvars.copy_context()):
                return
            if monotonic() - rested_s > STRETCH_MAX_S:
                await asyncio.sleep(0)
                rested_s = monotonic()

    async def _run(self, attempt: Attempt, me: asyncio.Task[None]) -> None:
        self.running.add(attempt)
        try:
            verdict, busy_s = await run_attempt(
                attempt, self._tasks, self._threads, me, self._on_start
            )
        finally:
            self.running.discard(attempt)
        self._on_end(attempt, verdict, busy_s)

    async def _park(self) -> None:
        """Sleep until there is something in the buffer, or no more to come."""
        parked = asyncio.get_running_loop().create_future()
        self._parked.append(parked)
        try:
            await parked
        finally:
            self._waking = False


def _same(one: contextvars.Context, other: contextvars.Context) -> bool:
    try:
        return one == other
    except Exception:  # values that can't be compared were put in by a handler
        return False
