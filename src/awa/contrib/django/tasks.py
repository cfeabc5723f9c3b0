"""Tasks of Django as Awa's: a kind of job is a task's path, and its handler calls the task's function."""

from __future__ import annotations

from collections.abc import Callable
from inspect import iscoroutinefunction
from typing import Any

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.utils import timezone

from awa.contrib.django.library import (
    TaskContext,
    TaskResultStatus,
    normalize_json,
    signals,
    task_backends,
)
from awa.contrib.django.results import RETURN_VALUE, error_of, find_task, result_of
from awa.model.errors import ValidationError
from awa.model.job import Job
from awa.model.outcome import Cancel, RetryAfter, Snooze, TerminalError
from awa.model.payload import decoder
from awa.model.task import Handler, Task, Tasks


class DjangoTasks(Tasks):
    """Tasks that need no registering; those that a client registers as well are found first."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[str, Task[Any]] = {}

    def get(self, kind: str) -> Task[Any] | None:
        """The task of a kind. Raises ImportError if a path leads nowhere, TerminalError if to something else."""
        task = super().get(kind) or self._found.get(kind)
        if task is None and "." in kind:
            task = self._found[kind] = _task(kind)
        return task


def _task(kind: str) -> Task[Any]:
    found = find_task(kind)
    is_async = iscoroutinefunction(found.func)
    handler: Handler[Any] = _async_handler(found) if is_async else _handler(found)
    return Task(
        kind=kind,
        args_type=dict,
        handler=handler,
        queue=None,
        is_async=is_async,
        decode=decoder(dict),
    )


def _handler(task: Any) -> Callable[[Job[Any]], Any]:
    def handler(job: Job[Any]) -> Any:
        close_old_connections()
        try:
            call = _Call(task, job)
            signals.task_started.send(call.sender, task_result=call.result)
            try:
                value = task.func(*call.args, **call.kwargs)
                outcome = call.returned(value)
            except BaseException as problem:
                if call.raised(problem):
                    signals.task_finished.send(call.sender, task_result=call.result)
                raise
            if outcome is None:
                signals.task_finished.send(call.sender, task_result=call.result)
            return outcome
        finally:
            close_old_connections()

    return handler


def _async_handler(task: Any) -> Callable[[Job[Any]], Any]:
    close = sync_to_async(close_old_connections)

    async def handler(job: Job[Any]) -> Any:
        await close()
        try:
            call = _Call(task, job)
            await signals.task_started.asend(call.sender, task_result=call.result)
            try:
                value = await task.func(*call.args, **call.kwargs)
                outcome = call.returned(value)
            except BaseException as problem:
                if call.raised(problem):
                    await signals.task_finished.asend(call.sender, task_result=call.result)
                raise
            if outcome is None:
                await signals.task_finished.asend(call.sender, task_result=call.result)
            return outcome
        finally:
            await close()

    return handler


class _Call:
    """One attempt of a task, with the TaskResult that the signals and the task's context see."""

    def __init__(self, task: Any, job: Job[Any]) -> None:
        alias = job.args["backend"]
        self._job = job
        self.sender = type(task_backends[alias])
        self.result = result_of(job, task, alias)
        self.kwargs = self.result.kwargs
        self.args = list(self.result.args)
        if task.takes_context:
            self.args.insert(0, TaskContext(task_result=self.result))

    def returned(self, value: Any) -> Any:
        """Keep what the task returned; answers what it means to the worker, None that it is done."""
        if isinstance(value, RetryAfter | Snooze | Cancel):
            return value
        kept = normalize_json(value)
        if kept is not None:
            self._keep(kept)
        self._ended(TaskResultStatus.SUCCESSFUL)
        object.__setattr__(self.result, "_return_value", kept)
        return None

    def _keep(self, value: Any) -> None:
        """Keep it with the job. One that is too large is too large each time: running the task again would only do its work again."""
        try:
            self._job.update_metadata({RETURN_VALUE: value})
        except ValidationError as problem:
            told = f"what the task returned can't be kept: {problem.message}"
            raise TerminalError(told) from problem

    def raised(self, problem: BaseException) -> bool:
        """Whether this was the last attempt, so that the task has failed; else it is tried again."""
        last = isinstance(problem, TerminalError) or self._job.attempt >= self._job.max_attempts
        if not (last and isinstance(problem, Exception)):
            return False
        self.result.errors.append(error_of(problem))
        self._ended(TaskResultStatus.FAILED)
        return True

    def _ended(self, status: Any) -> None:
        object.__setattr__(self.result, "status", status)
        object.__setattr__(self.result, "finished_at", timezone.now())
