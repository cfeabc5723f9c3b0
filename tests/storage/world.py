"""A small vocabulary over the storage verbs, so that a test reads as the promise it checks.

A `World` is one session and one runtime on a migrated database. Its verbs are those of `awa.storage`, with the
arguments left out that most tests don't care about; whatever it answers comes from the engine itself. `audit`
looks at the whole store and is worth calling after every step: each job is in exactly one place, and the two
views agree about it.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Any, NamedTuple, Self
from uuid import UUID, uuid4

import orjson
from psycopg import AsyncConnection

from awa.db import run
from awa.model.queue_limits import queue_limits
from awa.model.unique import check_unique_opts
from awa.storage import (
    callbacks,
    change,
    cursors,
    limited,
    promote,
    queues,
    rescue,
    ring,
    runtimes,
    unique,
)
from awa.storage.callbacks import Resolution, Resolved
from awa.storage.change import Relocated, Waiting
from awa.storage.claim import Claimed, ClaimedJob, claim
from awa.storage.enqueue import NewJob, enqueue_many, enqueue_one
from awa.storage.finish import Ending, finish

Connection = AsyncConnection[Any]
PRUNE_STEPS_MAX = 10
WAITING = {"available", "scheduled", "retryable"}

EVERY_PLACE = """
    SELECT 'jobs', id, queue, state, priority, attempt FROM awa.jobs
    UNION ALL SELECT 'waiting', id, queue, state, priority, attempt FROM awa.waiting_jobs
"""

# Keys whose job is gone, is in a state that doesn't hold it, or would have another key where it is.
WRONG_KEYS = """
    SELECT k.job_id, j.queue, j.state FROM awa.unique_keys k
      LEFT JOIN LATERAL awa.find_job(k.job_id) j ON true
      LEFT JOIN LATERAL awa.unique_of(k.job_id, j.queue, j.state) u ON true
     WHERE u.wanted IS NOT TRUE OR u.holder IS DISTINCT FROM k.job_id
