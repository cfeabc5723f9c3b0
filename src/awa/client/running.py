"""Starting and stopping the work of this client.

The client doesn't know the worker: what runs is plugged in from above (see `awa.node`), so that programs
which only insert or look after jobs stand on nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Protocol

from awa.client.base import Base
from awa.model.errors import Conflict, invalid_field
from awa.model.hook import Event, H, check_event


class Node(Protocol):
    """What `start` starts."""

    async def start(self) -> None: ...

    async def shutdown(self, timeout_s: float) -> int: ...


class Running(Base):
    """The client's chapter on running jobs."""

    node_factory: ClassVar[
        Callable[[Running, Iterable[Any], frozenset[str] | None, int | None], Node] | None
    ] = None
    _node: Node | None = None

    def on(self, event: Event | str) -> Callable[[H], H]:
        """A decorator, `@client.on("failed")`: the function is called when an attempt of this program has started, or ended so.

        Events are started, completed, retried, failed, cancelled, snoozed, waiting and returned. A hook gets an `awa.JobEvent` once
        the end is committed; it may be async, and a plain one runs in a thread. What it raises is logged. Raises ValidationError,
        and Conflict if the client has been started.
        """
        known = check_event(event)
        if self._node is not None:
            raise Conflict("hooks are registered before the client is started")

        def register(hook: H) -> H:
            if not callable(hook):
                raise invalid_field("hook", f"expected a function, got {hook!r}")
            self.hooks[known].append(hook)
            return hook

        return register

    async def start(
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
        if self._node is not None:
            raise Conflict("this client has been started already", hint="shut it down first")
        if Running.node_factory is None:
            raise Conflict("nothing that runs jobs is plugged in", hint="import awa")
        wanted = None if roles is None else _roles(roles)
        node = Running.node_factory(self, list(queues), wanted, max_workers)
        await self.open()
        self._node = node
        try:
            await node.start()
        except BaseException:
            self._node = None
            raise

    async def shutdown(self, timeout: float | None = None) -> int:  # noqa: ASYNC109
        """Stop working: claim no more, give handlers `timeout` seconds (default 30), hand back the rest.

        Answers how many attempts were handed back; they don't count. Does nothing when not started.
        """
        node, self._node = self._node, None
        if node is None:
            return 0
        return await node.shutdown(self.settings.shutdown_timeout_s if timeout is None else timeout)

    async def close(self) -> None:
        """Shut down what runs, then close the pool."""
        await self.shutdown()
        await super().close()


def _roles(roles: Iterable[str]) -> frozenset[str]:
    known = {"worker", "maintenance"}
    given = {roles} if isinstance(roles, str) else set(roles)
    if not given or given - known:
        raise invalid_field("roles", f"expected some of maintenance, worker, got {sorted(given)}")
    return frozenset(given)
