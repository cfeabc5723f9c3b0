"""A stage for interleavings: sessions that do exactly what the script says, in exactly that order.

    async with mover.stopped_at("change.after_locks", mover.move([job], "other")) as move:
        assert await claimer.claim_ids() == []
    assert move.result() == {job: "moved"}

`stopped_at` starts a deed and comes back when the session stands at a pause point of the engine; leaving the block lets
it go on to its end. `blocked` does the same for a session that waits for a lock of somebody in the script. Both look at
pg_locks until it is so, and fail as soon as the deed ends without having stopped. Nothing waits for time to pass.

A statement that must be stopped between its snapshot and its first row lock has no pause point in the product: the
script asks for one (`open_inner_point`), which rewrites that function in the test's own database, and only there. In the
same way a mutation takes a guard out (see mutations.py).
"""

import asyncio
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from typing import Any, NamedTuple, Self, TypeVar
from uuid import UUID

import pytest
from psycopg import AsyncConnection

from awa.sql import catalog
from tests.storage.world import Connection, World

T = TypeVar("T")
Deed = Coroutine[Any, Any, T]

STANDS_LIMIT_S = 60.0
POINT = "SELECT pg_advisory_lock(4714, hashtext(%s))"
FREE_POINT = "SELECT pg_advisory_unlock(4714, hashtext(%s))"
STANDS_AT_POINT = """
    SELECT EXISTS (SELECT FROM pg_locks
                    WHERE pid = %s AND NOT granted AND locktype = 'advisory' AND classid = 4714
                      AND objid::bigint = hashtext(%s)::bigint & 4294967295)
"""
WAITS_FOR_SOMEBODY = "SELECT cardinality(pg_blocking_pids(%s)) > 0"


class Rewrite(NamedTuple):
    """A text of a function's file, or of a statement's (then with its room), and what stands there instead."""

    file: str
    old: str
    new: str


# Pause points inside of statements. An uncorrelated sub-select runs once, after the statement's snapshot and before its
# first row; it adds 0 to a key.
PAUSE = "(SELECT length(awa.pause_point('{}')::text))"
INNER_POINTS = {
    "claim.in_window": Rewrite(
        "200_claim_lane",
        "r.lane_seq >= cursor_ AND r.lane_seq < window_end\n                   AND",
        f"r.lane_seq >= cursor_ + {PAUSE.format('claim.in_window')} AND r.lane_seq < window_end\n"
        "                   AND",
    ),
    "claim.in_due": Rewrite(
        "190_claim_steps",
        "r.lane_seq >= lower(g) AND r.lane_seq < upper(g)\n"
        "                   AND (r.lane_seq < p_trusted",
        f"r.lane_seq >= lower(g) + {PAUSE.format('claim.in_due')} AND r.lane_seq < upper(g)\n"
        "                   AND (r.lane_seq < p_trusted",
    ),
    "change.in_locks": Rewrite(
        "400_lock_waiting",
        "WHERE e.job_id = u.id) n",
        f"WHERE e.job_id = u.id + {PAUSE.format('change.in_locks')}) n",
    ),
}


