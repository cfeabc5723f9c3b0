"""A node: what one process runs for a client, a worker, maintenance, or both.

Maintenance works without any worker alive, because it may have to repair the queue that a worker can't
drain. A node without queues still registers and says that it is alive.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from awa.client.running import Running
from awa.db.migrate import check_schema
from awa.maintenance import Maintenance
from awa.model.errors import invalid_field
from awa.operations import cron
from awa.worker.options import queue_options
from awa.worker.runtime import RESTART_S, Worker

log = logging.getLogger("awa.node")


class Node:
    """The roles that a client has started."""

    def __init__(
        self,
        client: Running,
        queues: Iterable[Any],
        roles: frozenset[str] | None,
        max_workers: int | None = None,
    ) -> None:
        """Raises ValidationError for queues or roles that make no sense; nothing has begun then."""
        options = queue_options(queues, max_workers)
        self.roles = roles or frozenset({"worker", "maintenance"} if options else {"maintenance"})
        if "worker" in self.roles and not options:
            raise invalid_field("queues", 'a worker needs a queue, such as [("email", 50)]')
        if "worker" not in self.roles and options:
            raise invalid_field("queues", "are for the role worker, which was not asked for")
        self._client = client
        self.worker = Worker(
            client.pool,
            client.tasks,
            options,
            client.settings,
            roles=sorted(self.roles),
            max_workers=max_workers,
            connect=client.connect_listener,
            app=client.app,
            hooks=client.hooks,
            # A process that only keeps house runs no program, so it has no say in which schedules there are.
            schedules=sorted(client.schedules) if "worker" in self.roles else None,
        )
        self._stop_maintenance = asyncio.Event()
        self._maintenance: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Register and begin."""
        async with self._client.connection() as conn:
            await check_schema(conn)
            if "worker" in self.roles:
                await cron.declare(conn, self._client.app, self._client.schedules.values())
        await self.worker.start()
        if "maintenance" in self.roles:
            self._maintenance = asyncio.create_task(self._maintain(), name="awa maintenance")

    async def shutdown(self, timeout_s: float) -> int:
        """Stop; answers how many attempts were handed back."""
        self._stop_maintenance.set()
        returned = await self.worker.shutdown(timeout_s)
        if self._maintenance is not None:
            await self._maintenance
        return returned

    def _identity(self) -> UUID:
        return self.worker.runtime_id

    async def _maintain(self) -> None:
        """Keep house until told to stop; after a failure nobody foresaw, begin again."""
        stop, settings = self._stop_maintenance, self._client.settings
        while not stop.is_set():
            try:
                await Maintenance(self._client.pool, self._identity, settings).run(stop)
            except Exception:
                log.exception("maintenance failed unexpectedly; it begins again in %g s", RESTART_S)
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(RESTART_S):
                        await stop.wait()


Running.node_factory = Node
