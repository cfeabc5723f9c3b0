"""The machine that does at random what users, workers, operators and the leader do, and audits after each step.

Six sessions take turns: a slow and a quick producer, worker and mover. The slow ones may keep transactions open while
the others go on. Everything runs one step at a time, so the model knows exactly what each step must answer: which jobs a claim serves, which a move
finds, what a late finisher is told.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Coroutine
from itertools import count
from typing import Any, TypeVar
from uuid import UUID

import hypothesis.strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant
from psycopg import AsyncConnection

from awa.storage import runtimes
from tests.conftest import STORAGE
from tests.proofs.model.keys import Keys
from tests.proofs.model.reference import PLACES, QUEUES, Job, Reference, Session
from tests.storage.world import World

T = TypeVar("T")

# Deleting is quicker than a new database, and keeps the plans of the sessions.
TABLES = [
    "ready_entries",
    *(["ready_tombstones", "lane_claims", "attempt_closures"] if STORAGE == "lanes" else []),
    "attempts",
    "deferred_jobs",
    "callbacks",
    "concurrency_admissions",
    "finished_jobs",
    "unique_keys",
    "runtimes",
    "lanes",
    "queue_meta",
]
RESET = "; ".join(
    [
        *(f"DELETE FROM awa.{table}" for table in TABLES),
        "UPDATE awa.ring SET current_slot = 0, opened_at = clock_timestamp()",
        *(
            ["UPDATE awa.ring_slots SET retired_txid = NULL, seen_at = NULL, counted = NULL"]
            if STORAGE == "lanes"
            else []
        ),
        "SELECT setval('awa.job_positions', 1, false), setval('awa.lanes_lane_id_seq', 1, false)",
    ]
)
NAMES = ("producer 1", "producer 2", "worker 1", "worker 2", "mover 1", "mover 2")
NEVER_HANG = "-c statement_timeout=120000"
# Who has a place of a key waits in a lane or runs, and has no other place; no place is beyond the key's limit.
PLACES_WRONG = """
    SELECT coalesce(array_agg(DISTINCT a.job_id), '{}')
      FROM awa.concurrency_admissions a
      LEFT JOIN awa.jobs j ON j.id = a.job_id
     WHERE j.state IS NULL OR j.state NOT IN ('available', 'running') OR a.place > (%s::jsonb ->> a.key)::int
        OR EXISTS (SELECT FROM awa.deferred_jobs d WHERE d.job_id = a.job_id)
        OR EXISTS (SELECT FROM awa.concurrency_admissions b WHERE b.job_id = a.job_id AND b.place <> a.place)
"""
# Who waits in a lane or runs, and has a key, has a place of it.
PLACES_MISSING = """
    SELECT coalesce(array_agg(j.id), '{}')
      FROM awa.jobs j
     CROSS JOIN LATERAL (SELECT r.concurrency_key AS key FROM awa.ready_entries r
                          WHERE r.job_id = j.id ORDER BY r.lane_seq DESC LIMIT 1) k
     WHERE j.state IN ('available', 'running') AND k.key IS NOT NULL
       AND NOT EXISTS (SELECT FROM awa.deferred_jobs d WHERE d.job_id = j.id)
       AND NOT EXISTS (SELECT FROM awa.concurrency_admissions a WHERE a.key = k.key AND a.job_id = j.id)
"""
COUNTING = """
    SELECT count(*) FROM pg_locks l
     WHERE l.locktype = 'advisory' AND l.classid = 4717 AND l.granted AND l.objid::bigint = hashtext(%s)::bigint & 4294967295
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND l.pid <> %s
"""
HELD_LANES = """
    SELECT l.objid::int, a.pid FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE l.locktype = 'advisory' AND l.classid = 4712 AND l.granted
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


