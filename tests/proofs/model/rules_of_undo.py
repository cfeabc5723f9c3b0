"""What operators take back: moves whose items are kept, and jobs that are put back if they are as these left them.

The model knows of each job how often it got another position: whoever is claimed, moved or tried anew stands elsewhere.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import hypothesis.strategies as st
from hypothesis.stateful import precondition, rule
from psycopg.types.json import Jsonb

from awa.storage.change import Waiting
from tests.proofs.model.machine import Troupe
from tests.proofs.model.reference import QUEUES
from tests.proofs.model.rules_of_house import picks_
from tests.proofs.model.rules_of_keys import Uniqueness

OPERATION = UUID(int=1)
ELSEWHERE = "gamma"
FORGET = "DELETE FROM awa.batch_operations"
BEGIN = "INSERT INTO awa.batch_operations (id, op_kind, filter, spec) VALUES (%s, 'move_queue', '{}', '{}') ON CONFLICT DO NOTHING"
RELOCATE = "SELECT r.* FROM awa.relocate(%s::bigint[], %s::int[], %s::bigint[], %s::smallint[], %s::text, %s::int) r"
PUT_BACK = (
    "SELECT r.* FROM awa.put_back(%s, %s::bigint[], %s::int[], %s::bigint[], %s::smallint[]) r"
)
KEEP = """
    INSERT INTO awa.batch_operation_items AS i (operation_id, job_id, state, before, lane_id, lane_seq, slot, attempt)
    VALUES (%s, %s, 'processed', %s, %s, %s, %s, %s)
    ON CONFLICT (operation_id, job_id) DO UPDATE
       SET before = excluded.before, lane_id = excluded.lane_id, lane_seq = excluded.lane_seq, slot = excluded.slot,
           attempt = excluded.attempt
"""


@dataclass(frozen=True)
class Left:
    """How an operation left a job, and what it had before."""

    queue: str
    priority: int
    attempt: int
    position: int | None
    times: int
    before: tuple[str | None, int | None]


class Undoing(Uniqueness):
    """Rules of operations that keep items, and of their undo."""

    def __init__(self, troupe: Troupe) -> None:
        super().__init__(troupe)
        self.left: dict[int, Left] = {}

    @rule(
        picks=picks_,
        queue=st.sampled_from([None, *QUEUES]),
        priority=st.sampled_from([None, 1, 2]),
        then=st.sampled_from(["nothing", "undo", "promote", "there and back", "there"]),
    )
    def operate(self, picks: list[int], queue: str | None, priority: int | None, then: str) -> None:
        """A chunk of an operation: what it moves is kept in its items. Then somebody comes, and it is taken back."""
        ids = self.pick(picks)
        self.run(self._operate(ids, queue, priority))
        left = [id_ for id_ in ids if id_ in self.left]
        if then == "nothing" or not left:
            return
        if then == "promote":
            self.promote(100)
        if then.startswith("there"):
            self.run(self._move(self.movers[1], left[:1], ELSEWHERE, None))
        if then == "there and back":
            self.run(self._move(self.movers[1], left[:1], self.left[left[0]].queue, None))
        self._undo_some(left)

    async def _operate(self, ids: list[int], queue: str | None, priority: int | None) -> None:
        conn, mover = self.house.conn, self.movers[1]
        found = self.waiting(ids) - self.held_by_others()
        if not self.left:
            await conn.execute(FORGET)
        await conn.execute(BEGIN, [OPERATION])
        async with conn.transaction():
            locked = await self.house.lock(ids)
            cursor = await conn.execute(RELOCATE, [*_arrays(locked), queue, priority])
            answered = await cursor.fetchall()
            for job_id, outcome, _, before, _, *place in answered:
                if outcome == "moved":
                    await conn.execute(KEEP, [OPERATION, job_id, Jsonb(before), *place])
        kept = self.move_keys(mover, found, queue)
        for job_id, outcome, _, before, _, _, position, _, _ in answered:
            if job_id in kept:
                assert outcome == kept[job_id]
                continue
            job = self.model.jobs[job_id]
            had = (job.queue, job.priority)
            assert outcome == self.model.move(job_id, queue, priority)
            if outcome == "moved":
                now = _place(job)
                old = (
                    had[0] if had[0] != now[0] else None,
                    had[1] if had[1] != now[1] else None,
                )
                assert (before.get("queue"), before.get("priority")) == old
                self.left[job_id] = Left(*now, job.attempt, position, job.times, old)
        assert {answer[0] for answer in answered} == found

    @precondition(lambda self: self.left)
    @rule(picks=picks_)
    def undo(self, picks: list[int]) -> None:
        """A chunk of the undo: of some of its jobs that had the same before."""
        known = sorted(self.left, reverse=True)
        ids = sorted({known[pick % len(known)] for pick in picks} & self.model.jobs.keys())
        if ids:
            self._undo_some(ids)

    def _undo_some(self, ids: list[int]) -> None:
        first = self.left[ids[0]].before
        self.run(self._undo([id_ for id_ in ids if self.left[id_].before == first]))

    async def _undo(self, ids: list[int]) -> None:
        conn, mover = self.house.conn, self.movers[1]
        found = self.waiting(ids) - self.held_by_others()
        async with conn.transaction():
            locked = await self.house.lock(ids)
            cursor = await conn.execute(PUT_BACK, [OPERATION, *_arrays(locked)])
            answered = {row[0]: row[1] for row in await cursor.fetchall()}
        expected = {id_: self._why_not(id_) for id_ in found}
        going = {id_ for id_ in found if expected[id_] is None}
        queue, priority = self.left[ids[0]].before
        kept = self.move_keys(mover, going, queue)
        moved = {id_: self.model.move(id_, queue, priority) for id_ in going - kept.keys()}
        stays = {id_: why for id_, why in expected.items() if why is not None}
        assert answered == stays | moved | kept

    def _why_not(self, job_id: int) -> str | None:
        """What keeps the job from being put back."""
        job, left = self.model.jobs[job_id], self.left[job_id]
        if job.state == "waiting_external":
            return job.state
        if _place(job) != (left.queue, left.priority):
            return "moved_away"
        if left.position is None:
            return None if job.attempt == left.attempt else "changed_since"
        return None if job.times == left.times else "changed_since"


def _place(job: Any) -> tuple[str, int]:
    return job.queue, job.priority


def _arrays(locked: list[Waiting]) -> list[list[Any]]:
    """What was locked, as parameters."""
    return [
        [one.job_id for one in locked],
        [one.lane_id for one in locked],
        [one.lane_seq for one in locked],
        [one.slot for one in locked],
    ]
