"""A job as Django's TaskResult, and the task that a job's kind names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from traceback import format_exception
from typing import Any, Final

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from awa.contrib.django.library import Task, TaskError, TaskResult, TaskResultStatus
from awa.model.job import Job
from awa.model.outcome import TerminalError
from awa.model.states import JobState

# Where a job's metadata keeps what its task returned.
RETURN_VALUE: Final = "return_value"
UNKNOWN_WORKER: Final = "unknown"

STATUS: Final = {
    JobState.SCHEDULED: TaskResultStatus.READY,
    JobState.AVAILABLE: TaskResultStatus.READY,
    JobState.RETRYABLE: TaskResultStatus.READY,
    JobState.RUNNING: TaskResultStatus.RUNNING,
    JobState.WAITING_EXTERNAL: TaskResultStatus.RUNNING,
    JobState.COMPLETED: TaskResultStatus.SUCCESSFUL,
    JobState.FAILED: TaskResultStatus.FAILED,
    JobState.CANCELLED: TaskResultStatus.FAILED,
}


def find_task(kind: str) -> Any:
    """The task with this path. Raises ImportError; TerminalError if it's something else, which nobody may call."""
    found = import_string(kind)
    if not isinstance(found, Task):
        raise TerminalError(f"{kind} is not a task of Django, so it is not run")
    return found


def is_call(job: Job[Any], alias: str) -> bool:
    """Whether a job was made by the backend with this alias."""
    return isinstance(job.args, Mapping) and job.args.get("backend") == alias


def result_of(job: Job[Any], task: Any, alias: str) -> Any:
    """The job as a TaskResult; only the workers of earlier attempts aren't known any more."""
    workers = [UNKNOWN_WORKER] * job.attempt
    if workers and job.runtime_id is not None:
        workers[-1] = str(job.runtime_id)
    result = TaskResult(
        task=task,
        id=str(job.id),
        status=STATUS[job.state],
        enqueued_at=_told(job.created_at),
        started_at=_told(job.attempted_at),
        finished_at=_told(job.finalized_at),
        last_attempted_at=_told(job.attempted_at),
        args=job.args["args"],
        kwargs=job.args["kwargs"],
        backend=alias,
        errors=[_error(error) for error in job.errors],
        worker_ids=workers,
    )
    object.__setattr__(result, "_return_value", job.metadata.get(RETURN_VALUE))
    return result


def _error(told: Mapping[str, Any]) -> Any:
    traceback = told.get("traceback") or told.get("error") or ""
    return TaskError(exception_class_path=_class_path(told), traceback=traceback)


def error_of(problem: BaseException) -> Any:
    """An exception as a TaskError."""
    kind = type(problem)
    return TaskError(
        exception_class_path=f"{kind.__module__}.{kind.__qualname__}",
        traceback="".join(format_exception(problem)),
    )


def _class_path(told: Mapping[str, Any]) -> str:
    """The exception's class with its module, which the last line of its traceback has, except for built-in ones."""
    name = str(told.get("kind") or "Exception")
    lines = re.findall(
        rf"^((?:\w+\.)*(?:[\w<>]+\.)*{re.escape(name)})(?::|$)", told.get("traceback") or "", re.M
    )
    path = lines[-1] if lines else name
    return path if "." in path else f"builtins.{path}"


def _told(moment: datetime | None) -> datetime | None:
    """Without USE_TZ times have no zone."""
    if moment is None or settings.USE_TZ:
        return moment
    naive: datetime = timezone.make_naive(moment)
    return naive
