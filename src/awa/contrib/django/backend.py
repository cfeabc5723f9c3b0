"""The backend that TASKS names: tasks become jobs, in the transaction that Django has open.

    TASKS = {"default": {"BACKEND": "awa.contrib.django.backend.AwaBackend", "QUEUES": ["default", "email"]}}

OPTIONS: `database`, the alias in DATABASES (default); `max_attempts`, how often a task is tried (25).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast

from django.core import checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections
from django.utils import timezone

from awa.bridge import at_once, insert_job_sync
from awa.bridge.facade import Facade
from awa.bridge.recognise import speaker_for
from awa.contrib.django.library import (
    BaseTaskBackend,
    TaskResultDoesNotExist,
    normalize_json,
    signals,
)
from awa.contrib.django.results import find_task, is_call, result_of
from awa.db.run import Connection
from awa.model.errors import AwaError, NotFound
from awa.model.job import Job
from awa.model.limits import JOB_ID_MAX, MAX_ATTEMPTS_DEFAULT, check_max_attempts
from awa.operations.single import get_job

OPTIONS: Final = frozenset({"database", "max_attempts"})


class AwaBackend(BaseTaskBackend):
    """Tasks as jobs; `manage.py awa_worker` runs them."""

    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: Mapping[str, Any]) -> None:
        """Raises ImproperlyConfigured for options that nobody knows or that make no sense."""
        super().__init__(alias, params)
        if unknown := sorted(self.options.keys() - OPTIONS):
            raise ImproperlyConfigured(
                f"TASKS[{alias!r}]: OPTIONS has {', '.join(unknown)}; known are {', '.join(sorted(OPTIONS))}"
            )
        self.database: str = self.options.get("database", DEFAULT_DB_ALIAS)
        try:
            self.max_attempts = check_max_attempts(
                self.options.get("max_attempts", MAX_ATTEMPTS_DEFAULT)
            )
        except AwaError as problem:
            raise ImproperlyConfigured(f"TASKS[{alias!r}]: {problem}") from problem

    def enqueue(self, task: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Insert the task's job; it exists when the transaction that is open commits, at once if none is."""
        self.validate_task(task)
        call = {
            "args": normalize_json(list(args)),
            "kwargs": normalize_json(dict(kwargs)),
            "backend": self.alias,
        }
        job = insert_job_sync(
            connections[self.database],
            call,
            kind=task.module_path,
            queue=task.queue_name,
            priority=awa_priority(task.priority),
            max_attempts=self.max_attempts,
            run_at=_aware(task.run_after),
        )
        result = result_of(job, task, self.alias)
        signals.task_enqueued.send(type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> Any:
        """How the task stands. Raises TaskResultDoesNotExist, also when its job is past its retention."""
        job = self._job(result_id)
        if job is None or not is_call(job, self.alias):
            raise TaskResultDoesNotExist(result_id)
        task = find_task(job.kind).using(backend=self.alias)
        if job.queue in self.queues:
            task = task.using(queue_name=job.queue)
        return result_of(job, task, self.alias)

    def check(self, **kwargs: Any) -> Iterable[Any]:
        """What `manage.py check` says of this backend."""
        vendor = connections[self.database].vendor
        if vendor == "postgresql":
            return []
        return [
            checks.Error(
                f"TASKS[{self.alias!r}] keeps its jobs in the database {self.database!r}, which is {vendor}.",
                hint="Name a PostgreSQL one: OPTIONS = {'database': …}.",
                id="awa.E001",
            )
        ]

    def _job(self, result_id: str) -> Job[Any] | None:
        if not (result_id.isascii() and result_id.isdigit() and 0 < int(result_id) <= JOB_ID_MAX):
            return None
        speaker = speaker_for(connections[self.database], blocking=True)
        try:
            return at_once(get_job(cast("Connection", Facade(speaker)), int(result_id)))
        except NotFound:
            return None


def awa_priority(priority: int) -> int:
    """Django's -100 to 100, where more is sooner, as one of Awa's 1 (first) to 4; 0 is 2, the default of both."""
    if priority >= 50:
        return 1
    if priority >= 0:
        return 2
    return 3 if priority >= -50 else 4


def _aware(moment: datetime | None) -> datetime | None:
    """Without USE_TZ times are those of the present zone."""
    if moment is None or timezone.is_aware(moment):
        return moment
    aware: datetime = timezone.make_aware(moment)
    return aware
