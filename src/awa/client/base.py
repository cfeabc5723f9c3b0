"""What every chapter of the client stands on: the pool, opened at first use, the tasks, the settings."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

import psycopg
from psycopg_pool import AsyncConnectionPool

from awa.config import Settings
from awa.db import migrate as migrations
from awa.db.beside import connect_like
from awa.db.failures import mapped_errors
from awa.db.listener import Connect
from awa.db.pool import Pool, connect, connection, make_pool
from awa.model.concurrency import KeyOf
from awa.model.cron import APP_DEFAULT, Schedule
from awa.model.errors import ValidationError, invalid_field
from awa.model.hook import Event, Hook
from awa.model.limits import check_queue
from awa.model.task import FollowUps, Handler, Tasks
from awa.model.unique import UniqueOpts
from awa.sql.catalog import Storage

A = TypeVar("A")


class Base:
    """The pool, the tasks and the settings of one client."""

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
        self.settings = Settings.from_env() if settings is None else settings
        self.tasks = Tasks()
        self.app = check_queue(app, field="app")
        self.schedules: dict[str, Schedule] = {}
        self.hooks: dict[Event, list[Hook]] = defaultdict(list)
        self._own_pool = not isinstance(database, AsyncConnectionPool)
        self._opened = not self._own_pool
        self._opening = asyncio.Lock()
        self._closed = False
        self._listen = listen
        if isinstance(database, AsyncConnectionPool):
            self.pool: Pool = database
            self._url = None
            self._listen_url = listen_url
            return
        self._url = database or self.settings.database_url
        if not isinstance(self._url, str):
            raise ValidationError(
                "no database to talk to",
                hint='give a URL, AsyncClient("postgresql://…"), or set AWA_DATABASE_URL',
            )
        self._listen_url = listen_url or self._url
        self.pool = make_pool(
            self._url,
            max_size=pool_max_size or self.settings.pool_max_size,
            timeout_s=self.settings.pool_timeout_s,
            prepare=prepare,
        )

    async def open(self) -> None:
        """Connect now and not at the first call. Raises DatabaseError with the server's own reason."""
        async with self._opening:
            if self._closed:
                raise invalid_field("client", "is closed", hint="make a new one")
            if self._opened:
                return
            assert self._url is not None
            # The pool's own failure would be a time-out that says nothing about a wrong password.
            async with await connect(self._url):
                pass
            # Waits for its first connection: one that is just being made would outlive a cancelled loop.
            with mapped_errors():
                await self.pool.open(wait=True, timeout=self.settings.pool_timeout_s)
            self._opened = True

    async def close(self) -> None:
        """Close the pool, if it's the client's own. A running worker has to be shut down before."""
        self._closed = True
        if self._own_pool and self._opened:
            self._opened = False
            await self.pool.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def migrate(self, *, storage: Storage | None = None) -> list[str]:
        """Bring the schema to this version; answers the names of what was applied, [] when nothing was.

        `storage` chooses what a new schema keeps its jobs in: "lanes" (as None) or "canonical". Raises ValidationError if the
        schema is there with the other.
        """
        async with self.connection() as conn:
            return await migrations.migrate(conn, storage)

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

        def register(handler: Handler[A]) -> Handler[A]:
            self.tasks.add(
                args,
                handler,
                kind=kind,
                queue=queue,
                on_completed=on_completed,
                on_failed=on_failed,
                unique_opts=unique_opts,
                concurrency_key=concurrency_key,
                concurrency_limit=concurrency_limit,
            )
            return handler

        return register

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        """A connection of the pool in autocommit mode; its failures are AwaErrors."""
        if not self._opened:
            await self.open()
        async with connection(self.pool) as conn:
            yield conn

    @asynccontextmanager
    async def _in_transaction(self) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
        async with self.connection() as conn, conn.transaction():
            yield conn

    @property
    def connect_listener(self) -> Connect | None:
        """Opens the wake-up connection, beside the pool; None if this client only polls."""
        return self._connect_listener if self._listen else None

    async def _connect_listener(self) -> psycopg.AsyncConnection[Any]:
        if self._listen_url is not None:
            return await connect(self._listen_url, application_name="awa listener")
        return await connect_like(self.pool)
