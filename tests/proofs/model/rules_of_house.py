"""What operators and the leader do: move, cancel, retry, promote, rescue, age, rotate, prune, pause."""

from collections.abc import Iterable
from functools import partial

import hypothesis.strategies as st
from hypothesis.stateful import rule

from awa.storage import ageing, promote, queues, ring
from tests.conftest import STORAGE
from tests.proofs.model.keys import Moving
from tests.proofs.model.reference import DEFERRED, LOCKABLE, QUEUES, Session
from tests.proofs.model.rules_of_callbacks import Answers
from tests.proofs.model.rules_of_work import numbers

picks_ = st.lists(st.integers(0, 12), min_size=1, max_size=6)
COMPLETED_IN = (
    """
    SELECT coalesce(array_agg(r.job_id), '{}') FROM awa.ready_entries r
      JOIN awa.attempt_closures x ON x.slot = r.slot AND x.lane_id = r.lane_id AND x.seqs @> r.lane_seq
     WHERE r.slot = %s AND x.outcome = 'completed'
"""
    if STORAGE == "lanes"
    else "SELECT coalesce(array_agg(job_id), '{}') FROM awa.ready_entries WHERE slot = %s AND closed_at IS NOT NULL"
)
DUE = """
    SELECT job_id FROM awa.deferred_jobs WHERE state IN ('scheduled', 'retryable') ORDER BY run_at, job_id
"""
KNOBS = ["pause", "resume", "shards", "age", "cursors", "positions", "limit", "limit", "admit"]
SILENCE = "UPDATE awa.runtimes SET heartbeat_at = heartbeat_at - interval '1 day' WHERE id = %s"
MANY_POSITIONS = "SELECT count(nextval('awa.job_positions')) FROM generate_series(1, 6000)"


