"""A client for `awa worker run awa.contrib.django.worker:client --queue default=10`.

DJANGO_SETTINGS_MODULE names the settings, as for `django-admin`. `manage.py awa_worker` does the same without it.
The client is made, and Django set up, when it's asked for.
"""

from __future__ import annotations

import django
from django.apps import apps

from awa.client import AsyncClient

client: AsyncClient


def __getattr__(name: str) -> AsyncClient:
    if name != "client":
        raise AttributeError(name)
    if not apps.ready:
        django.setup()
    from awa.contrib.django.clients import make_client

    made = globals()[name] = make_client()
    return made
