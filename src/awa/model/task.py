"""Tasks: which function handles a kind of job, and what its arguments are.

A client collects them by its `task` decorator; a worker reads them. Both know this room only, so
neither needs the other.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Generic, TypeAlias, TypeVar

from awa.model.concurrency import Concurrency, KeyOf, concurrency
from awa.model.errors import Conflict, UnknownJobKind, invalid_field
from awa.model.job import Job
from awa.model.limits import check_kind, check_queue
from awa.model.outcome import Outcome
from awa.model.payload import check_args_type, decoder, kind_of
from awa.model.unique import UniqueOpts, check_unique_opts

A = TypeVar("A")

# What a task wants to happen when one of its jobs has ended: arguments of a job, Drafts of them, or nothing.
FollowUps: TypeAlias = Callable[[Job[A]], object]

# An async handler runs on the event loop, a plain one in a thread.
Handler: TypeAlias = Callable[[Job[A]], Awaitable[Outcome | None] | Outcome | None]


@dataclass(frozen=True, slots=True)
class Task(Generic[A]):
    """One kind of job with its handler. `queue` is where its jobs go and `unique_opts` how they are unique unless an insert says else."""

    kind: str
    args_type: type[A]
    handler: Handler[A]
    queue: str | None
    is_async: bool
    decode: Callable[[bytes | str], A]
    on_completed: FollowUps[A] | None = None
    on_failed: FollowUps[A] | None = None
    unique_opts: dict[str, Any] | None = None
    concurrency: Concurrency | None = None


class Tasks:
    """The tasks of one client, by kind and by type of arguments."""

    __slots__ = ("_by_kind", "_by_type")

    def __init__(self) -> None:
        self._by_kind: dict[str, Task[Any]] = {}
        self._by_type: dict[type[Any], Task[Any]] = {}

    def add(
        self,
        args_type: type[A],
        handler: Handler[A],
        *,
        kind: str | None,
        queue: str | None,
        on_completed: FollowUps[A] | None = None,
        on_failed: FollowUps[A] | None = None,
        unique_opts: UniqueOpts | None = None,
        concurrency_key: KeyOf | None = None,
        concurrency_limit: int | None = None,
    ) -> Task[A]:
        """Register a handler. A second handler for one kind is refused with Conflict."""
        check_args_type(args_type)
        kind = kind_of(args_type) if kind is None else check_kind(kind)
        if kind in self._by_kind:
            other = getattr(self._by_kind[kind].handler, "__qualname__", "another handler")
            raise Conflict(
                f"kind {kind!r} has a handler already: {other}",
                hint='give one of the two another kind: task(…, kind="…")',
            )
        task = Task(
            kind=kind,
            args_type=args_type,
            handler=handler,
            queue=None if queue is None else check_queue(queue),
            is_async=_is_async(handler),
            decode=decoder(args_type),
            on_completed=_callable(on_completed, "on_completed"),
            on_failed=_callable(on_failed, "on_failed"),
            unique_opts=None if unique_opts is None else check_unique_opts(unique_opts),
            concurrency=concurrency(concurrency_key, concurrency_limit),
        )
        self._by_kind[kind] = task
        if args_type is not dict:
            self._by_type.setdefault(args_type, task)
        return task

    def get(self, kind: str) -> Task[Any] | None:
        """The task of a kind, or None."""
        return self._by_kind.get(kind)

    def need(self, kind: str) -> Task[Any]:
        """The task of a kind. Raises UnknownJobKind with the nearest kind that has a handler."""
        task = self._by_kind.get(kind)
        if task is None:
            close = get_close_matches(kind, self._by_kind, n=1)
            advice = f"did you mean {close[0]!r}?" if close else "register it with client.task(…)"
            raise UnknownJobKind(f"no handler is registered for kind {kind!r}", hint=advice)
        return task

    def of_type(self, args_type: type[Any]) -> Task[Any] | None:
        """The first task that was registered for this type of arguments, or None."""
        return self._by_type.get(args_type)

    def __iter__(self) -> Iterator[Task[Any]]:
        return iter(self._by_kind.values())

    def __len__(self) -> int:
        return len(self._by_kind)


def _callable(ask: Any, field: str) -> Any:
    if ask is None:
        return None
    if not callable(ask) or inspect.iscoroutinefunction(ask):
        raise invalid_field(field, f"expected a plain function of the job, got {ask!r}")
    return ask


def _is_async(handler: Callable[..., Any]) -> bool:
    call = getattr(handler, "__call__", None)  # noqa: B004 - an object whose __call__ is async
    return inspect.iscoroutinefunction(handler) or inspect.iscoroutinefunction(call)
