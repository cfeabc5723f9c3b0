"""A client like another one, on another database: for a program's client that was made when its module was imported."""

from __future__ import annotations

from awa.client import AsyncClient
from awa.db.pool import Pool


def twin(client: AsyncClient, database: str | Pool) -> AsyncClient:
    """A client with the same tasks and settings on `database`; tasks registered later belong to both."""
    made = AsyncClient(database, settings=client.settings)
    made.tasks = client.tasks
    return made