class Stage:
    """The sessions of one script on one database, and the director's own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._exits = AsyncExitStack()
        self._texts = dict(catalog.definitions())
        self._statements: dict[str, str] = {}
        self._director: Connection

    async def __aenter__(self) -> Self:
        self._director = await self.connect()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._exits.aclose()

    async def connect(self) -> Connection:
        """A session of its own, in autocommit mode."""
        conn = await AsyncConnection.connect(self.url, autocommit=True)
        self._exits.push_async_callback(conn.close)
        return conn

    async def actor(self) -> "Actor":
        """A session with a runtime."""
        actor = await Actor.on(await self.connect())
        actor.stage = self
        return actor

    async def actors(self, count: int) -> list["Actor"]:
        """Several of them."""
        return [await self.actor() for _ in range(count)]

    async def audit(self) -> None:
        """Looks at the whole store, see `World.audit`."""
        await World(self._director, UUID(int=0)).audit()

    async def fetch(self, query: str, *params: Any) -> tuple[Any, ...]:
        """The one row of a query of the director's."""
        return await World(self._director, UUID(int=0)).fetch(query, *params)

    def until_end(self) -> AsyncExitStack:
        """A block in which sessions are stopped that go on at its end, after inner blocks have committed."""
        return AsyncExitStack()

    async def rewrite(self, rewrites: Sequence[Rewrite]) -> None:
        """Defines functions anew with other texts, in this database only, and lets statements say something else."""
        for file, old, new in rewrites:
            if "/" in file:
                self._restate(file, old, new)
                continue
            found = self._texts[file].count(old)
            assert found == 1, f"{file}.sql has the text {found} times, not once: {old}"
            self._texts[file] = self._texts[file].replace(old, new)
        for file in {rewrite.file for rewrite in rewrites} - self._statements.keys():
            await self._director.execute(self._texts[file].encode())

    def _restate(self, name: str, old: str, new: str) -> None:
        """As long as this stage stands, the program says another statement than the one in its file."""
        text = self._statements.get(name) or catalog.text(name)
        assert text.count(old) == 1, f"{name}.sql has the text {text.count(old)} times: {old}"
        if not self._statements:
            original = catalog.text
            patch = pytest.MonkeyPatch()
            self._exits.callback(patch.undo)
            patch.setattr(
                catalog, "text", lambda name: self._statements.get(name) or original(name)
            )
        self._statements[name] = text.replace(old, new)

    async def open_inner_point(self, place: str) -> None:
        """Adds a pause point inside of a statement."""
        await self.rewrite([INNER_POINTS[place]])

    async def hold(self, place: str) -> None:
        """Whoever looks out for this pause point stops there from now on."""
        await self._director.execute(POINT, [place])

    async def let_go(self, place: str) -> None:
        """Whoever stands there goes on."""
        await self._director.execute(FREE_POINT, [place])

    async def until_stopped(self, actor: "Actor", deed: asyncio.Task[T], place: str | None) -> None:
        """Comes back when the session stands at the place, or (None) behind somebody's lock."""
        question = STANDS_AT_POINT if place else WAITS_FOR_SOMEBODY
        params = [actor.pid, place] if place else [actor.pid]
        until_s = monotonic() + STANDS_LIMIT_S
        where = f"at {place}" if place else "behind somebody's lock"
        while True:
            cursor = await self._director.execute(question, params)
            found = await cursor.fetchone()
            if found and found[0]:
                return
            if deed.done():
                raise AssertionError(f"the session did not stop {where}: {deed.result()!r}")
            assert monotonic() < until_s, f"the session never came to stand {where}"


class Actor(World):
    """A session of the script: a World that can be made to stand still."""

    stage: Stage

    @property
    def pid(self) -> int:
        """The process of the session on the server."""
        return self.conn.info.backend_pid

    @asynccontextmanager
    async def stopped_at(self, place: str, deed: Deed[T]) -> AsyncIterator[asyncio.Task[T]]:
        """Starts the deed; inside of the block the session stands at the place, after it the deed is done."""
        await self.conn.execute("SELECT set_config('awa.pause_points', %s, false)", [place])
        await self.stage.hold(place)
        async with self._standing(deed, place) as task:
            try:
                yield task
            finally:
                await self.stage.let_go(place)

    @asynccontextmanager
    async def blocked(self, deed: Deed[T]) -> AsyncIterator[asyncio.Task[T]]:
        """Starts the deed; the block begins when it waits for somebody's lock, and must make that lock go."""
        async with self._standing(deed, None) as task:
            yield task

    @asynccontextmanager
    async def _standing(self, deed: Deed[T], place: str | None) -> AsyncIterator[asyncio.Task[T]]:
        task = asyncio.create_task(deed)
        try:
            await self.stage.until_stopped(self, task, place)
            yield task
        except BaseException:
            await self._give_up(task)
            raise
        await task

    async def _give_up(self, task: asyncio.Task[T]) -> None:
        """After a failure: nobody may stay behind a lock when the stage is struck."""
        if not task.done():
            self.conn.cancel()
        await asyncio.gather(task, return_exceptions=True)
