"""A walk back through the ids of jobs, in stretches.

A rare kind behind a million others would make one statement as slow as the backlog is long. A stretch costs
what it costs, the next one is made as long as the last was quick, and when the budget is spent the walk
stops and says how far it came. How long a stretch is counts in rows: ids lie close here and far apart there, and a job that
was moved a hundred times has a hundred rows under one id.
"""

from time import monotonic
from typing import Final

from awa.db.run import Connection, Row
from awa.model.filter import JobFilter
from awa.model.states import JobState
from awa.operations.compile import compile_filter
from awa.operations.reading.split import Split
from awa.storage import read

# A walk stops when so much time is gone, wherever it is.
WALK_BUDGET_S: Final = 0.1
STRETCH_FIRST_ROWS: Final = 4_000
STRETCH_LEAST_ROWS: Final = 500
STRETCH_MOST_ROWS: Final = 250_000
# A stretch is at most so many times as long as the one before, and never so long that it would outlast the budget.
STRETCH_GROWTH_MAX: Final = 4.0
# Before anything dear is tried, jobs are looked for among so many of the newest.
NEWEST_FEW_ROWS: Final = 1_000
# Arguments have to be parsed to be asked, so fewer waiting jobs are.
FEW_PARSED_JOBS: Final = 20_000
NARROW_HINT: Final = "narrow the filter: give a queue, a state, or an interval of created_at"


class Walk:
    """One walk back through the ids, from `below` on, until `wanted` rows are found or time is up."""

    def __init__(
        self,
        conn: Connection,
        given: JobFilter,
        wanted: int,
        below: int,
        budget_s: float | None = None,
    ) -> None:
        self.rows: list[Row] = []
        # All jobs with this id and above have been looked at.
        self.below = below
        # How many jobs that match wait in lanes, where it came to be known on the way.
        self.waiting: int | None = None
        self._conn = conn
        self._given = given
        self._wanted = wanted
        self._budget_s = WALK_BUDGET_S if budget_s is None else budget_s
        self._split = Split.of(given)
        self._predicate = compile_filter(given)

    async def go(self) -> None:
        """Look at the places where such jobs can be."""
        where = read.PLACES.get(self._given.state, read.EVERYWHERE)
        if self._given.ids is not None or read.WHOLE.issuperset(where):
            await self._stretch(where)
        elif self._given.state is JobState.AVAILABLE:
            await self._available(where)
        elif self._given.state is JobState.COMPLETED:
            await self._completed()
        elif self._given.state is None and self._given.given():
            await self._selected()
        else:
            await self._back(where, self._budget_s)

    async def _selected(self) -> None:
        """Jobs in any state that a filter picks out: the newest few, all down to where jobs wait, then by id."""
        until_s = monotonic() + self._budget_s
        await self._stretch(
            read.EVERYWHERE, await self._next(read.EVERYWHERE, NEWEST_FEW_ROWS) or 1
        )
        if len(self.rows) >= self._wanted or self.below == 1:
            return
        found = await read.page_down_to_waiting(
            self._conn,
            self._predicate.sql,
            {**self._predicate.params, **self._split.params},
            places=self._split.places.sql,
            raw=self._split.raw.sql,
            limit=self._wanted - len(self.rows),
            before_id=self.below,
            waiting_max=read.FEW_WAITING_JOBS
            if self._given.args_contains is None
            else FEW_PARSED_JOBS,
        )
        if found is not None:
            self._take(found)
        if found is None or monotonic() < until_s:
            await self._back(read.EVERYWHERE, until_s - monotonic())

    async def _available(self, where: tuple[str, ...]) -> None:
        """A backlog that isn't large is read whole; of a large one the page is likely among the newest jobs."""
        found = await read.waiting_page(
            self._conn,
            self._predicate.sql,
            self._predicate.params,
            limit=self._wanted - len(self.rows),
            before_id=self.below,
            queues=self._split.queues,
            priority=self._split.priority,
        )
        if found is None:
            await self._back(where, self._budget_s)
        else:
            self._take(found)

    def _take(self, found: read.Found) -> None:
        self.rows += found.rows
        self.below = found.to_id
        self.waiting = found.waiting

    async def _completed(self) -> None:
        """None of the jobs ahead of their lane's cursor has been completed: of these ids only those that left a row."""
        places = self._split.places
        passed = await read.newest_passed(self._conn, places.sql, places.params)
        if await self._back(("finished",), self._budget_s / 2, down_to=(passed or 0) + 1):
            await self._back(("lanes", "finished"), self._budget_s)

    async def _back(self, where: tuple[str, ...], budget_s: float, *, down_to: int = 1) -> bool:
        """Stretch after stretch; False if the budget was spent before the page was full or `down_to` was reached."""
        rows = STRETCH_FIRST_ROWS
        until_s = monotonic() + budget_s
        while len(self.rows) < self._wanted and self.below > down_to:
            began_s = monotonic()
            least = await self._next(where, rows)
            if self.below <= down_to:
                self.below = down_to
                return True
            await self._stretch(where, max(down_to, least))
            now_s = monotonic()
            if now_s > until_s:  # never before the first stretch: each page gets on
                break
            rows = _next_length(rows, now_s - began_s, until_s - now_s)
        return len(self.rows) >= self._wanted or self.below <= down_to

    async def _next(self, where: tuple[str, ...], rows: int) -> int:
        """The walk goes to the next id that there is; answers how far down so many rows reach, 0 where there is no job."""
        newest, least = await read.next_stretch(self._conn, where, self.below, rows)
        self.below = newest + 1
        return least

    async def _stretch(self, where: tuple[str, ...], from_id: int = 1) -> None:
        """Add the jobs with ids from `from_id` to below the place where the walk is."""
        self.rows += await read.stretch(
            self._conn,
            where,
            self._predicate.sql,
            self._predicate.params,
            limit=self._wanted - len(self.rows),
            before_id=self.below,
            from_id=from_id,
        )
        self.below = from_id


def _next_length(rows: int, took_s: float, left_s: float) -> int:
    """How long the next stretch is, if the last one was so long and took so much, and so much time is left."""
    growth = min(STRETCH_GROWTH_MAX, left_s / max(took_s, 1e-6))
    return max(min(rows, STRETCH_LEAST_ROWS), min(STRETCH_MOST_ROWS, round(rows * growth)))