class House(Answers):
    """Rules of operators and the leader."""

    @rule(
        number=numbers,
        picks=picks_,
        queue=st.sampled_from([None, *QUEUES]),
        priority=st.sampled_from([None, 1, 2, 4]),
        keep_open=st.booleans(),
    )
    def move(
        self,
        *,
        number: int,
        picks: list[int],
        queue: str | None,
        priority: int | None,
        keep_open: bool,
    ) -> None:
        """Waiting jobs go elsewhere; in an open transaction nobody else can have them until it ends."""
        mover = self.movers[number]
        if keep_open and mover is self.movers[0]:
            self.run(self.begin(mover))
        self.run(self._move(mover, self.pick(picks), queue, priority))

    async def _move(
        self, mover: Session, ids: list[int], queue: str | None, priority: int | None
    ) -> None:
        found = self.waiting(ids) - self.held_by_others(mover)
        answered = await mover.world.move(ids, queue, priority)
        assert answered.keys() == found
        kept = self.move_keys(mover, found, queue)
        assert {id_: answered[id_] for id_ in kept} == kept
        going = found - kept.keys()
        if not mover.is_open:
            moved = {id_: self.model.move(id_, queue, priority) for id_ in going}
            assert answered == moved | kept
            return
        mover.holds |= found
        mover.effects += [partial(self.model.move, id_, queue, priority) for id_ in going]
        mover.queues |= dict.fromkeys(going, queue) if queue is not None else {}

    def move_keys(self, mover: Session, found: set[int], queue: str | None) -> dict[int, str]:
        """Of the jobs that change their queue: those that can't, for their keys' sake."""
        jobs = {id_: self.model.jobs[id_] for id_ in found}
        where = {id_: mover.queues.get(id_, job.queue) for id_, job in jobs.items()}
        moving = [
            Moving(id_, where[id_], job.state, job.state)
            for id_, job in jobs.items()
            if queue not in (None, where[id_])
            and job.state != "waiting_external"
            and id_ in self.keys.recipes
            and self.keys.recipes[id_].by_queue
        ]
        return self.keys.order(moving, {job.job_id: str(queue) for job in moving}, mover)

    def waiting(self, ids: list[int]) -> set[int]:
        """Those of the jobs that wait, be it for a callback."""
        return {id_ for id_ in ids if self.model.jobs[id_].state in LOCKABLE}

    @rule(picks=picks_)
    def hold(self, picks: list[int]) -> None:
        """Locks waiting jobs and changes nothing yet."""
        self.run(self._hold(self.movers[0], self.pick(picks)))

    async def _hold(self, mover: Session, ids: list[int]) -> None:
        await self.begin(mover)
        found = self.waiting(ids) - self.held_by_others(mover)
        assert {one.job_id for one in await mover.world.lock(ids)} == found
        mover.holds |= found

    @rule(picks=picks_, deed=st.sampled_from(["cancel", "cancel_running", "retry"]))
    def change(self, picks: list[int], deed: str) -> None:
        """Somebody does something to some jobs, whatever they are at."""
        ids = self.pick(picks)
        match deed:
            case "cancel":
                self._cancel(ids)
            case "cancel_running":
                self._cancel_running(ids)
            case _:
                self._retry(ids)

    def _cancel(self, ids: list[int]) -> None:
        found = self.waiting(ids) - self.held_by_others()
        assert set(self.run(self.house.cancel(ids))) == found
        self.enter(found, "cancelled")
        for id_ in found:
            self.model.forget_wait(id_)

    def enter(self, ids: Iterable[int], state: str) -> None:
        """Jobs enter a state in one statement, and keys follow."""
        chosen = [(id_, self.model.jobs[id_]) for id_ in ids]
        self.keys.follow([Moving(id_, job.queue, job.state, state) for id_, job in chosen])
        for _, job in chosen:
            job.state = state

    def _cancel_running(self, ids: list[int]) -> None:
        running = self.model.running()
        found = [id_ for id_ in ids if id_ in running]
        assert self.run(self.house.cancel_running(ids)) == found
        self.end((running[id_], "cancelled") for id_ in found)

    def _retry(self, ids: list[int]) -> None:
        states = {id_: self.model.jobs[id_].state for id_ in ids}
        deferred = {id_ for id_ in ids if states[id_] in DEFERRED} - self.held_by_others()
        ended = {id_ for id_ in ids if states[id_] in {"failed", "cancelled"}}
        moved = set(self.run(self.house.retry(ids)))
        self.enter(deferred, "available")
        jobs = [Moving(i, self.model.jobs[i].queue, states[i], "available") for i in ended]
        kept = self.keys.order(jobs, {job.job_id: job.queue for job in jobs})
        assert moved == (deferred | ended) - kept.keys()
        for id_ in ended - kept.keys():
            self.model.retry(id_)

    @rule(limit=st.sampled_from([1, 3, 100]))
    def promote(self, limit: int) -> None:
        """The most overdue first; those in somebody's hands next time."""
        self.run(self._promote(limit))

    async def _promote(self, limit: int) -> None:
        cursor = await self.house.conn.execute(DUE)
        held = self.held_by_others()
        due = [id_ for (id_,) in await cursor.fetchall() if id_ not in held][:limit]
        now = await self.house.now(later_s=3600)
        assert await promote.promote(self.house.conn, max_jobs=limit, now=now) == len(due)
        self.enter(due, "available")

    @rule(
        number=numbers,
        picks=picks_,
        trouble=st.sampled_from(["none", "dies", "rescue", "deadlines", "lands late"]),
    )
    def a_worker_has_trouble(self, number: int, picks: list[int], trouble: str) -> None:
        """It beats, or dies and its program starts again, and may still send the endings of its former life."""
        worker = self.workers[number]
        match trouble:
            case "none":
                self.run(self.beat(worker, picks))
            case "dies" if not worker.is_open:
                self.run(self._die(worker))
            case "lands late" if worker.is_open:
                self.run(self._land_late(worker))
            case "deadlines":
                self.run(self._rescue(after_s=1_200.0))
            case _:
                self.run(self._rescue())

    async def _die(self, worker: Session) -> None:
        await self.house.conn.execute(SILENCE, [worker.world.runtime_id])
        self.model.dead.add(worker.world.runtime_id)
        await self._rescue()
        await self.new_runtime(worker)

    async def _land_late(self, worker: Session) -> None:
        """Taken for dead while a claim is under way, which lands after that."""
        await self.house.conn.execute(SILENCE, [worker.world.runtime_id])
        self.model.dead.add(worker.world.runtime_id)
        await self._rescue()
        await self.conclude(worker, commit=True)
        await self.new_runtime(worker)

    async def _rescue(self, after_s: float = 0.0) -> None:
        now = await self.house.now(later_s=after_s)
        await self.house.rescue(stale_after_s=3600, now=now)
        running = self.model.running().values()
        dead = [attempt for attempt in running if attempt.runtime_id in self.model.dead]
        late = [
            attempt
            for attempt in running
            if attempt not in dead
            and attempt.claimed.deadline_at is not None
            and attempt.claimed.deadline_at <= now
        ]
        for taken_back in (dead, late):
            self.end((attempt, "retried") for attempt in taken_back)

    @rule(back=st.sampled_from([1, 1, 2, 3, 7]), carry_limit=st.sampled_from([1000, 1000, 0]))
    def turn_the_ring(self, back: int, carry_limit: int) -> None:
        """The ring moves on if it can, and an old slot is emptied if it can be."""
        assert self.run(self.house.rotate()) in {"rotated", "empty", "blocked", "young"}
        self.run(self._prune(back, carry_limit))

    async def _prune(self, back: int, carry_limit: int) -> None:
        state = await ring.state(self.house.conn)
        slot = (state["current_slot"] - back) % state["slots"]
        (completed,) = await self.house.fetch(COMPLETED_IN, slot)
        answer = await self.house.prune(slot, carry_limit=carry_limit)
        # A transaction that is open keeps the snapshot of its last statement.
        assert answer in {"pruned", "empty", "live", "busy", "pinned"}
        if answer == "pruned":
            for id_ in completed:
                assert self.model.jobs.pop(id_).state == "completed"

    @rule(
        queue=st.sampled_from(QUEUES),
        knob=st.sampled_from(KNOBS),
        amount=st.integers(0, 3),
    )
    def turn_a_knob(self, queue: str, knob: str, amount: int) -> None:
        """Pauses, shards, ageing; or other queues draw so many positions that the heads of idle lanes are renewed."""
        match knob:
            case "pause" if amount == 0:
                self.run(queues.pause(self.house.conn, queue))
                self.model.paused.add(queue)
            case "pause" | "resume":
                self.run(queues.resume(self.house.conn, queue))
                self.model.paused.discard(queue)
            case "shards":
                self.run(queues.set_enqueue_shards(self.house.conn, queue, amount // 2 + 1))
            case "age":
                self.run(self._age(60.0 * amount + 30.0))
            case "limit":
                self.run(self._limit(queue, amount))
            case "admit":
                self.run(self.house.admit())
            case "cursors":
                self.run(self.house.advance())
            case _:
                self.run(self.house.fetch(MANY_POSITIONS))

    async def _limit(self, queue: str, most: int) -> None:
        await self.house.limit(queue, max_running=most or None)
        if most:
            self.model.most[queue] = most
        else:
            self.model.most.pop(queue, None)

    async def _age(self, waited_s: float) -> None:
        now = await self.house.now(later_s=waited_s)
        await ageing.age_lanes(self.house.conn, step_s=60.0, now=now)