"""


class Place(NamedTuple):
    """What a view says of one job."""

    queue: str
    state: str
    priority: int
    attempt: int


class World:
    """One session with a registered runtime, and short words for what it does."""

    def __init__(self, conn: Connection, runtime_id: UUID) -> None:
        self.conn = conn
        self.runtime_id = runtime_id

    @classmethod
    async def on(cls, conn: Connection) -> Self:
        """A world on this connection, under a new runtime."""
        world = cls(conn, uuid4())
        await runtimes.register(conn, world.runtime_id, ["worker"], {})
        return world

    def rolled_back(self) -> AbstractAsyncContextManager[object]:
        """A transaction that leaves no trace."""
        return self.conn.transaction(force_rollback=True)

    async def enqueue(self, jobs: int = 1, queue: str = "default", **details: Any) -> list[int]:
        """Adds equal jobs of a queue; `details` are fields of NewJob."""
        given = {"kind": "k", "args_json": "{}"} | details
        inserted = await enqueue_many(self.conn, queue, [NewJob(**given)] * jobs)
        return [one.job_id for one in inserted]

    async def enqueue_unique(
        self, args: dict[str, Any] | None = None, queue: str = "default", **opts: Any
    ) -> int:
        """Adds a unique job of kind k; `opts` are its unique options, `run_at` and `priority` those of the job."""
        job = {
            name: opts.pop(name) for name in ("run_at", "priority", "max_attempts") if name in opts
        }
        text = orjson.dumps(args or {})
        new = NewJob("k", text, unique_opts=check_unique_opts(opts), **job)
        return (await enqueue_one(self.conn, queue, new)).job_id

    async def holder(
        self, args: dict[str, Any] | None = None, queue: str = "default", **opts: Any
    ) -> int | None:
        """Who holds the key that such a job would have."""
        return await unique.holder(
            self.conn,
            kind="k",
            args_json=orjson.dumps(args or {}),
            queue=queue,
            unique_opts=check_unique_opts(opts),
        )

    async def enqueue_keyed(
        self, jobs: int = 1, key: str = "k", limit: int = 1, **details: Any
    ) -> list[int]:
        """Adds equal jobs with a concurrency key."""
        return await self.enqueue(jobs, concurrency_key=key, concurrency_limit=limit, **details)

    async def admit(self) -> int:
        """What the duty does: looks through all keys once."""
        admitted, after = 0, None
        while True:
            found = await limited.admit_waiting(self.conn, after=after, max_keys=100)
            admitted, after = admitted + found.jobs, found.last_key
            if not found.more:
                return admitted

    async def claim(
        self, limit: int = 100, queue: str = "default", deadline_s: float | None = None
    ) -> list[ClaimedJob]:
        """Claims once."""
        return (await self.claim_call(limit, queue, deadline_s)).jobs

    async def claim_call(
        self, limit: int = 100, queue: str = "default", deadline_s: float | None = None
    ) -> Claimed:
        """Claims once and answers all that is said."""
        return await claim(self.conn, queue, limit, self.runtime_id, deadline_s)

    async def claim_ids(self, limit: int = 100, queue: str = "default") -> list[int]:
        """Claims once and answers the ids, in the order they came."""
        return [job.job_id for job in await self.claim(limit, queue)]

    async def finish(
        self, jobs: Sequence[ClaimedJob], outcome: str = "completed", **details: Any
    ) -> dict[int, str]:
        """Ends attempts of this world's runtime alike; answers job id -> state, only for those it owned."""
        endings = [Ending(j.lane_id, j.claim_no, j.lane_seq, outcome, **details) for j in jobs]
        owned = await finish(self.conn, self.runtime_id, endings)
        return {j.job_id: owned[j.lane_seq] for j in jobs if j.lane_seq in owned}

    async def heartbeat(
        self, jobs: Sequence[ClaimedJob] = (), open_since: datetime | None = None, **details: Any
    ) -> runtimes.Beat:
        """Says that the runtime lives and holds these attempts."""
        attempts = [(j.lane_id, j.claim_no, j.lane_seq) for j in jobs]
        return await runtimes.heartbeat(
            self.conn,
            self.runtime_id,
            open_since,
            attempts,
            progress=details.get("progress"),
            metadata=details.get("metadata"),
        )

    async def register(self, job: ClaimedJob, timeout_s: float = 60.0) -> UUID:
        """Registers a callback for an attempt of this world's runtime."""
        attempt = (job.lane_id, job.claim_no, job.lane_seq)
        found = await callbacks.register(self.conn, self.runtime_id, attempt, timeout_s)
        assert found is not None, f"the attempt of job {job.job_id} is not this runtime's"
        return found.callback_id

    async def wait(self, job: ClaimedJob, callback: UUID) -> dict[int, str]:
        """Ends the attempt, to wait for the callback."""
        return await self.finish([job], "waiting", callback_id=callback)

    async def waiting(self, timeout_s: float = 60.0, **details: Any) -> tuple[int, UUID]:
        """A job that waits for a callback."""
        await self.enqueue(**details)
        (job,) = await self.claim()
        callback = await self.register(job, timeout_s)
        assert await self.wait(job, callback) == {job.job_id: "waiting_external"}
        return job.job_id, callback

    async def answer(self, callback: UUID, resolution: Resolution, **details: Any) -> Resolved:
        """Answers a callback from outside."""
        return await callbacks.resolve(self.conn, callback, resolution, **details)

    async def expire(self, callback: UUID) -> None:
        """Lets the time of a callback be over, without anybody having noticed."""
        await self.conn.execute(
            """WITH over AS (UPDATE awa.callbacks SET expires_at = clock_timestamp()
                              WHERE callback_id = %s RETURNING callback_id, expires_at)
               UPDATE awa.deferred_jobs d SET run_at = o.expires_at FROM over o WHERE d.callback_id = o.callback_id""",
            [callback],
        )

    async def time_out(self, now: datetime | None = None) -> int:
        """Ends the wait of callbacks whose time is over."""
        return await callbacks.time_out(self.conn, now=now)

    async def move(
        self, ids: Iterable[int], queue: str | None = None, priority: int | None = None
    ) -> dict[int, str]:
        """Locks and relocates in one transaction; answers job id -> moved | noop for what still waited."""
        async with self.conn.transaction():
            done = await self.relocate(await self.lock(ids), queue, priority)
        return {one.job_id: one.outcome for one in done}

    async def cancel(self, ids: Iterable[int], reason: str | None = None) -> list[int]:
        """Locks and cancels waiting jobs in one transaction; answers those it cancelled."""
        async with self.conn.transaction():
            locked = await self.lock(ids)
            return sorted(await change.cancel_waiting(self.conn, locked, reason=reason))

    async def lock(self, ids: Iterable[int]) -> list[Waiting]:
        """Locks what waits of a set, in the transaction that is open here."""
        return await change.lock_waiting(self.conn, sorted(ids))

    async def relocate(
        self, locked: Sequence[Waiting], queue: str | None = None, priority: int | None = None
    ) -> list[Relocated]:
        """Moves what was locked in this transaction."""
        return await change.relocate(self.conn, locked, queue=queue, priority=priority)

    async def cancel_running(self, ids: Iterable[int]) -> list[int]:
        """Ends running attempts as cancelled; answers the jobs that ran."""
        return sorted(await change.cancel_running(self.conn, sorted(ids)))

    async def retry(self, ids: Iterable[int]) -> list[int]:
        """Gives ended jobs another attempt and runs deferred ones now; answers those it moved."""
        return sorted(change.moved(await change.retry_jobs(self.conn, sorted(ids))))

    async def explain(self, ids: Iterable[int]) -> dict[int, str]:
        """Why these jobs can't be locked as waiting."""
        return await change.explain_not_waiting(self.conn, sorted(ids))

    async def promote(self, now: datetime | None = None) -> int:
        """Promotes everything that is due."""
        return await promote.promote(self.conn, max_jobs=10_000, now=now)

    async def rescue(
        self, *, stale_after_s: float = 30.0, now: datetime | None = None
    ) -> rescue.Rescued:
        """Declares runtimes dead and takes attempts back."""
        return await rescue.rescue(self.conn, stale_after_s=stale_after_s, now=now)

    async def rotate(self) -> str:
        """Opens the next slot, whatever the age of the current one."""
        return await ring.rotate(self.conn, max_age_s=0.0, max_bytes=1 << 40)

    async def prune(self, slot: int = 0, *, keep_s: float = -1.0, carry_limit: int = 1000) -> str:
        """Empties a slot and keeps no completed job, unless told otherwise; all steps, as far as they go."""
        result = "more"
        for _ in range(PRUNE_STEPS_MAX):
            result = await self.prune_step(slot, keep_s=keep_s, carry_limit=carry_limit)
            if result != "more":
                break
        return result

    async def prune_step(
        self, slot: int = 0, *, keep_s: float = -1.0, carry_limit: int = 1000
    ) -> str:
        """One step of it."""
        return await ring.prune_slot(self.conn, slot, keep_s=keep_s, carry_limit=carry_limit)

    async def advance(self, max_lanes: int = 100) -> int:
        """Moves lanes' cursors over what was moved away at their front; answers how many lanes moved."""
        return await cursors.advance_cursors(self.conn, max_lanes=max_lanes)

    async def pause(self, queue: str = "default") -> None:
        """Stops claims of the queue."""
        await queues.pause(self.conn, queue)

    async def limit(self, queue: str = "default", **limits: Any) -> None:
        """Sets limits of the queue, by the names of `queue_limits`."""
        await queues.set_limits(self.conn, queue, queue_limits(**limits))

    async def job(self, job_id: int) -> run.Row:
        """The job's one row of awa.jobs."""
        (found,) = await run.rows(self.conn, "storage/get_job", {"id": job_id})
        return found

    async def state(self, job_id: int) -> str:
        """Where the job is, after an audit of the whole store."""
        (state,) = await self.states([job_id])
        return state

    async def states(self, ids: Iterable[int]) -> list[str]:
        """Where these jobs are, after an audit of the whole store."""
        places = await self.audit()
        wanted = list(ids)
        assert places.keys() >= set(wanted), f"lost: {set(wanted) - places.keys()}"
        return [places[id_].state for id_ in wanted]

    async def audit(self) -> dict[int, Place]:
        """Every job's place; fails if one is in two, or if the views don't agree on what waits."""
        cursor = await self.conn.execute(EVERY_PLACE)
        seen: dict[str, list[tuple[int, Place]]] = {"jobs": [], "waiting": []}
        for view, job_id, *place in await cursor.fetchall():
            seen[view].append((job_id, Place(*place)))
        twice = {id_: n for id_, n in Counter(id_ for id_, _ in seen["jobs"]).items() if n > 1}
        assert not twice, f"jobs in more than one place: {twice}"
        places = dict(seen["jobs"])
        waiting = {id_: place for id_, place in places.items() if place.state in WAITING}
        assert len(seen["waiting"]) == len(waiting), "awa.waiting_jobs has other jobs than awa.jobs"
        assert dict(seen["waiting"]) == waiting
        wrong = await (await self.conn.execute(WRONG_KEYS)).fetchall()
        assert not wrong, f"unique keys of jobs that don't hold them: {wrong}"
        return places

    async def now(self, *, later_s: float = 0.0) -> datetime:
        """The database's clock, moved by some seconds."""
        (moment,) = await self.fetch("SELECT clock_timestamp()")
        assert isinstance(moment, datetime)
        return moment + timedelta(seconds=later_s)

    async def fetch(self, query: str, *params: Any) -> tuple[Any, ...]:
        """The one row of a query."""
        cursor = await self.conn.execute(query, params or None)
        (found,) = await cursor.fetchall()
        return tuple(found)
