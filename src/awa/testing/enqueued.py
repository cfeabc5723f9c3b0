"""Asserting that jobs were inserted; a failure says what is there instead.

Looks through a client, or through a connection that a bridge speaks, which sees what its own transaction has
inserted and not committed: tests that roll everything back look that way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypedDict, Unpack, cast

import orjson

from awa.bridge.facade import Facade
from awa.bridge.recognise import speaker_for
from awa.client import AsyncClient
from awa.db.run import Connection, Row
from awa.model.filter import JobFilter
from awa.model.job import Job, job_from_row
from awa.model.limits import PAGE_MAX_ROWS
from awa.model.payload import encode, kind_of
from awa.model.states import JobState
from awa.model.task import Tasks
from awa.operations.compile import compile_filter
from awa.storage import read

WAITING: Final = (JobState.AVAILABLE, JobState.SCHEDULED, JobState.RETRYABLE)
SHOWN_MAX_JOBS: Final = 10
SHOWN_MAX_CHARS: Final = 200
LOOKED_AT_MAX_JOBS: Final = 10_000
_DOCUMENTS: Final = ("args", "tags", "metadata", "errors", "progress")


class Asked(TypedDict, total=False):
    """What jobs are asked for, beside their kind; None is the same as leaving out."""

    queue: str | None
    args: Any  # a mapping with some of the arguments, or an instance with all of them
    tag: str | None
    priority: int | None
    state: JobState | str | None  # else: waiting in any state
    count: int | None  # else: at least one


async def assert_enqueued(
    where: Any, kind: str | type[Any] | None = None, **asked: Unpack[Asked]
) -> list[Job[Any]]:
    """Assert that such jobs wait (or are in `state`), at least one or exactly `count`; answers them, oldest first.

    `where` is a client, or an async connection or session as `awa.bridge.insert_job` takes them. `kind` is a kind
    or the type of a job's arguments; also asked for may be `queue`, `args` (a mapping with some of them, or an
    instance with all), `tag` and `priority`. Raises AssertionError that shows what is there instead, and
    ValidationError for a question that makes no sense.
    """
    if isinstance(where, AsyncClient):
        async with where.connection() as conn:
            return await look(conn, where.tasks, kind, asked)
    facade = cast("Connection", Facade(speaker_for(where, blocking=False)))
    return await look(facade, None, kind, asked)


async def look(
    conn: Connection, tasks: Tasks | None, kind: str | type[Any] | None, asked: Asked
) -> list[Job[Any]]:
    """`assert_enqueued`, through any connection."""
    fields = {"kind": _kind(kind, tasks)} | {n: asked.get(n) for n in ("queue", "tag", "priority")}
    wanted = {name: value for name, value in fields.items() if value is not None}
    state, args, count = asked.get("state"), asked.get("args"), asked.get("count")
    states = WAITING if state is None else (JobState(state),)
    like = await _jobs(conn, wanted, states)
    found = [job for job in like if args is None or _has(job, args)]
    if len(found) == count or (count is None and found):
        return found
    if args is not None:
        wanted["args"] = args
    there = like or await _jobs(conn, {}, states)
    raise AssertionError(
        f"expected {'at least one' if count is None else count} of the jobs with {wanted or 'anything'}"
        f" in state {' or '.join(states)}, found {len(found)}. {_shown(there)}"
    )


async def _jobs(
    conn: Connection, wanted: Mapping[str, Any], states: tuple[JobState, ...]
) -> list[Job[Any]]:
    found = [job for state in states for job in await _in_state(conn, wanted, state)]
    return sorted(found, key=lambda job: job.id)


async def _in_state(conn: Connection, wanted: Mapping[str, Any], state: JobState) -> list[Job[Any]]:
    """All jobs in this state, up to a bound that no test should reach."""
    predicate = compile_filter(JobFilter.parse({**wanted, "state": state}))
    jobs: list[Job[Any]] = []
    while len(jobs) < LOOKED_AT_MAX_JOBS:
        rows = await read.list_jobs(
            conn,
            predicate.sql,
            predicate.params,
            limit=PAGE_MAX_ROWS,
            before_id=jobs[-1].id if jobs else None,
            state=state,
        )
        jobs += [job_from_row(_parsed(row)) for row in rows]
        if len(rows) < PAGE_MAX_ROWS:
            break
    return jobs


def _parsed(row: Row) -> Row:
    """The row with its documents read, if the driver left them as texts."""
    texts = {name: row[name] for name in _DOCUMENTS if isinstance(row[name], str)}
    return row | {name: orjson.loads(text) for name, text in texts.items()}


def _kind(kind: str | type[Any] | None, tasks: Tasks | None) -> str | None:
    if kind is None or isinstance(kind, str):
        return kind
    task = tasks.of_type(kind) if tasks is not None else None
    return task.kind if task is not None else kind_of(kind)


def _has(job: Job[Any], args: Any) -> bool:
    wanted: Any = orjson.loads(encode(args))
    if isinstance(args, Mapping):
        return all(name in job.args and job.args[name] == value for name, value in wanted.items())
    return bool(job.args == wanted)


def _shown(jobs: list[Job[Any]]) -> str:
    if not jobs:
        return "No job at all is there."
    lines = [
        f"  {job.kind} in {job.queue}, {job.state}, priority {job.priority}: {job.args}"
        for job in jobs[:SHOWN_MAX_JOBS]
    ]
    if len(jobs) > SHOWN_MAX_JOBS:
        lines.append(f"  and {len(jobs) - SHOWN_MAX_JOBS} more")
    return "\n".join(["There are:", *(_cut(line) for line in lines)])


def _cut(line: str) -> str:
    return line if len(line) <= SHOWN_MAX_CHARS else f"{line[:SHOWN_MAX_CHARS]}…"
