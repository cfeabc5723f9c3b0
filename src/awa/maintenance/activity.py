"""Notes of activity: how much was done since the last look, in all, by queue and by kind.

The database keeps a day's claims and ends, but no index by time over them: it would cost every job
something to answer a question that is asked now and then. So the leader looks every few seconds at what is
new (claims by their runtime, ends in the last pages of their tables) and writes a few rows down. Sums are of
everything; kinds, waits and run times come from a sample and are scaled. Whatever becomes visible later than
`LAG_S` after it happened is left out: the figures are for looking at, and say "about".
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from psycopg.types.json import Jsonb

from awa.db import run
from awa.db.run import Connection, Row
from awa.model import histogram

INTERVAL_S: Final = 10.0
LAG_S: Final = 2.0
KEEP_S: Final = 65 * 60
# After a longer time without a leader only the totals are brought up to date: a rate over an hour says nothing.
GAP_MAX_S: Final = 300.0
# Pages that are read again, and what is read at most of a table after a long time.
OVERLAP_BLOCKS: Final = 64
BLOCKS_MAX: Final = 65_536
SAMPLE_CLAIMS: Final = 300
# The first look has all that was ever done in front of it.
FIRST_SAMPLE_CLAIMS: Final = 3_000
SAMPLE_JOBS: Final = 10
# So many queues and kinds have notes of their own; the others share one, under no name.
NAMES_MAX: Final = 100

_COLUMNS: Final = {
    "completed": "completed",
    "recorded": "completed",
    "failed": "failed",
    "retried": "retried",
    "cancelled": "cancelled",
}


async def run_once(conn: Connection, now: datetime | None = None) -> int:
    """Note what was done since the last time; answers how many attempts ended."""
    state = await run.row(conn, "maintenance/activity_begin", {"lag_s": LAG_S, "now": now})
    assert state is not None
    since, until = state["since"], state["until"]
    if since is not None and until <= since:
        return 0
    notes = Notes()
    totals = _Totals()
    await _forget_emptied(conn, state)
    for slot, length in enumerate(state["lengths"]):
        if length:
            rows = await _ended(conn, slot, length, state)
            totals.add(slot, rows)
            notes.ended(rows)
    answered = await run.rows(
        conn, "maintenance/activity_answered", {"since": since, "until": until}
    )
    for row in answered:
        totals.add(row["slot"], [row])
    notes.answered(answered)
    if totals.rows:
        await run.rows(conn, "maintenance/activity_totals", {"totals": Jsonb(totals.json())})
    seconds = 0.0 if since is None else (until - since).total_seconds()
    if 0 < seconds <= GAP_MAX_S:
        await _note(conn, notes, state, seconds)
    end = {"last_position": state["position"], "blocks": state["lengths"], "keep_s": KEEP_S}
    await run.rows(conn, "maintenance/activity_end", {"until": until, **end})
    return notes.all.ended


async def _forget_emptied(conn: Connection, state: Row) -> None:
    before = state["blocks"]
    emptied = [
        slot
        for slot, length in enumerate(state["lengths"])
        if slot < len(before) and length < before[slot]
    ]
    for slot in emptied:
        before[slot] = 0
    if emptied:
        await run.rows(conn, "maintenance/activity_forget_slots", {"slots": emptied})


async def _ended(conn: Connection, slot: int, length: int, state: Row) -> list[Row]:
    before = state["blocks"][slot] if slot < len(state["blocks"]) else 0
    first = max(0, before - OVERLAP_BLOCKS, length - BLOCKS_MAX)
    params = {
        "slot": slot,
        "from_tid": f"({first},0)",
        "since": state["since"],
        "until": state["until"],
        "closures_max": SAMPLE_CLAIMS if state["since"] else FIRST_SAMPLE_CLAIMS,
        "jobs_max": SAMPLE_JOBS,
    }
    return scaled(await run.rows(conn, "maintenance/activity_ended", params))


async def _note(conn: Connection, notes: "Notes", state: Row, seconds: float) -> None:
    interval = {"since": state["since"], "until": state["until"]}
    sample = {"claims_max": SAMPLE_CLAIMS, "jobs_max": SAMPLE_JOBS}
    started = await run.rows(conn, "maintenance/activity_started", {**interval, **sample})
    notes.started(scaled(started))
    positions = {"after_position": state["last_position"], "upto_position": state["position"]}
    notes.arrived(await run.rows(conn, "maintenance/activity_arrived", positions))
    params = {"at": state["until"], "seconds": seconds, "notes": Jsonb(notes.json())}
    await run.rows(conn, "maintenance/activity_note", params)


def scaled(rows: list[Row]) -> list[Row]:
    """The same rows, the weights of the sampled ones scaled so that they add up to the sums of their queue and outcome."""
    whole: dict[tuple[str, str | None], float] = defaultdict(float)
    seen: dict[tuple[str, str | None], float] = defaultdict(float)
    for row in rows:
        key = row["queue"], row.get("outcome")
        if row["kind"] is None:
            whole[key] += row["jobs"]
        else:
            seen[key] += row["weight"]
    for row in rows:
        if row["kind"] is not None:
            key = row["queue"], row.get("outcome")
            row["weight"] *= whole[key] / seen[key]
    return rows


@dataclass(slots=True)
class Note:
    """What was done, of one name."""

    arrived: float = 0
    started: float = 0
    outcomes: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    pickup: list[float] = field(default_factory=lambda: [0.0] * histogram.BUCKETS)
    run: list[float] = field(default_factory=lambda: [0.0] * histogram.BUCKETS)

    @property
    def ended(self) -> int:
        """Attempts that ended, however."""
        return round(sum(self.outcomes.values()))

    @property
    def weight(self) -> float:
        """What decides who has a note of its own."""
        return self.arrived + self.started + self.ended

    def add(self, other: "Note") -> None:
        """Add another note to this one."""
        self.arrived += other.arrived
        self.started += other.started
        for outcome, jobs in other.outcomes.items():
            self.outcomes[outcome] += jobs
        self.pickup = [a + b for a, b in zip(self.pickup, other.pickup, strict=True)]
        self.run = [a + b for a, b in zip(self.run, other.run, strict=True)]

    def json(self, scope: str, name: str) -> dict[str, Any]:
        """The columns of awa.activity."""
        columns: dict[str, float] = defaultdict(float)
        for outcome, jobs in self.outcomes.items():
            columns[_COLUMNS.get(outcome, "other")] += jobs
        names = ("completed", "failed", "retried", "cancelled", "other")
        return {
            "scope": scope,
            "name": name,
            "arrived": round(self.arrived),
            "started": round(self.started),
            **{column: round(columns[column]) for column in names},
            "pickup": [round(jobs) for jobs in self.pickup],
            "run": [round(jobs) for jobs in self.run],
        }


class Notes:
    """The notes of one interval."""

    def __init__(self) -> None:
        self.all = Note()
        self.queues: dict[str, Note] = defaultdict(Note)
        self.kinds: dict[str, Note] = defaultdict(Note)

    def ended(self, rows: Iterable[Row]) -> None:
        """Add attempts that ended."""
        for row in rows:
            if row["kind"] is None:
                for note in (self.all, self.queues[row["queue"]]):
                    note.outcomes[row["outcome"]] += row["jobs"]
                continue
            bucket = histogram.bucket_of(row["ms"])
            self.kinds[row["kind"]].outcomes[row["outcome"]] += row["weight"]
            for note in self._of(row):
                note.run[bucket] += row["weight"]

    def answered(self, rows: Iterable[Row]) -> None:
        """Add jobs that callbacks moved on."""
        for row in rows:
            if row["kind"] is None:
                for note in (self.all, self.queues[row["queue"]]):
                    note.outcomes[row["outcome"]] += row["jobs"]
            else:
                self.kinds[row["kind"]].outcomes[row["outcome"]] += row["weight"]

    def started(self, rows: Iterable[Row]) -> None:
        """Add jobs that were claimed."""
        for row in rows:
            if row["kind"] is None:
                for note in (self.all, self.queues[row["queue"]]):
                    note.started += row["jobs"]
                continue
            bucket = histogram.bucket_of(row["ms"])
            self.kinds[row["kind"]].started += row["weight"]
            for note in self._of(row):
                note.pickup[bucket] += row["weight"]

    def arrived(self, rows: Iterable[Row]) -> None:
        """Add jobs that came into lanes."""
        for row in rows:
            for note in (self.all, self.queues[row["queue"]]):
                note.arrived += row["jobs"]

    def json(self) -> list[dict[str, Any]]:
        """The rows of awa.activity."""
        rows = [self.all.json("all", "")]
        for scope, named in (("queue", self.queues), ("kind", self.kinds)):
            rows += [note.json(scope, name) for name, note in _busiest(named)]
        return rows

    def _of(self, row: Row) -> Sequence[Note]:
        return self.all, self.queues[row["queue"]], self.kinds[row["kind"]]


def _busiest(named: dict[str, Note]) -> list[tuple[str, Note]]:
    ordered = sorted(named.items(), key=lambda item: (-item[1].weight, item[0]))
    kept, rest = ordered[:NAMES_MAX], ordered[NAMES_MAX:]
    if rest:
        others = Note()
        for _, note in rest:
            others.add(note)
        kept.append(("", others))
    return kept


class _Totals:
    """What is added to awa.activity_totals."""

    def __init__(self) -> None:
        self.rows: dict[tuple[int, str, str, str], float] = defaultdict(float)

    def add(self, slot: int, rows: Iterable[Row]) -> None:
        """Add the attempts of a slot that ended."""
        for row in rows:
            if row["kind"] is None:
                self.rows[slot, "queue", row["queue"], row["outcome"]] += row["jobs"]
            else:
                self.rows[slot, "kind", row["kind"], row["outcome"]] += row["weight"]

    def json(self) -> list[dict[str, Any]]:
        """The rows of awa.activity_totals."""
        return [
            {"slot": slot, "scope": scope, "name": name, "outcome": outcome, "jobs": round(jobs)}
            for (slot, scope, name, outcome), jobs in self.rows.items()
        ]
