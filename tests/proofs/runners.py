"""A leader's runner on a stage: it carries operations out, and can be made to stand still in the middle of a chunk."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any
from urllib.parse import quote
from uuid import UUID

from awa.config import Settings
from awa.operations import fence
from awa.operations.runner import Runner
from awa.operations.submit import submit
from tests.operations.kit import Row, add_jobs, check_sums, lead, pool_of, run_to_end
from tests.proofs.stage import STANDS_LIMIT_S, Stage
from tests.storage.world import Connection

IN_A_CHUNK = "change.after_locks"
STANDING = """
    SELECT max(pid) FROM pg_locks
     WHERE NOT granted AND locktype = 'advisory' AND classid = 4714 AND objid::bigint = hashtext(%s)::bigint & 4294967295
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""
BLOCKED = """
    SELECT max(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0
"""


class Leader:
    """Whoever holds the lease, one operation of its, and a session beside it that looks and steers."""

    def __init__(self, stage: Stage, conn: Connection, runner: Runner) -> None:
        self._stage = stage
        self.conn = conn
        self.runner = runner

    async def begun(self, *, jobs: int = 150, state: str = "running", **more: Any) -> Row:
        """An operation that was brought into a state; a running one has not changed anything yet."""
        await add_jobs(self.conn, jobs)
        asked = ({"kind": "work"}, {"priority": 1})
        operation = await submit(self.conn, "set_priority", *asked, **more)
        while operation["state"] != state:
            assert await self.runner.step()
            operation = await self.sums(operation)
        return operation

    async def sums(self, operation: Row) -> Row:
        """The operation as it stands, after a look at its books."""
        return await check_sums(self.conn, UUID(str(operation["id"])))

    async def to_end(self) -> None:
        """Steps until there is nothing to do."""
        await run_to_end(self.runner)

    @asynccontextmanager
    async def in_a_chunk(self) -> AsyncIterator[int]:
        """A step that stands in the middle of its chunk, as long as the block lasts; gives the session's process."""
        await self._stage.hold(IN_A_CHUNK)
        async with self._standing(STANDING, IN_A_CHUNK) as pid:
            try:
                yield pid
            finally:
                await self._stage.let_go(IN_A_CHUNK)

    @asynccontextmanager
    async def blocked(self) -> AsyncIterator[int]:
        """A step that waits behind somebody's lock, which the block must make go."""
        async with self._standing(BLOCKED) as pid:
            yield pid

    @asynccontextmanager
    async def _standing(self, question: str, *params: str) -> AsyncIterator[int]:
        step = asyncio.create_task(self.runner.step())
        try:
            yield await self._until(question, params, step)
        except BaseException:
            step.cancel()
            await asyncio.gather(step, return_exceptions=True)
            raise
        self.last = await asyncio.gather(step, return_exceptions=True)

    async def _until(
        self, question: str, params: tuple[str, ...], step: "asyncio.Task[bool]"
    ) -> int:
        until_s = monotonic() + STANDS_LIMIT_S
        while True:
            (pid,) = await self._stage.fetch(question, *params)
            if pid is not None:
                return int(pid)
            assert not step.done(), f"the step did not stop: {step.result()!r}"
            assert monotonic() < until_s, "the step never came to stand"


@asynccontextmanager
async def leading(stage: Stage) -> AsyncIterator[Leader]:
    """A new leader; who was it before has lost the lease."""
    separator = "&" if "?" in stage.url else "?"
    settings = quote(f"-c awa.pause_points={IN_A_CHUNK}")
    async with pool_of(f"{stage.url}{separator}options={settings}") as pool:
        conn = await stage.connect()
        waits_ms = fence.LOCK_WAIT_MAX_MS
        # A step that has to wait in a script waits as long as the script takes.
        fence.LOCK_WAIT_MAX_MS = fence.STATEMENT_MAX_MS  # type: ignore[misc]
        try:
            yield Leader(stage, conn, Runner(pool, await lead(conn), Settings()))
        finally:
            fence.LOCK_WAIT_MAX_MS = waits_ms  # type: ignore[misc]
