"""Clients on Django's databases: for the worker, for migrations, for looking at jobs."""

from __future__ import annotations

from typing import Any

import psycopg
from django.core.exceptions import ImproperlyConfigured
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.conninfo import make_conninfo

from awa.client import AsyncClient
from awa.contrib.django.backend import AwaBackend
from awa.contrib.django.library import task_backends
from awa.contrib.django.tasks import DjangoTasks


def backends() -> list[AwaBackend]:
    """The backends of TASKS that are Awa's."""
    found = [task_backends[alias] for alias in task_backends]
    return [backend for backend in found if isinstance(backend, AwaBackend)]


def make_client(alias: str = DEFAULT_DB_ALIAS) -> AsyncClient:
    """A client on one of DATABASES that knows all tasks. Raises ImproperlyConfigured if it isn't PostgreSQL."""
    client = AsyncClient(connection_string(alias))
    client.tasks = DjangoTasks()
    return client


def connection_string(alias: str) -> str:
    """How to connect as Django does."""
    connection: Any = connections[alias]
    if connection.vendor != "postgresql":
        raise ImproperlyConfigured(
            f"jobs are in PostgreSQL, the database {alias!r} is {connection.vendor}"
        )
    known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
    given = {
        name: value
        for name, value in connection.get_connection_params().items()
        if name in known and value not in (None, "")
    }
    if role := connection.settings_dict["OPTIONS"].get("assume_role"):
        escaped = role.replace("\\", "\\\\").replace(" ", "\\ ")
        given["options"] = f"{given.get('options', '')} -c role={escaped}".strip()
    return make_conninfo(**given)
