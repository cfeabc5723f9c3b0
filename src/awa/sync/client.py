"""The blocking client, its chapters put together. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from awa.sync.admin import Admin
from awa.sync.batch import Batch
from awa.sync.callbacks import Callbacks
from awa.sync.dead_letters import DeadLetters
from awa.sync.inserting import Inserting
from awa.sync.running import Running
from awa.sync.scheduling import Scheduling


class Client(Inserting, Running, Admin, Batch, Scheduling, DeadLetters, Callbacks):
    """A program's blocking door to Awa. Nothing is connected before the first call; `with` closes it."""
