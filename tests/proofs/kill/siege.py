"""A siege: workers and leaders are killed again and again while jobs run and batch operations change them.

Producers go on, operators submit and cancel, and whoever is killed is replaced. Leaders are killed in the states that an
operation can be in, one after another; workers when they have begun something. The books are checked on the way.
"""

import asyncio
import random
from collections import Counter
from collections.abc import Collection
from itertools import cycle
from time import monotonic
from typing import Any, NamedTuple
from uuid import UUID

import pytest

from awa.model.errors import Conflict
from awa.operations import control
from awa.operations.submit import submit
from awa.operations.undo import undo
from awa.storage.change import retry_jobs
from awa.storage.enqueue import NewJob, enqueue_many
from tests.proofs.kill.books import EFFECTS, Connection, check_end, check_sums
from tests.proofs.kill.company import Company

WORKERS, LEADERS = 3, 2
PARKED_JOBS = 600
WAVE_JOBS = 50
BACKLOG_JOBS = 100
OPERATIONS_AT_ONCE = 3
MOMENT_S = 0.02
PATIENCE_LOOKS = 50
RESUMES = 0.1
UNDOES = 0.3
CHECK_EVERY_KILLS = 10
STALLED_S = 120.0
LOOK = """
    SELECT (SELECT coalesce(json_object_agg(r.pid, r.id), '{}') FROM awa.runtimes r WHERE r.state = 'alive'),
           (SELECT json_build_array(l.holder, r.pid) FROM awa.leases l JOIN awa.runtimes r ON r.id = l.holder
             WHERE l.name = 'maintenance' AND l.expires_at > clock_timestamp()),
           (SELECT coalesce(json_object_agg(o.id, o.state), '{}') FROM awa.batch_operations o
             WHERE o.state NOT IN ('completed', 'cancelled', 'failed')),
           (SELECT count(*) FROM effects),
           (SELECT count(*) FROM awa.waiting_jobs w WHERE w.queue IN ('default', 'other'))
"""
DEFERRED = "SELECT coalesce(array_agg(job_id), '{}') FROM awa.deferred_jobs"
ENDED = """
    SELECT coalesce(array_agg(id ORDER BY submitted_at, id), '{}') FROM awa.batch_operations
     WHERE state IN ('completed', 'cancelled', 'failed') AND processed > 0
"""
LEFT = """
    SELECT (SELECT count(*) FROM awa.jobs WHERE state NOT IN ('completed', 'failed', 'cancelled')),
           (SELECT count(*) FROM awa.batch_operations WHERE state NOT IN ('completed', 'cancelled', 'failed'))
"""
SESSIONS = """
    SELECT a.pid, a.state, a.wait_event_type, a.wait_event, pg_blocking_pids(a.pid) AS behind, now() - a.xact_start AS since,
           left(a.query, 120)
      FROM pg_stat_activity a WHERE a.datname = current_database() ORDER BY a.xact_start
"""
FREE_LEASE = "UPDATE awa.leases SET expires_at = '-infinity' WHERE holder = %s"
# All of available jobs, so that the books can tell a change by its tombstone.
OPERATIONS: tuple[tuple[str, dict[str, str], dict[str, Any]], ...] = (
    ("move_queue", {"queue": "parked a"}, {"queue": "parked b"}),
    ("move_queue", {"queue": "parked b"}, {"queue": "parked a", "priority": 1}),
    ("set_priority", {"queue": "parked a"}, {"priority": 3}),
    ("set_priority", {"queue": "default"}, {"priority": 1}),
    ("move_queue", {"queue": "default", "tag": "blue"}, {"queue": "other"}),
    ("move_queue", {"tag": "blue"}, {"queue": "parked b", "priority": 4}),
)


class Look(NamedTuple):
    """What was seen at one moment: runtimes by process, the leader, active operations by state, work done and to do."""

    runtimes: dict[int, UUID]
    leader: tuple[UUID, int] | None
    operations: dict[UUID, str]
    effects: int
    backlog: int


