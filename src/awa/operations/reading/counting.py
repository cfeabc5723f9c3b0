"""How many jobs a filter matches, by state, within bounds.

Waiting, running and failed jobs are counted by looking at them, up to a bound; beyond it the answer is "at
least". Completed jobs are too many to be looked at: a whole queue's or a whole kind's are read from the
leader's notes and told as "about", and any narrower filter is answered by a short walk, "at least" again.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from awa.db import run
from awa.db.run import Connection
from awa.model.filter import JobFilter
from awa.model.limits import JOB_ID_MAX
from awa.model.states import JobState
from awa.operations.compile import compile_filter
from awa.operations.reading.bounds import bounded
from awa.operations.reading.counts import STATES, ZERO, Count, capped, total
from awa.operations.reading.split import Split
from awa.operations.reading.walk import NARROW_HINT, Walk

AT_MOST_JOBS: Final = 100_000
# Arguments have to be parsed to be asked, so fewer jobs are.
AT_MOST_PARSED_JOBS: Final = 20_000
# A walk through completed jobs that a filter narrows down: so many, in so much time.
COMPLETED_WALK_JOBS: Final = 1_000
COMPLETED_WALK_S: Final = 0.05
_KEPT_BY_NAME: Final = {"queue": "queue", "queues": "queue", "kind": "kind", "kinds": "kind"}


async def counts_by_state(
    conn: Connection, given: JobFilter, *, at_most: int = AT_MOST_JOBS
) -> dict[str, Count]:
    """The jobs that match whatever their state, by state, in the order of `STATES`. Raises TooSlow."""
    anywhere = given.model_copy(update={"state": None})
    async with bounded(conn, "this count", NARROW_HINT):
        if anywhere.matches_nothing():
            return {str(state): ZERO for state in STATES}
        if anywhere.ids is not None:
            return await _by_id(conn, anywhere)
        counting = _Counting(conn, anywhere, at_most)
        counts = {
            **await counting.waiting(),
            **await counting.running(),
            **await counting.ended(),
        }
    return {str(state): counts[str(state)] for state in STATES}


async def count(conn: Connection, given: JobFilter, *, at_most: int = AT_MOST_JOBS) -> Count:
    """How many jobs match, exact or at least `at_most`. Raises TooSlow."""
    if given.state is None:
        return total((await counts_by_state(conn, given, at_most=at_most)).values())
    state = str(given.state)
    if given.ids is not None or given.state is JobState.WAITING_EXTERNAL:
        return (await counts_by_state(conn, given, at_most=at_most)).get(state, ZERO)
    counting = _Counting(conn, given.model_copy(update={"state": None}), at_most)
    ways: dict[JobState, Callable[[], Awaitable[dict[str, Count]]]] = {
        JobState.AVAILABLE: counting.backlog,
        JobState.SCHEDULED: counting.deferred,
        JobState.RETRYABLE: counting.deferred,
        JobState.RUNNING: counting.running,
    }
    async with bounded(conn, "this count", NARROW_HINT):
        return (await ways.get(given.state, counting.ended)())[state]


async def _by_id(conn: Connection, given: JobFilter) -> dict[str, Count]:
    predicate = compile_filter(given)
    statement = run.statement("reading/count_ids").format(predicate=predicate.sql)
    found = {
        row["state"]: Count(row["jobs"])
        for row in await run.rows_of(conn, statement, predicate.params)
    }
    return {str(state): found.get(str(state), ZERO) for state in STATES}


class _Counting:
    """One filter, counted place by place."""

    def __init__(self, conn: Connection, given: JobFilter, at_most: int) -> None:
        self._conn = conn
        self._given = given
        dear = given.args_contains is not None
        self._at_most = min(at_most, AT_MOST_PARSED_JOBS) if dear else at_most
        self._split = Split.of(given)

    async def waiting(self) -> dict[str, Count]:
        """Those that wait, in lanes or for a time."""
        return {**await self.backlog(), **await self.deferred()}

    async def backlog(self) -> dict[str, Count]:
        """Those that wait in lanes."""
        return {"available": (await self._look("backlog", "jobs"))["jobs"]}

    async def deferred(self) -> dict[str, Count]:
        """Those that wait for a time."""
        return await self._look("deferred", "scheduled", "retryable")

    async def running(self) -> dict[str, Count]:
        """Those that run."""
        return {"running": (await self._look("running", "jobs"))["jobs"]}

    async def ended(self) -> dict[str, Count]:
        """Those that ended."""
        found = await self._look("finished", "failed", "cancelled", "completed")
        kept = await self._noted()
        found["completed"] = kept if kept is not None else await self._walked()
        return found

    async def _look(self, place: str, *columns: str) -> dict[str, Count]:
        statement = run.statement(f"reading/count_{place}").format(
            places=self._split.places.sql, rows=self._split.rows.sql
        )
        params: dict[str, Any] = {**self._split.params, "looked_max": self._at_most + 1}
        (found,) = await run.rows_of(self._conn, statement, params)
        if found["looked"] <= self._at_most:
            return {column: Count(found[column]) for column in columns}
        return {column: capped_look(found[column], self._at_most) for column in columns}

    async def _noted(self) -> Count | None:
        """What the leader noted of completed jobs, if the filter asks for whole queues, whole kinds or all."""
        fields = self._given.given()
        if len(fields) > 1 or not fields.keys() <= _KEPT_BY_NAME.keys():
            return None
        name, value = next(iter(fields.items()), ("queue", None))
        names = [value] if isinstance(value, str) else value
        params = {"scope": _KEPT_BY_NAME[name], "names": names}
        found = await run.rows(self._conn, "reading/totals", params)
        return Count(sum(row["jobs"] for row in found), "about")

    async def _walked(self) -> Count:
        given = self._given.model_copy(update={"state": JobState.COMPLETED})
        walk = Walk(self._conn, given, COMPLETED_WALK_JOBS + 1, JOB_ID_MAX, COMPLETED_WALK_S)
        await walk.go()
        if walk.below > 1 and len(walk.rows) <= COMPLETED_WALK_JOBS:
            return Count(len(walk.rows), "at_least")
        return capped(len(walk.rows), COMPLETED_WALK_JOBS)


def capped_look(found: int, at_most: int) -> Count:
    """A count that stopped after looking at `at_most` jobs."""
    return Count(min(found, at_most), "at_least")
