"""A worker: its parts put together, started, declared dead and born again, shut down.

    start      register, then beat, listen, finish and claim, each in a task of its own
    shutdown   claim no more; wait for handlers; hand back the rest; send every ending; say goodbye

With no queues it only says that it is alive, which is what a maintenance-only process wants.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from time import monotonic
from typing import Any, Final
from uuid import UUID, uuid4

from awa.config import Settings
from awa.db.beside import pool_like
from awa.db.failures import mapped_errors
from awa.db.listener import Connect, Listener
from awa.db.pool import Pool, connection
from awa.events import jobs as job_events
from awa.events import runtime as events
from awa.model.errors import AwaError
from awa.model.hook import Event, Hook
from awa.model.task import Tasks
from awa.storage import runtimes
from awa.worker.attempt import RETURNED, Attempt, Why, past_deadline
from awa.worker.callbacks import Desk
from awa.worker.cancellation import cancelled_in, drop, read_control, stop
from awa.worker.finisher import Finisher
from awa.worker.gate import Gate
from awa.worker.heartbeat import Heartbeat
from awa.worker.hooks import Hooks
from awa.worker.ledger import Ledger
from awa.worker.listening import Listening
from awa.worker.options import QueueOptions
from awa.worker.owed import Owed, kinds_with_on_failed
from awa.worker.queue_loop import QueueLoop
from awa.worker.retry import Retry
from awa.worker.sharing import Shared
from awa.worker.threads import Threads

# After shutdown's time-out handlers are cancelled and get this long to unwind.
UNWIND_S: Final = 1.0
# The last endings get this long, whatever the time-out was.
LAST_WORDS_S: Final = 5.0
RESTART_S: Final = 1.0
CANCEL_AGAIN_S: Final = 0.2
# Queues that claim at the same moment; and the finisher, the heartbeat, a handler's progress.
CLAIM_CONNECTIONS: Final = 8
CONNECTIONS_BESIDE: Final = 3

log = logging.getLogger("awa.worker")


class Worker:
    """One runtime in this process. `connect` opens the wake-up connection; None means polling only.

    `max_workers` is for all queues together; None: each has slots of its own. `schedules` names those that the program
    declares, of `app`: while it lives they are not retired.
    """

    def __init__(
        self,
        pool: Pool,
        tasks: Tasks,
        queues: Sequence[QueueOptions],
        settings: Settings,
        *,
        roles: Sequence[str] = ("worker",),
        max_workers: int | None = None,
        connect: Connect | None = None,
        app: str | None = None,
        schedules: Sequence[str] | None = None,
        hooks: Mapping[Event, Sequence[Hook]] | None = None,
    ) -> None:
        # Of its own: handlers may hold every connection of the client's pool.
        self.pool = pool_like(pool, min(len(queues), CLAIM_CONNECTIONS) + CONNECTIONS_BESIDE)
        self.tasks = tasks
        self.settings = settings
        self.roles = tuple(roles)
        self.threads = Threads()
        self.gate = Gate()
        self.desk = Desk(self.pool, settings)
        self.heartbeat = Heartbeat(self)
        self.hooks = Hooks(hooks) if hooks and any(hooks.values()) else None
        self.finisher = Finisher(self.pool, self.heartbeat.soon, self._ended, self.hooks)
        shared = None if max_workers is None else Shared(max_workers)
        self.queues = {options.queue: QueueLoop(self, options, shared) for options in queues}
        self.ledger: Ledger
        self._connect = connect
        self._declares = app, schedules
        self._services: list[asyncio.Task[None]] = []
        self._claiming: list[asyncio.Task[None]] = []
        self._finishing: asyncio.Task[None] | None = None
        self._telling: asyncio.Task[None] | None = None

    @property
    def runtime_id(self) -> UUID:
        """The present id; it changes when this runtime was declared dead."""
        return self.ledger.runtime_id

    async def start(self) -> None:
        """Register and begin. Raises AwaError if the database can't be reached or isn't migrated."""
        with mapped_errors():
            await self.pool.open(wait=True, timeout=self.settings.pool_timeout_s)
        try:
            self.ledger = await self._register()
        except BaseException:
            await self.pool.close()
            raise
        events.started(self.runtime_id, self.roles, self.queues)
        self._spawn(self._services, "heartbeat", self.heartbeat.run)
        if self.queues:
            self._spawn(self._services, "owed follow-ups", Owed(self).run)
        if self._connect is not None and self.queues:
            listening = Listening(
                self._connect,
                self.pool,
                on_ready=self._ready,
                on_control=self._control,
                on_change=self._listening,
            )
            self._spawn(self._services, "listening", listening.run)
        self._finishing = self._spawn([], "finisher", self.finisher.run)
        if self.hooks is not None:
            self._telling = self._spawn([], "hooks", self.hooks.run)
        for loop in self.queues.values():
            self._spawn(self._claiming, f"queue {loop.queue}", loop.run)

    async def shutdown(self, timeout_s: float) -> int:
        """Stop; answers how many attempts were handed back. Handlers get `timeout_s` to finish."""
        until_s = monotonic() + timeout_s
        for loop in self.queues.values():
            loop.stop()
        await _finished(self._claiming, max(timeout_s, UNWIND_S))
        before = self.finisher.returned
        for loop in self.queues.values():
            loop.hand_back()
            loop.runners.close()
        await self._join(until_s - monotonic())
        await self._take_from_handlers()
        returned = self.finisher.returned - before
        self.finisher.stop()
        if self._finishing is not None:
            await _finished([self._finishing], max(until_s - monotonic(), LAST_WORDS_S))
        if self.hooks is not None and self._telling is not None:
            self.hooks.close()
            await _finished([self._telling], max(until_s - monotonic(), LAST_WORDS_S))
        await self._say_goodbye()
        await _finished(self._services, 0.0)
        await self.pool.close()
        self.threads.stop()
        self.tell_held()
        events.stopped(self.runtime_id, returned)
        return returned

    async def declared_dead(self, ledger: Ledger) -> None:
        """The database gave this runtime's attempts to others: drop them, go on under a new id."""
        if ledger.dead:
            return
        dropped = drop(ledger.declare_dead(), Why.LOST, self.settings.cancel_grace_s)
        retry = Retry("registering again")
        while True:
            try:
                self.ledger = await self._register()
                break
            except AwaError as problem:
                await retry.after(problem)
        events.declared_dead(ledger.runtime_id, self.runtime_id, dropped)

    def tell_held(self) -> None:
        """Say how many attempts each queue holds."""
        for loop in self.queues.values():
            job_events.holding(loop.queue, loop.slots.held)

    def stop_at_deadline(self, attempt: Attempt) -> None:
        """The attempt's time is up: it ends now, whatever its handler still does."""
        verdict = past_deadline(attempt, self.tasks)
        stop(attempt, Why.DEADLINE, 0.0)
        self.finisher.end(attempt, verdict, 0.0)

    async def _register(self) -> Ledger:
        runtime_id = uuid4()
        queues = {loop.queue: loop.options.max_workers for loop in self.queues.values()}
        app, schedules = self._declares
        kinds = kinds_with_on_failed(self.tasks) if self.queues else []
        async with connection(self.pool) as conn:
            db_now = await runtimes.register(
                conn,
                runtime_id,
                self.roles,
                queues,
                _version(),
                app=app,
                schedules=schedules,
                on_failed=kinds,
            )
        ledger = Ledger(runtime_id, db_now, self.heartbeat.flush, self.desk)
        ledger.on_failed = kinds
        return ledger

    async def _join(self, timeout_s: float) -> None:
        """Wait for the handlers of all queues."""
        until_s = monotonic() + timeout_s
        for loop in self.queues.values():
            await loop.runners.join(max(until_s - monotonic(), 0.0))

    async def _take_from_handlers(self) -> None:
        """Stop the handlers that still run; what they can't end now is handed back."""
        running = [attempt for loop in self.queues.values() for attempt in loop.runners.running]
        for attempt in running:
            stop(attempt, Why.SHUTDOWN, 0.0)
        if running:
            await self._join(UNWIND_S)
        for attempt in running:
            self.finisher.end(attempt, RETURNED, 0.0)

    async def _say_goodbye(self) -> None:
        """Tell the database that this runtime is over; if it can't be told, a rescue finds out."""
        with contextlib.suppress(AwaError):
            async with connection(self.pool) as conn:
                await runtimes.stop(conn, self.runtime_id)

    def _ready(self, queue: str) -> None:
        if (loop := self.queues.get(queue)) is not None:
            loop.wake.notify()

    def _ended(self, queues: Iterable[str]) -> None:
        for queue in queues:
            if (loop := self.queues.get(queue)) is not None:
                loop.holding.eased()

    def _control(self, message: str) -> None:
        drop(cancelled_in(message, self.ledger), Why.CANCELLED, self.settings.cancel_grace_s)
        self.desk.heard(read_control(message))

    def _listening(self, listener: Listener | None) -> None:
        for loop in self.queues.values():
            loop.wake.listen(listener)

    def _spawn(
        self, tasks: list[asyncio.Task[None]], name: str, run: Callable[[], Awaitable[None]]
    ) -> asyncio.Task[None]:
        task = asyncio.create_task(_kept_alive(name, run), name=f"awa {name}")
        tasks.append(task)
        return task


async def _kept_alive(name: str, run: Callable[[], Awaitable[None]]) -> None:
    """Run to the end; after a failure nobody foresaw, log it and begin again."""
    while True:
        try:
            await run()
            return
        except Exception:
            log.exception("%s failed unexpectedly; it begins again in %g s", name, RESTART_S)
            await asyncio.sleep(RESTART_S)


async def _finished(tasks: Sequence[asyncio.Task[Any]], timeout_s: float) -> None:
    """Wait for tasks to end by themselves, then cancel them.

    More than once if need be: the pool swallows a cancellation that comes with the connection that was
    waited for.
    """
    late = set(tasks)
    if late:
        _, late = await asyncio.wait(late, timeout=timeout_s)
    while late:
        for task in late:
            task.cancel()
        _, late = await asyncio.wait(late, timeout=CANCEL_AGAIN_S)


def _version() -> str:
    """What a runtime says it runs; a copy that was never installed has no version."""
    try:
        return version("awa-jobs")
    except PackageNotFoundError:
        return ""
