"""`AsyncClient`: its chapters put together."""

from __future__ import annotations

from awa.client.admin import Admin
from awa.client.batch import Batch
from awa.client.callbacks import Callbacks
from awa.client.dead_letters import DeadLetters
from awa.client.inserting import Inserting
from awa.client.running import Running
from awa.client.scheduling import Scheduling


class AsyncClient(Inserting, Running, Admin, Batch, Scheduling, DeadLetters, Callbacks):
    """A program's door to Awa. Nothing is connected before the first call; `async with` closes it."""