class Siege:
    """One siege and what it has done so far."""

    def __init__(self, conn: Connection, company: Company, seed: int) -> None:
        self._conn = conn
        self._company = company
        self._rng = random.Random(seed)
        self._enqueued: set[int] = set()
        self._states = cycle(["running", "pending", "scanning", "paused", "running", "cancelling"])
        self._wanted = next(self._states)
        self._leader_due = PATIENCE_LOOKS
        self._effects_due = 0
        self.kills: Counter[str] = Counter()

    async def run(self, *, workers: int, leaders: int, states: Collection[str] = ()) -> None:
        """Kills so many of each, a leader in each of the states, then lets everything end and closes the books."""
        await self._conn.execute(EFFECTS)
        await self._enqueue("parked a", PARKED_JOBS)
        for role, count in (("worker", WORKERS), ("leader", LEADERS)):
            for _ in range(count):
                self._company.start(role)
        last, since_s = self.kills.copy(), monotonic()
        while min(done := self._done(workers, leaders)) < 1.0 or not self.kills.keys() >= set(
            states
        ):
            look = await self._look()
            await self._keep_busy(look)
            # Side by side: neither has peace while the other is hunted.
            if done[0] <= done[1]:
                self._kill_a_worker(look)
            if done[1] <= done[0]:
                await self._kill_the_leader(look)
            if self.kills != last:
                last, since_s = self.kills.copy(), monotonic()
                if last.total() % CHECK_EVERY_KILLS == 0:
                    await check_sums(self._conn)
            if monotonic() > since_s + STALLED_S:
                pytest.fail(f"nobody to kill after {self.kills}: {look}\n{await self._sessions()}")
        await self._let_end()
        await check_end(self._conn, self._enqueued)

    def _done(self, workers: int, leaders: int) -> tuple[float, float]:
        """Which part of each hunt is over."""
        killed = self.kills["worker"]
        return killed / workers, (self.kills.total() - killed) / leaders

    async def _look(self) -> Look:
        # Not a wait for anything: it picks the moment.
        await asyncio.sleep(self._rng.random() * MOMENT_S)
        cursor = await self._conn.execute(LOOK)
        (row,) = await cursor.fetchall()
        alive, leader, operations, effects, backlog = row
        return Look(
            {int(pid): UUID(id_) for pid, id_ in alive.items()},
            (UUID(leader[0]), int(leader[1])) if leader else None,
            {UUID(id_): state for id_, state in operations.items()},
            effects,
            backlog,
        )

    async def _keep_busy(self, look: Look) -> None:
        """Jobs to run, operations under way, and failed attempts that don't wait for their backoff."""
        if look.backlog < BACKLOG_JOBS:
            await self._enqueue("default", WAVE_JOBS)
            await self._retry_at_once()
        if self._rng.random() < RESUMES:
            await self._resume_all(look)
        if len(look.operations) < OPERATIONS_AT_ONCE:
            await self._submit()

    async def _enqueue(self, queue: str, jobs: int) -> None:
        given = [
            NewJob("work", "{}", max_attempts=1_000, tags=self._rng.choice([["blue"], ["red"]]))
            for _ in range(jobs)
        ]
        self._enqueued |= {one.job_id for one in await enqueue_many(self._conn, queue, given)}

    async def _submit(self) -> UUID:
        """An operation, or the undo of one that has ended."""
        if self._rng.random() < UNDOES and (undone := await self._undo()) is not None:
            return undone
        kind, where, spec = self._rng.choice(OPERATIONS)
        operation = await submit(self._conn, kind, {**where, "state": "available"}, spec)
        return UUID(str(operation["id"]))

    async def _undo(self) -> UUID | None:
        cursor = await self._conn.execute(ENDED)
        ((ended,),) = await cursor.fetchall()
        if not ended:
            return None
        try:
            operation = await undo(self._conn, self._rng.choice(ended))
        except Conflict:  # it has been undone already
            return None
        return UUID(str(operation["id"]))

    def _kill_a_worker(self, look: Look) -> None:
        """One that has registered, after some more jobs were begun."""
        known = sorted(self._company.of("worker") & look.runtimes.keys())
        if known and look.effects >= self._effects_due:
            self._company.kill(self._rng.choice(known))
            self.kills["worker"] += 1
            self._effects_due = look.effects + self._rng.randrange(30)

    async def _kill_the_leader(self, look: Look) -> None:
        """The one that holds the lease, while an operation is in the wanted state or after some patience."""
        # Whatever its runtime's row says: on a busy machine another leader may have taken it for dead.
        if look.leader is None or look.leader[1] not in self._company.of("leader"):
            return
        holder, leading = look.leader
        self._leader_due -= 1
        seen = await self._bring_about(look)
        if not seen and self._leader_due > 0:
            return
        self._company.kill(leading)
        self.kills[seen or "leader"] += 1
        await self._conn.execute(FREE_LEASE, [holder])
        self._wanted, self._leader_due = next(self._states), PATIENCE_LOOKS

    async def _bring_about(self, look: Look) -> str | None:
        """The wanted state, if an operation is in it now; some of the states are an operator's to bring about."""
        under_way = [
            id_ for id_, state in look.operations.items() if state in ("scanning", "running")
        ]
        match self._wanted:
            case "pending":
                await self._submit()
                return "pending"
            case "cancelling" if under_way:
                return "cancelling" if await self._cancel(self._rng.choice(under_way)) else None
            case "paused" if under_way:
                return "paused" if await self._pause(self._rng.choice(under_way)) else None
            case wanted if wanted in look.operations.values() and self._rng.random() < 0.3:
                return wanted
        return None

    async def _cancel(self, operation_id: UUID) -> bool:
        try:
            operation = await control.cancel(self._conn, operation_id)
        except Conflict:  # it has just ended
            return False
        return bool(operation["state"] == "cancelling")

    async def _pause(self, operation_id: UUID) -> bool:
        try:
            await control.pause(self._conn, operation_id)
        except Conflict:  # it has just ended
            return False
        return True

    async def _resume_all(self, look: Look) -> None:
        """Those that are paused go on; the leader that died in between knew nothing of it."""
        for id_, state in look.operations.items():
            if state == "paused":
                await control.resume(self._conn, id_)

    async def _retry_at_once(self) -> None:
        """Rescued attempts would wait for minutes after a few deaths."""
        cursor = await self._conn.execute(DEFERRED)
        ((deferred,),) = await cursor.fetchall()
        await retry_jobs(self._conn, deferred)

    async def _left(self) -> tuple[int, int]:
        """Jobs that wait or run, active operations."""
        cursor = await self._conn.execute(LEFT)
        ((undone, active),) = await cursor.fetchall()
        return undone, active

    async def _let_end(self) -> None:
        """No more kills: operations end, parked jobs go to the workers, and everything is done."""
        await self._resume_all(await self._look())
        await self._until(lambda _, active: active == 0)
        for queue in ("parked a", "parked b"):
            everything = {"queue": queue, "state": "available"}
            await submit(self._conn, "move_queue", everything, {"queue": "default"})
        await self._until(lambda undone, active: active == undone == 0)

    async def _until(self, is_so: Any) -> None:
        """Looks until it is so; fails when nothing moves any more."""
        last, since_s = None, monotonic()
        while True:
            look = await self._look()
            await self._retry_at_once()
            undone, active = await self._left()
            if is_so(undone, active):
                return
            if last != (look.effects, undone, active):
                last, since_s = (look.effects, undone, active), monotonic()
            if monotonic() > since_s + STALLED_S:
                seen = f"{look}, {undone} jobs, {active} operations"
                pytest.fail(f"nothing moves: {seen}\n{await self._sessions()}")

    async def _sessions(self) -> str:
        """What everybody does, for whoever has to find out why nothing goes on."""
        cursor = await self._conn.execute(SESSIONS)
        return "\n".join(str(row) for row in await cursor.fetchall())
