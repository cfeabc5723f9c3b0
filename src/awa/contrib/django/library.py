"""The tasks framework that is here: `django.tasks` of Django 6, or the package django-tasks, which is the same for
earlier versions.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured


def _library() -> str:
    for name in ("django.tasks", "django_tasks"):
        if find_spec(name) is not None:
            return name
    raise ImproperlyConfigured(
        "Awa's task backend needs Django 6, or the package django-tasks for earlier versions"
    )


NAME: Final = _library()

_base: Any = import_module(f"{NAME}.base")
_backends: Any = import_module(f"{NAME}.backends.base")
_exceptions: Any = import_module(f"{NAME}.exceptions")
_json: Any = import_module("django.utils.json" if NAME == "django.tasks" else f"{NAME}.utils")

signals: Any = import_module(f"{NAME}.signals")
task_backends: Any = import_module(NAME).task_backends

BaseTaskBackend: Any = _backends.BaseTaskBackend
Task: Any = _base.Task
TaskContext: Any = _base.TaskContext
TaskError: Any = _base.TaskError
TaskResult: Any = _base.TaskResult
TaskResultStatus: Any = _base.TaskResultStatus
TaskResultDoesNotExist: Any = _exceptions.TaskResultDoesNotExist
normalize_json: Any = _json.normalize_json
