"""Calls a program's hooks, one after the other, beside the work and never in its way.

Events wait in a queue with a bound. Work doesn't wait for hooks: what comes while it is full is not told, and counted. What
must happen with the end of a job belongs into a follow-up, which is inserted in the same transaction.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from awa.events import hooks as events
from awa.model.hook import Event, Hook, JobEvent
from awa.worker.job import RunningJob

if TYPE_CHECKING:
    from awa.worker.attempt import Attempt, Verdict

WAITING_MAX_EVENTS: Final = 10_000
_EVENTS: Final = {
    "completed": Event.COMPLETED,
    "retryable": Event.RETRIED,
    "failed": Event.FAILED,
    "cancelled": Event.CANCELLED,
    "scheduled": Event.SNOOZED,
    "waiting_external": Event.WAITING,
    "available": Event.RETURNED,
}
# An answer that was there before the attempt came to wait: it has moved the job on already.
_WAITED: Final = "waiting"

log = logging.getLogger("awa.worker")


class Hooks:
    """The hooks of one program, by event."""

    def __init__(self, hooks: Mapping[Event, Sequence[Hook]]) -> None:
        self._hooks = hooks
        self._waiting: asyncio.Queue[JobEvent | None] = asyncio.Queue(WAITING_MAX_EVENTS)
        self._closing = False

    def wants_start(self) -> bool:
        """Whether anybody asks for starts."""
        return bool(self._hooks.get(Event.STARTED))

    def wants_ends(self) -> bool:
        """Whether anybody asks for ends."""
        return any(hooks for event, hooks in self._hooks.items() if event is not Event.STARTED)

    def started(self, attempt: Attempt, job: RunningJob[Any]) -> None:
        """A handler is about to run."""
        self._tell(JobEvent(Event.STARTED, job, "running", None, 0.0, attempt.ledger.runtime_id))

    def ended(self, attempt: Attempt, verdict: Verdict, state: str, busy_s: float) -> None:
        """The end of an attempt is committed, and its job is in this state now."""
        event = Event.WAITING if verdict.outcome == _WAITED else _EVENTS[state]
        if self._hooks.get(event):
            job = RunningJob(attempt, _args_of(attempt))
            runtime_id = attempt.ledger.runtime_id
            self._tell(JobEvent(event, job, state, verdict.error, busy_s, runtime_id))

    async def run(self) -> None:
        """Call hooks until `close` was called and all events are told."""
        while (event := await self._next()) is not None:
            for hook in tuple(self._hooks.get(event.event, ())):
                await _call(hook, event)

    def close(self) -> None:
        """No more events will come."""
        self._closing = True
        if self._waiting.empty():
            self._waiting.put_nowait(None)

    async def _next(self) -> JobEvent | None:
        if self._closing and self._waiting.empty():
            return None
        return await self._waiting.get()

    def _tell(self, event: JobEvent) -> None:
        try:
            self._waiting.put_nowait(event)
        except asyncio.QueueFull:
            events.dropped(event.event)


def _args_of(attempt: Attempt) -> Any:
    """The arguments as the handler has them; None where they can't be read, which the attempt failed of."""
    task = None if attempt.tasks is None else attempt.tasks.get(attempt.row.kind)
    try:
        return None if task is None else task.decode(attempt.row.args)
    except ValueError:
        return None


async def _call(hook: Hook, event: JobEvent) -> None:
    """What a hook raises is its own affair: it is logged and counted, and changes nothing."""
    try:
        if inspect.iscoroutinefunction(hook):
            await hook(event)
            return
        answer = await asyncio.to_thread(hook, event)
        if inspect.isawaitable(answer):
            await answer
    except Exception as problem:
        events.failed(event.event)
        log.error("a hook for %s failed on job %d", event.event, event.job.id, exc_info=problem)
