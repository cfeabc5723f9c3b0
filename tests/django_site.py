"""Django, set up once for this process, its database pointed at the one of the test."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import django
from django.conf import settings
from django.db import connection, connections
from psycopg.conninfo import conninfo_to_dict

TASKS = {
    "default": {
        "BACKEND": "awa.contrib.django.backend.AwaBackend",
        "QUEUES": ["default", "email"],
        "OPTIONS": {"max_attempts": 2},
    }
}


def set_up() -> None:
    """Configure Django, as `django-admin` would from a settings module."""
    if settings.configured:
        return
    settings.configure(
        SECRET_KEY="not secret",
        USE_TZ=True,
        INSTALLED_APPS=["awa.contrib.django"],
        DATABASES={
            "default": {"ENGINE": "django.db.backends.postgresql"},
            "other": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"},
        },
        TASKS=TASKS,
    )
    django.setup()


@contextmanager
def on_database(url: str) -> Iterator[Any]:
    """`django.db.connection`, on this database until the end of the block."""
    set_up()
    given: dict[str, Any] = conninfo_to_dict(url)
    parts = {"NAME": "dbname", "USER": "user", "PASSWORD": "password", "HOST": "host"}
    wanted = {name: given.get(part, "") for name, part in parts.items()}
    connection.settings_dict.update(wanted, PORT=str(given.get("port", "")))
    connections.databases["default"].update(wanted, PORT=str(given.get("port", "")))
    try:
        yield connection
    finally:
        connections.close_all()
