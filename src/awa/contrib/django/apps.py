"""The app: `manage.py migrate` brings Awa's schema along, in test databases too."""

from __future__ import annotations

import asyncio
from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AwaConfig(AppConfig):
    """INSTALLED_APPS names it as "awa.contrib.django"."""

    name = "awa.contrib.django"
    label = "awa"
    verbose_name = "Awa"

    def ready(self) -> None:
        """Have the schema migrated after Django's own."""
        post_migrate.connect(_migrate, sender=self)


def _migrate(using: str, verbosity: int = 1, **kwargs: Any) -> None:
    """Bring Awa's schema to this version, in the databases that hold jobs."""
    from awa.contrib.django.clients import backends

    if using not in {backend.database for backend in backends()}:
        return
    applied = asyncio.run(_apply(using))
    if applied and verbosity >= 1:
        print(f"  Awa: applied {', '.join(applied)} to {using!r}.")


async def _apply(using: str) -> list[str]:
    from awa.contrib.django.clients import make_client

    async with make_client(using) as client:
        return await client.migrate()
