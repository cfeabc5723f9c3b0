"""One job with its story, its operations, and what can be done with it."""

from typing import Any, Final

from awa.db import run
from awa.db.run import Connection, Row
from awa.model.errors import NotFound
from awa.model.masking import DEFAULT_MASK, NO_MASK, Mask
from awa.model.states import WAITING_STATES, JobState
from awa.operations import unique
from awa.operations.reading import timeline
from awa.operations.reading.bounds import bounded
from awa.operations.single import check_job_id
from awa.storage import callbacks, read
from awa.storage.limited import concurrency_of

STATIONS_MAX_ROWS: Final = 200
OPERATIONS_MAX_ROWS: Final = 50
OPERATIONS_LOOKED_MAX: Final = 500

_CANCELLABLE: Final = WAITING_STATES | {JobState.RUNNING, JobState.WAITING_EXTERNAL}
_RETRYABLE: Final = frozenset(
    {JobState.FAILED, JobState.CANCELLED, JobState.RETRYABLE, JobState.SCHEDULED}
)
_ACTIONS: Final = {
    "cancel": _CANCELLABLE,
    "retry": _RETRYABLE,
    "set_priority": WAITING_STATES,
    "move": WAITING_STATES,
}
_ENDED: Final = {
    "completed": "completed",
    "failed": "failed",
    "cancelled": "been cancelled",
}
# Why an action is not possible, by action and state; each begins like an answer to "why not?".
_WHY_NOT: Final = {
    "cancel": {"completed": "it has completed", "failed": "it has failed", "cancelled": "it is cancelled already"},
    "retry": {
        "completed": "it has completed; enqueue it again instead",
        "available": "it is waiting to be run already",
        "running": "it runs now",
        "waiting_external": "it waits for a callback; answer that instead",
    },
}  # fmt: skip


async def detail(
    conn: Connection, job_id: int, *, mask: Mask = DEFAULT_MASK, reveal: bool = False
) -> dict[str, Any]:
    """The job, its events oldest first, its operations newest first, who runs it, and the actions that are possible.

    Secrets are hidden unless `reveal` is set; `masked` says whether there were any. Raises NotFound, ValidationError.
    """
    check_job_id(job_id)
    async with bounded(conn, "this job's story", "try again in a moment"):
        job = await read.get_job(conn, job_id)
        if job is None:
            raise NotFound(
                f"there is no job {job_id}", hint="it may have been removed after its retention"
            )
        stations = await run.rows(
            conn, "reading/job_stations", {"id": job_id, "max_rows": STATIONS_MAX_ROWS}
        )
        bounds = {"looked_max": OPERATIONS_LOOKED_MAX, "max_rows": OPERATIONS_MAX_ROWS}
        operations = await run.rows(conn, "reading/job_operations", {"id": job_id, **bounds})
        runtime = await _runtime(conn, job, stations)
        answers = await callbacks.of_job(conn, job_id)
        key = await unique.told(conn, job_id, job["queue"], job["state"])
        concurrency = await concurrency_of(conn, job_id)
    events = timeline.events(job, stations, operations, answers)
    shown, masked = (NO_MASK if reveal else mask).row(job)
    return {
        "job": shown,
        "masked": masked,
        "events": events,
        "operations": operations,
        "runtime": runtime,
        "callbacks": [_masked(NO_MASK if reveal else mask, one) for one in answers],
        "unique": key,
        "concurrency": concurrency,
        "actions": actions(job["state"]),
    }


def actions(state: str) -> dict[str, str | None]:
    """What can be done with a job in this state: None where it can, else why not."""
    return {
        name: None if state in possible else _why_not(name, state)
        for name, possible in _ACTIONS.items()
    }


def _masked(mask: Mask, callback: Row) -> Row:
    hidden = {name: mask.value(callback[name])[0] for name in ("payload", "error")}
    return {**callback, **hidden}


def _why_not(action: str, state: str) -> str:
    told = _WHY_NOT.get(action, {}).get(state)
    if told is not None:
        return told
    if state == "waiting_external":
        return "it waits for a callback; only a waiting job can be moved or reprioritised"
    if state == "running":
        return "it has been claimed; only a waiting job can be moved or reprioritised"
    return f"it has {_ENDED[state]}; only a waiting job can be moved or reprioritised"


async def _runtime(conn: Connection, job: Row, stations: list[Row]) -> Row | None:
    claimed = [station["runtime_id"] for station in stations if station["runtime_id"]]
    runtime_id = job["runtime_id"] or (claimed[-1] if claimed else None)
    if runtime_id is None:
        return None
    return await run.row(conn, "reading/runtime", {"id": runtime_id})
