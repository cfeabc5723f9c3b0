"""Django on the test's database, and what runs its tasks."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import datetime
from importlib import import_module
from typing import Any

import pytest

from awa.testing import Ran, drain
from tests import django_site


@pytest.fixture
def site(database_url: str) -> Iterator[Any]:
    """`django.db.connection` on this test's database."""
    with django_site.on_database(database_url) as connection:
        yield connection


@pytest.fixture
def jobs(site: Any) -> Any:
    """The module with the tasks."""
    return import_module("tests.contrib.django_jobs")


@pytest.fixture
def work(site: Any) -> Callable[..., list[Ran]]:
    """Runs what is due, in the queues of the backend."""
    from awa.contrib.django.clients import make_client

    async def run(now: datetime | None) -> list[Ran]:
        async with make_client() as client:
            return [r for q in ("default", "email") for r in await drain(client, q, now=now)]

    return lambda now=None: asyncio.run(run(now))
