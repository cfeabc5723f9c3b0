"""How many jobs a filter matches, by state, within bounds.

Waiting, running and failed jobs are counted by looking at them, up to a bound; beyond it the answer is "at
least". Completed jobs are too many to be looked at: a whole queue's or a whole kind's are read from the
leader's notes and told as "about", and any narrower filter is answered by a short walk, "at least" again.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

from awa.db import run
from awa.db.run import Connection, Row
from awa.model.filter import JobFilter
from awa.model.limits import JOB_ID_MAX
from awa.model.states import JobState
from awa.operations.compile import compile_filter
from awa.operations.reading.bounds import bounded
from awa.operations.reading.counts import STATES, ZERO, Count, capped, total
from awa.operations.reading.looks import Look, look, together
from awa.operations.reading.split import Split
from awa.operations.reading.walk import NARROW_HINT, Walk

AT_MOST_JOBS: Final = 100_000
# Arguments have to be parsed to be asked, so fewer jobs are.
AT_MOST_PARSED_JOBS: Final = 20_000
# A walk through completed jobs that a filter narrows down: so many, in so much time.
COMPLETED_WALK_JOBS: Final = 1_000
COMPLETED_WALK_S: Final = 0.02
_KEPT_BY_NAME: Final = {"queue": "queue", "queues": "queue", "kind": "kind", "kinds": "kind"}

Counts = dict[str, Count]


async def counts_by_state(
    conn: Connection, given: JobFilter, *, at_most: int = AT_MOST_JOBS, waiting: int | None = None
) -> Counts:
    """The jobs that match whatever their state, by state, in the order of `STATES`. Raises TooSlow.

    `waiting` is how many of them wait in lanes, where a page of them has just said so: they aren't counted again.
    """
    anywhere = given.model_copy(update={"state": None})
    async with bounded(conn, "this count", NARROW_HINT):
        if anywhere.matches_nothing():
            return {str(state): ZERO for state in STATES}
        if anywhere.ids is not None:
            return await _by_id(conn, anywhere)
        counting = Counting(anywhere, at_most)
        looks = counting.elsewhere()
        if waiting is None:
            looks["backlog"] = counting.backlog()
        known = {} if waiting is None else {"available": Count(waiting)}
        counts = merged((known, *(await together(conn, looks)).values()))
        if not counting.is_noted:
            counts["completed"] = await _walked(conn, anywhere)
    return {str(state): counts[str(state)] for state in STATES}


async def count(conn: Connection, given: JobFilter, *, at_most: int = AT_MOST_JOBS) -> Count:
    """How many jobs match, exact or at least `at_most`. Raises TooSlow."""
    if given.state is None:
        return total((await counts_by_state(conn, given, at_most=at_most)).values())
    state = str(given.state)
    if given.ids is not None:
        return (await counts_by_state(conn, given, at_most=at_most)).get(state, ZERO)
    counting = Counting(given.model_copy(update={"state": None}), at_most)
    ways: dict[JobState, Callable[[], Look[Counts]]] = {
        JobState.AVAILABLE: counting.backlog,
        JobState.SCHEDULED: counting.deferred,
        JobState.RETRYABLE: counting.deferred,
        JobState.WAITING_EXTERNAL: counting.deferred,
        JobState.RUNNING: counting.running,
        JobState.COMPLETED: counting.noted,
    }
    async with bounded(conn, "this count", NARROW_HINT):
        if given.state is JobState.COMPLETED and not counting.is_noted:
            return await _walked(conn, given)
        return (await look(conn, ways.get(given.state, counting.finished)()))[state]


async def _by_id(conn: Connection, given: JobFilter) -> Counts:
    predicate = compile_filter(given)
    statement = run.statement("reading/count_ids").format(predicate=predicate.sql)
    found = {
        row["state"]: Count(row["jobs"])
        for row in await run.rows_of(conn, statement, predicate.params)
    }
    return {str(state): found.get(str(state), ZERO) for state in STATES}


async def _walked(conn: Connection, given: JobFilter) -> Count:
    wanted = given.model_copy(update={"state": JobState.COMPLETED})
    walk = Walk(conn, wanted, COMPLETED_WALK_JOBS + 1, JOB_ID_MAX, COMPLETED_WALK_S)
    await walk.go()
    if walk.below > 1 and len(walk.rows) <= COMPLETED_WALK_JOBS:
        return Count(len(walk.rows), "at_least")
    return capped(len(walk.rows), COMPLETED_WALK_JOBS)


class Counting:
    """One filter, whatever the state, asked place by place."""

    def __init__(self, given: JobFilter, at_most: int = AT_MOST_JOBS) -> None:
        self._given = given
        dear = given.args_contains is not None
        self._at_most = min(at_most, AT_MOST_PARSED_JOBS) if dear else at_most
        self._split = Split.of(given)

    @property
    def is_noted(self) -> bool:
        """Whether the leader notes completed jobs so: those of whole queues, of whole kinds, or all."""
        fields = self._given.given()
        return len(fields) <= 1 and fields.keys() <= _KEPT_BY_NAME.keys()

    def elsewhere(self) -> dict[str, Look[Counts]]:
        """All that don't wait in lanes."""
        looks = {
            "deferred": self.deferred(),
            "running": self.running(),
            "finished": self.finished(),
        }
        return {**looks, "noted": self.noted()} if self.is_noted else looks

    def backlog(self) -> Look[Counts]:
        """Those that wait in lanes."""
        return self._look("backlog", available="jobs")

    def deferred(self) -> Look[Counts]:
        """Those that wait for a time, or for a callback."""
        return self._look(
            "deferred",
            scheduled="scheduled",
            retryable="retryable",
            waiting_external="waiting_external",
        )

    def running(self) -> Look[Counts]:
        """Those that run."""
        return self._look("running", running="jobs")

    def finished(self) -> Look[Counts]:
        """Those that failed or were cancelled."""
        return self._look("finished", failed="failed", cancelled="cancelled")

    def noted(self) -> Look[Counts]:
        """Those that completed, as the leader noted them."""
        name, value = next(iter(self._given.given().items()), ("queue", None))
        names = [value] if isinstance(value, str) else value
        params = {"scope": _KEPT_BY_NAME[name], "names": names}

        def tell(rows: list[Row]) -> Counts:
            return {"completed": Count(sum(row["jobs"] for row in rows), "about")}

        return Look("reading/totals", params, tell)

    def _look(self, place: str, **columns: str) -> Look[Counts]:
        """A look at one place: the states it holds, each with the column that counts it."""
        statement = run.statement(f"reading/count_{place}").format(
            places=self._split.places.sql, rows=self._split.rows.sql
        )
        params: dict[str, Any] = {**self._split.params, "looked_max": self._at_most + 1}

        def tell(rows: list[Row]) -> Counts:
            (found,) = rows
            if found["looked"] <= self._at_most:
                return {state: Count(found[column]) for state, column in columns.items()}
            most = self._at_most
            return {state: capped_look(found[column], most) for state, column in columns.items()}

        return Look(statement, params, tell)


def merged(parts: Iterable[Counts]) -> Counts:
    """Counts of several places in one."""
    return {state: count for part in parts for state, count in part.items()}


def capped_look(found: int, at_most: int) -> Count:
    """A count that stopped after looking at `at_most` jobs."""
    return Count(min(found, at_most), "at_least")
