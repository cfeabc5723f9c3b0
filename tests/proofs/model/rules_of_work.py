"""What producers and workers do: enqueue, claim, finish, beat."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import groupby
from typing import NamedTuple

import hypothesis.strategies as st
from hypothesis.stateful import rule

from awa.storage.claim import ClaimedJob
from awa.storage.finish import Ending, finish
from tests.proofs.model.keys import Moving
from tests.proofs.model.machine import Machine
from tests.proofs.model.reference import PLACES, QUEUES, Attempt, Job, Session
from tests.storage.world import World

# Mostly one lane: what meets there is what the engine is about.
queues = st.sampled_from([QUEUES[0]] * 5 + [QUEUES[1]])
priorities = st.sampled_from([2, 2, 2, 2, 1, 4])
numbers = st.integers(0, 1)
limits = st.sampled_from([1, 1, 2, 3, 50])
OUTCOMES = ("completed",) * 4 + ("retried", "failed", "cancelled", "snoozed", "returned")
WAITING = """
    SELECT id, lane_id, lane_seq, priority FROM awa.waiting_jobs
     WHERE queue = %s AND lane_id IS NOT NULL
"""
ADMITTED = "SELECT job_id FROM awa.concurrency_admissions"
AGED = "SELECT count(*) FROM awa.lanes WHERE effective_priority <> priority"


class Waits(NamedTuple):
    """Where a job waits."""

    lane_id: int
    lane_seq: int
    priority: int


class Work(Machine):
    """Rules of producers and workers."""

    @rule(
        number=numbers,
        jobs=st.integers(1, 4),
        queue=queues,
        priority=priorities,
        later=st.sampled_from([False, False, False, True]),
        max_attempts=st.integers(1, 3),
        key=st.sampled_from([None, None, "k1", "k2"]),
        places=st.sampled_from([None, None, None, *PLACES]),
        keep_open=st.booleans(),
    )
    def enqueue(
        self,
        *,
        number: int,
        jobs: int,
        queue: str,
        priority: int,
        later: bool,
        max_attempts: int,
        key: str | None,
        places: str | None,
        keep_open: bool,
    ) -> None:
        """Some equal jobs, at once or for later, perhaps in a business transaction that takes its time."""
        producer = self.producers[number]
        like = Job(queue, priority, "scheduled" if later else "available", max_attempts, key=places)
        if keep_open and producer is self.producers[0]:
            self.run(self.begin(producer))
        self.run(self._enqueue(producer, jobs, like, key))

    async def _enqueue(self, session: Session, jobs: int, like: Job, key: str | None) -> None:
        ids = await session.world.enqueue(
            jobs,
            queue=like.queue,
            priority=like.priority,
            max_attempts=like.max_attempts,
            ordering_key=key,
            run_at=await self.house.now(later_s=60) if like.state == "scheduled" else None,
            concurrency_key=like.key,
            concurrency_limit=PLACES.get(like.key or "", 1),
        )
        if session.is_open and like.key is not None:
            session.holds |= await self._let_in(session)
        for id_ in ids:
            self.now_or_at_commit(session, partial(self.model.add, id_, replace(like)))
        if session.is_open:
            session.pending += ids

    async def _let_in(self, session: Session) -> set[int]:
        """Jobs of others that the open transaction has let into their lanes ahead of its own."""
        seen = [
            await (await each.conn.execute(ADMITTED)).fetchall()
            for each in (session.world, self.house)
        ]
        own, committed = ({id_ for (id_,) in rows} for rows in seen)
        return (own - committed) & self.model.jobs.keys()

    def now_or_at_commit(self, session: Session, effect: Callable[[], object]) -> None:
        """A deed counts when its transaction commits."""
        if session.is_open:
            session.effects.append(effect)
        else:
            effect()

    @rule(pick=st.integers(0, 5), commit=st.sampled_from([True, True, False]))
    def end_a_transaction(self, pick: int, commit: bool) -> None:
        """Late, or never: one that somebody has kept open."""
        kept = [session for session in self.sessions.values() if session.is_open]
        if kept:
            self.run(self.conclude(kept[pick % len(kept)], commit=commit))

    @rule(number=numbers, queue=queues, limit=limits, deadline=st.booleans())
    def claim(self, number: int, queue: str, limit: int, deadline: bool) -> None:
        """Serves exactly what waits and is in nobody's hands, up to the limit."""
        self.run(self._claim(self.workers[number], queue, limit, 600.0 if deadline else None))

    @rule(
        queue=queues,
        limit=limits,
        early_id=st.booleans(),
        with_a_job=st.sampled_from([False, False, True]),
    )
    def claim_and_keep_open(
        self, *, queue: str, limit: int, early_id: bool, with_a_job: bool
    ) -> None:
        """Claims may share a transaction, which may have its id before its first snapshot, and enqueue as well."""
        worker = self.workers[0]
        self.run(self.begin(worker))
        if early_id:
            self.run(worker.world.fetch("SELECT pg_current_xact_id()"))
        self.run(self._claim(worker, queue, limit, None))
        if with_a_job:
            self.run(self._enqueue(worker, 1, Job(queue, 2, "available", 2), None))

    @rule(queue=queues)
    def pass_everything_by(self, queue: str) -> None:
        """The cursor of the lane goes past whatever can't be served now, which is then owed or late."""
        self.run(self._enqueue(self.producers[1], 1, Job(queue, 2, "available", 2), None))
        self.run(self._claim(self.workers[1], queue, 50, None))

    async def _claim(
        self, worker: Session, queue: str, limit: int, deadline_s: float | None
    ) -> None:
        waits = await self._servable(worker, queue)
        room = await self._room(worker, queue, limit)
        (aged,) = await self.house.fetch(AGED)
        served = await worker.world.claim(limit, queue, deadline_s)
        ids = [job.job_id for job in served]
        assert len(ids) == len(set(ids))
        own = {id_ for id_ in worker.pending if id_ in ids}
        assert set(ids) - own <= waits.keys(), f"served {ids}, of {sorted(waits)}"
        assert min(room, len(waits)) <= len(ids) <= room, f"served {ids}, of {sorted(waits)}"
        if not own:
            self._check_order(served, waits, aged=bool(aged))
        # Claim by claim, as the engine goes from lane to lane.
        for _, claim in groupby(served, lambda job: (job.lane_id, job.claim_no)):
            self.keys.follow(
                [Moving(job.job_id, job.queue, "available", "running") for job in claim], worker
            )
        for job in served:
            worker.holds.add(job.job_id)
            attempt = Attempt(job, worker.world.runtime_id)
            worker.attempts.append(attempt)
            self.now_or_at_commit(worker, partial(self.model.begin, attempt))
        worker.pending = [id_ for id_ in worker.pending if id_ not in ids]
        if not worker.is_open:
            worker.holds, worker.attempts = set(), []

    async def _room(self, worker: Session, queue: str, limit: int) -> int:
        """How many the claim may serve under the queue's limit."""
        most = self.model.most.get(queue)
        if most is None:
            return limit
        if await self.counts_elsewhere(worker, queue):
            return 0
        own = sum(attempt.claimed.queue == queue for attempt in worker.attempts)
        return max(0, min(limit, most - self.model.running_in(queue) - own))

    async def _servable(self, worker: Session, queue: str) -> dict[int, Waits]:
        if queue in self.model.paused:
            return {}
        cursor = await self.house.conn.execute(WAITING, [queue])
        held, busy = self.held_by_others(), await self.lanes_of_others(worker)
        return {
            id_: Waits(lane_id, *rest)
            for id_, lane_id, *rest in await cursor.fetchall()
            if id_ not in held and lane_id not in busy
        }

    def _check_order(
        self, served: list[ClaimedJob], waits: dict[int, Waits], *, aged: bool
    ) -> None:
        """Of each lane the first ones, and no lane before a better one."""
        ids = {job.job_id for job in served}
        left = [place for id_, place in waits.items() if id_ not in ids]
        for lane_id in {job.lane_id for job in served}:
            seqs = [job.lane_seq for job in served if job.lane_id == lane_id]
            assert aged or seqs == sorted(seqs)
            assert all(place.lane_seq > max(seqs) for place in left if place.lane_id == lane_id)
        if served and left and not aged:
            assert max(job.priority for job in served) <= min(place.priority for place in left)

    @rule(
        picks=st.lists(st.integers(0, 20), min_size=1, max_size=5),
        outcomes=st.lists(st.sampled_from(OUTCOMES), min_size=5, max_size=5),
        metadata=st.sampled_from([False, False, True]),
    )
    def finish(self, picks: list[int], outcomes: list[str], metadata: bool) -> None:
        """Attempts end: open ones, those of another runtime, those that ended long ago."""
        known = self.model.attempts[::-1]
        chosen = {id(known[p % len(known)]): known[p % len(known)] for p in picks if known}
        if chosen:
            self.run(self._finish(list(chosen.values()), outcomes, metadata=metadata))

    async def _finish(
        self, attempts: list[Attempt], outcomes: list[str], *, metadata: bool
    ) -> None:
        runtime_id = attempts[0].runtime_id
        pairs = list(zip(attempts, outcomes, strict=False))
        endings = [
            Ending(
                attempt.claimed.lane_id,
                attempt.claimed.claim_no,
                attempt.claimed.lane_seq,
                outcome,
                60.0,
                {"error": "boom"} if outcome in ("retried", "failed") else None,
                {"seen": 1} if metadata else None,
            )
            for attempt, outcome in pairs
        ]
        answered = await finish(self.house.conn, runtime_id, endings)
        owned = [(a, o) for a, o in pairs if a.runtime_id == runtime_id and not a.over]
        assert answered == self.end(owned)

    def end(self, pairs: Iterable[tuple[Attempt, str]]) -> dict[int, str]:
        """Attempts end in one statement, and keys follow; position -> state."""
        ended = {a.claimed.lane_seq: self.model.end(a, outcome) for a, outcome in list(pairs)}
        positions = {a.claimed.lane_seq: a.job_id for a in self.model.attempts}
        self.keys.follow(
            Moving(id_, self.model.jobs[id_].queue, "running", state)
            for seq, state in ended.items()
            for id_ in [positions[seq]]
        )
        return ended

    async def beat(self, worker: Session, picks: list[int]) -> None:
        """A runtime says what it holds and hears what it lost; with nothing open it draws a line under the past."""
        runtime_id = worker.world.runtime_id
        own = [attempt for attempt in self.model.attempts if attempt.runtime_id == runtime_id]
        given = [own[pick % len(own)] for pick in picks if own]
        since = None
        if not worker.is_open:
            given, since = [a for a in own if not a.over], await self.house.now()
        given = list({id(attempt): attempt for attempt in given}.values())
        heart = World(self.house.conn, runtime_id)
        beat = await heart.heartbeat([attempt.claimed for attempt in given], since)
        assert beat.alive is (runtime_id not in self.model.dead)
        if beat.alive:
            assert sorted(beat.lost) == sorted(a.claimed.lane_seq for a in given if a.over)
