"""What all parts of the blocking client share. Written by `python -m awa.sync.generate`; change `awa.client` instead."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from awa.client import AsyncClient
from awa.config import Settings
from awa.db.pool import Pool
from awa.model.concurrency import KeyOf
from awa.model.cron import APP_DEFAULT
from awa.model.task import FollowUps, Handler
from awa.model.unique import UniqueOpts
from awa.sql.catalog import Storage
from awa.sync.portal import Portal

A = TypeVar("A")


class Base:
    """The async client and the thread in which it runs."""

    def __init__(
        self,
        database: str | Pool | None = None,
        *,
        settings: Settings | None = None,
        pool_max_size: int | None = None,
        listen_url: str | None = None,
        listen: bool = True,
        prepare: bool = False,
        app: str = APP_DEFAULT,
    ) -> None:
        """`database` is a URL, or a pool of autocommit connections that the caller opens and closes.

        Without it the URL comes from AWA_DATABASE_URL or DATABASE_URL. Nothing is connected before the
        first call. `listen_url` is for the wake-up connection when the other URL leads through a pooler;
        with `listen=False` the worker polls only. `prepare` lets the driver prepare statements: faster,
        but not for a pooler in transaction mode. `app` names the program whose schedules these are, see
        `periodic`. Raises ValidationError on a bad URL or setting.
        """
        self.aio = AsyncClient(
            database,
            settings=settings,
            pool_max_size=pool_max_size,
            listen_url=listen_url,
            listen=listen,
            prepare=prepare,
            app=app,
        )
        self._portal = Portal()

    def close(self) -> None:
        """Shut down what runs, then close the pool and the thread."""
        try:
            self._portal.run(self.aio.close())
        finally:
            self._portal.close()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> None:
        """Connect now and not at the first call. Raises DatabaseError with the server's own reason."""
        return self._portal.run(self.aio.open())

    def migrate(self, *, storage: Storage | None = None) -> list[str]:
        """Bring the schema to this version; answers the names of what was applied, [] when nothing was.

        `storage` chooses what a new schema keeps its jobs in: "lanes" (as None) or "canonical". Raises ValidationError if the
        schema is there with the other.
        """
        return self._portal.run(self.aio.migrate(storage=storage))

    def task(
        self,
        args: type[A],
        *,
        kind: str | None = None,
        queue: str | None = None,
        on_completed: FollowUps[A] | None = None,
        on_failed: FollowUps[A] | None = None,
        unique_opts: UniqueOpts | None = None,
        concurrency_key: KeyOf | None = None,
        concurrency_limit: int | None = None,
    ) -> Callable[[Handler[A]], Handler[A]]:
        """A decorator that registers the handler of a kind of job.

        `args` is a dataclass, a pydantic model, a TypedDict or dict. The kind comes from its name
        (`SendEmail` gives `send_email`) or from `kind`. Jobs go to `queue` unless an insert says else.
        An `async def` handler runs on the event loop, a plain one in a thread. `on_completed` and `on_failed`
        are given the job when it has ended so, for good, and answer what is to follow: the arguments of a job, an
        `awa.FollowUp` with options, a list of them, or None. Those jobs are inserted in the transaction that ends it.
        Jobs are unique as `unique_opts` says, unless an insert says else.
        Of the jobs with one `concurrency_key` at most `concurrency_limit` (1) run at once; it is a template for the
        arguments, such as "tenant-{tenant}", or a function of them.
        """
        return self.aio.task(
            args,
            kind=kind,
            queue=queue,
            on_completed=on_completed,
            on_failed=on_failed,
            unique_opts=unique_opts,
            concurrency_key=concurrency_key,
            concurrency_limit=concurrency_limit,
        )
