"""A client for `awa worker run awa.contrib.django.worker:client --queue default=10`.

DJANGO_SETTINGS_MODULE names the settings, as for `django-admin`. `manage.py awa_worker` does the same without it.
"""

from __future__ import annotations

import django
from django.apps import apps

if not apps.ready:
    django.setup()

from awa.contrib.django.clients import make_client

client = make_client()
