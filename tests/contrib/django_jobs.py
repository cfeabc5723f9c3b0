"""Tasks as a Django project would have them; imported after Django is set up."""

from typing import Any

from asgiref.sync import sync_to_async
from django.db import connection

import awa
from awa.contrib.django.library import NAME
from awa.model.limits import METADATA_MAX_BYTES

if NAME == "django.tasks":
    from django.tasks import task
else:
    from django_tasks import task

NOT_A_TASK = print


class Trouble(Exception):
    """What tasks raise here."""


@task
def add(a: int, b: int = 0) -> int:
    return a + b


@task(queue_name="email", priority=60)
async def send(to: str) -> dict[str, str]:
    return {"to": to, "database": await sync_to_async(database)()}


@task(takes_context=True)
def attempts(context: Any, text: str) -> list[Any]:
    seen = context.task_result
    return [context.attempt, seen.status, seen.id, text]


@task
def fail(text: str) -> None:
    raise Trouble(text)


@task
async def fail_for_good() -> None:
    raise awa.TerminalError("never")


@task
def much() -> str:
    return "x" * METADATA_MAX_BYTES


@task
def later() -> Any:
    return awa.Snooze(3600)


@task
def nothing() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_database()")
        return str(cursor.fetchone()[0])
