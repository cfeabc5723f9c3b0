"""The blocking client: Running. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from awa.model.hook import Event, H
from awa.sync.base import Base


class Running(Base):
    """As that of the async client."""

    def on(self, event: Event | str) -> Callable[[H], H]:
        """A decorator, `@client.on("failed")`: the function is called when an attempt of this program has started, or ended so.

        Events are started, completed, retried, failed, cancelled, snoozed, waiting and returned. A hook gets an `awa.JobEvent` once
        the end is committed; it may be async, and a plain one runs in a thread. What it raises is logged. Raises ValidationError,
        and Conflict if the client has been started.
        """
        return self.aio.on(event)

    def start(
        self,
        queues: Iterable[Any] = (),
        *,
        max_workers: int | None = None,
        roles: Iterable[str] | None = None,
    ) -> None:
        """Begin to work: `[("email", 50)]`, or mappings with queue, max_workers, deadline_seconds, rate_limit.

        With `max_workers` the queues share so many slots by their `weight` (1), none below its `min_workers` (0).
        Roles are "worker" and "maintenance" (promotion, rescue, retention, batch operations); both
        unless told otherwise. Returns when the runtime is registered; the work goes on in the
        background until `shutdown`. Raises ValidationError, SchemaNotMigrated, DatabaseError, and
        Conflict if it has been started already.
        """
        return self._portal.run(self.aio.start(queues, max_workers=max_workers, roles=roles))

    def shutdown(self, timeout: float | None = None) -> int:
        """Stop working: claim no more, give handlers `timeout` seconds (default 30), hand back the rest.

        Answers how many attempts were handed back; they don't count. Does nothing when not started.
        """
        return self._portal.run(self.aio.shutdown(timeout))