class Troupe:
    """The sessions of all examples: opening them anew each time would cost more than what they do."""

    def __init__(self, url: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.conns = self.loop.run_until_complete(self._connect(url))

    async def _connect(self, url: str) -> list[AsyncConnection[Any]]:
        return [
            await AsyncConnection.connect(url, autocommit=True, options=NEVER_HANG)
            for _ in range(1 + len(NAMES))
        ]

    def leave(self) -> None:
        """Everybody goes home."""
        for conn in self.conns:
            self.loop.run_until_complete(conn.close())
        self.loop.close()


class Machine(RuleBasedStateMachine):
    """Sessions, the model, and the audit. The rules are in the classes above this one."""

    def __init__(self, troupe: Troupe) -> None:
        super().__init__()
        self.troupe = troupe
        self.model = Reference()
        self.is_sound = False

    def run(self, deed: Coroutine[Any, Any, T]) -> T:
        """Does a deed of the asynchronous world."""
        self.is_sound = False
        return self.troupe.loop.run_until_complete(deed)

    @initialize(jobs=st.integers(2, 8))
    def open_the_stage(self, jobs: int) -> None:
        """An empty store with one lane, in which a few jobs wait."""
        self.run(self._open(jobs))

    async def _open(self, jobs: int) -> None:
        admin, *conns = self.troupe.conns
        await admin.execute(RESET)
        for conn in self.troupe.conns:
            await conn.execute("SELECT setseed(0)")
        self._runtimes = count(1)
        self.house = await self._world_on(admin)
        self.sessions = {
            name: Session(name, await self._world_on(conn))
            for name, conn in zip(NAMES, conns, strict=True)
        }
        self.keys = Keys(self.sessions.values())
        self.producers, self.workers, self.movers = (
            [session for session in self.sessions.values() if session.name.startswith(role)]
            for role in ("producer", "worker", "mover")
        )
        for id_ in await self.house.enqueue(jobs, queue=QUEUES[0], max_attempts=3):
            self.model.add(id_, Job(QUEUES[0], 2, "available", 3))

    async def _world_on(self, conn: AsyncConnection[Any]) -> World:
        """A session under a runtime whose id is the same whenever the example is run."""
        world = World(conn, UUID(int=next(self._runtimes)))
        await runtimes.register(conn, world.runtime_id, ["worker"], {})
        return world

    def teardown(self) -> None:
        """Whatever the example left open is closed; nothing that waits may be left unserved."""
        sound = self.is_sound
        if hasattr(self, "house"):
            self.run(self._close(sound=sound))

    async def _close(self, *, sound: bool) -> None:
        for session in self.sessions.values():
            await self.conclude(session, commit=sound)
        if sound:
            await self._drain()

    async def _drain(self) -> None:
        """A lost job is one that the views show and no claim serves."""
        self.check(await self.house.audit())
        served: list[int] = []
        queues = {job.queue for job in self.model.jobs.values()} - self.model.paused
        for queue in self.model.most:
            await self.house.limit(queue, max_running=None)
        # Those of paused queues, and what runs, keep their places.
        await self.house.cancel_running(self.model.running())
        for queue in self.model.paused:
            await self.house.cancel(
                id_ for id_ in self.model.having("available") if self.model.jobs[id_].queue == queue
            )
        while await self._serve_once(queues, served):
            pass
        waiting = [
            id_ for id_ in self.model.having("available") if self.model.jobs[id_].queue in queues
        ]
        assert sorted(served) == sorted(waiting)

    async def _serve_once(self, queues: set[str], served: list[int]) -> bool:
        """A look into each queue, and at the keys: what ends makes room for others, in whatever queue."""
        found = await self.house.admit() > 0
        for queue in queues:
            while batch := await self.house.claim(limit=50, queue=queue):
                served += [job.job_id for job in batch]
                keys = Counter(self.model.jobs[job.job_id].key for job in batch)
                assert all(keys[key] <= places for key, places in PLACES.items())
                await self.house.finish(batch)
                found = True
        return found

    @invariant()
    def every_job_is_in_its_one_place(self) -> None:
        """And the views say so."""
        if hasattr(self, "house"):
            self.check(self.run(self.house.audit()))
            self.run(self._check_places())
            self.run(self.look_at_keys())
            self.is_sound = True

    async def _check_places(self) -> None:
        limits = json.dumps(PLACES)
        assert await self.house.fetch(PLACES_WRONG, limits) == ([],)
        assert await self.house.fetch(PLACES_MISSING) == ([],)
        for key, running in self.model.running_of_keys().items():
            assert running <= PLACES[key], f"{running} jobs of the key {key} run"

    async def counts_elsewhere(self, session: Session, queue: str) -> bool:
        """Whether an open claim of somebody else holds the queue's lock."""
        own = session.world.conn.info.backend_pid
        (locks,) = await self.house.fetch(COUNTING, queue, own)
        return bool(locks)

    async def look_at_keys(self) -> None:
        """What the rules of keys look at."""

    def check(self, found: dict[int, Any]) -> None:
        """The views against the model."""
        expected = self.model.places()
        wrong = {
            id_: (found.get(id_), expected.get(id_))
            for id_ in found.keys() | expected.keys()
            if found.get(id_) != expected.get(id_)
        }
        assert not wrong, f"found, expected: {wrong}"

    async def begin(self, session: Session) -> None:
        """The session keeps a transaction open from now on."""
        if not session.is_open:
            await session.world.conn.execute("BEGIN")
            session.is_open = True

    async def conclude(self, session: Session, *, commit: bool) -> None:
        """The session's transaction ends, and with a commit has its say."""
        if not session.is_open:
            return
        await session.world.conn.execute("COMMIT" if commit else "ROLLBACK")
        effects = session.effects
        self.keys.settle(session, commit=commit)
        session.holds, session.effects = set(), []
        session.pending, session.attempts = [], []
        if commit:
            for effect in effects:
                effect()

    def held_by_others(self, session: Session | None = None) -> set[int]:
        """Jobs whose rows open transactions of others hold."""
        others = (other for other in self.sessions.values() if other is not session)
        return {job_id for other in others for job_id in other.holds}

    def pick(self, picks: list[int]) -> list[int]:
        """Some of the jobs that there are."""
        known = sorted(self.model.jobs, reverse=True)
        return sorted({known[pick % len(known)] for pick in picks}) if known else []

    async def lanes_of_others(self, session: Session) -> set[int]:
        """Lanes that open claims of others hold."""
        cursor = await self.house.conn.execute(HELD_LANES)
        own = session.world.conn.info.backend_pid
        return {lane for lane, pid in await cursor.fetchall() if pid != own}

    async def new_runtime(self, session: Session) -> None:
        """The session's program starts again under a new id."""
        session.world.runtime_id = UUID(int=next(self._runtimes))
        await runtimes.register(self.house.conn, session.world.runtime_id, ["worker"], {})
