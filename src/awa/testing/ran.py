"""How one attempt went, and running one so that what the handler returned and raised is kept."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, cast

import orjson

from awa.model.job import Job
from awa.model.task import Task, Tasks
from awa.worker.attempt import Attempt, Verdict, run_attempt
from awa.worker.threads import Threads


@dataclass(frozen=True, slots=True)
class Following:
    """A job that came, or was to come, with the end of another one."""

    kind: str
    queue: str
    args: dict[str, Any]
    priority: int
    run_at: datetime | None


@dataclass(frozen=True, slots=True)
class Ran:
    """How one attempt went.

    `outcome` is what the handler made of it: completed, retried, snoozed, cancelled or failed. What became of
    the job is `job.state`: one that is retried for the last time has failed.
    """

    job: Job[Any]
    outcome: str
    returned: object = None
    exception: BaseException | None = None
    delay_s: float | None = None  # of RetryAfter or Snooze
    error: dict[str, Any] | None = None  # as it is kept with the job
    follow_ups: tuple[
        Following, ...
    ] = ()  # of job.follow_up, on_completed or on_failed; if it waits: on completion


class Recording(Tasks):
    """A client's tasks whose handlers leave behind what they returned and raised."""

    __slots__ = ("_tasks", "exception", "job", "returned")

    def __init__(self, tasks: Tasks) -> None:
        self._by_kind, self._by_type = tasks._by_kind, tasks._by_type
        self._tasks = tasks
        self.job: Job[Any] | None = None  # as the handler got it
        self.returned: object = None
        self.exception: BaseException | None = None

    def get(self, kind: str) -> Task[Any] | None:
        task = self._tasks.get(kind)
        if task is None:
            return None
        handler = self._awaited(task) if task.is_async else self._called(task)
        asked = task.on_completed and self._kept(task.on_completed)
        return replace(task, handler=handler, decode=self._kept(task.decode), on_completed=asked)

    def need(self, kind: str) -> Task[Any]:
        found: Task[Any] = self._kept(self._tasks.need)(kind)
        return found

    def _called(self, task: Task[Any]) -> Callable[[Job[Any]], Any]:
        def handler(job: Job[Any]) -> Any:
            self.job = job
            self.returned = self._kept(task.handler)(job)
            return self.returned

        return handler

    def _awaited(self, task: Task[Any]) -> Callable[[Job[Any]], Any]:
        async def handler(job: Job[Any]) -> Any:
            self.job = job
            try:
                self.returned = await cast("Awaitable[object]", task.handler(job))
            except BaseException as problem:
                self.exception = problem
                raise
            return self.returned

        return handler

    def _kept(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def keep(argument: Any) -> Any:
            try:
                return function(argument)
            except BaseException as problem:
                self.exception = problem
                raise

        return keep


async def attempted(
    attempt: Attempt, tasks: Tasks, threads: Threads
) -> tuple[Verdict, float, Recording]:
    """Run one attempt in a task of its own, as a worker does, so that handlers don't share context variables."""
    recording = Recording(tasks)

    async def run() -> tuple[Verdict, float]:
        me = asyncio.current_task()
        assert me is not None
        return await run_attempt(attempt, recording, threads, me)

    verdict, busy_s = await asyncio.create_task(run(), name="awa test attempt")
    return verdict, busy_s, recording


def told(attempt: Attempt, job: Job[Any], verdict: Verdict, kept: Recording) -> Ran:
    """What a test is told of an attempt."""
    may_complete = verdict.outcome in {"completed", "waiting"}
    return Ran(
        job,
        verdict.outcome,
        kept.returned,
        kept.exception,
        verdict.delay_s,
        verdict.error,
        tuple(
            Following(new.kind, queue, orjson.loads(new.args_json), new.priority, new.run_at)
            for queue, new in (attempt.followers if may_complete else attempt.if_failed) or ()
        ),
    )
