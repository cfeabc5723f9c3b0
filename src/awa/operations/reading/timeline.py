"""The story of a job: what happened to it, when, by whom, as far as the database still knows.

It is read from what the engine keeps anyway: the places where the job stood in lanes, the claims and ends of
its attempts, the errors in its row, the operations that listed it. Old places go with their slot of the ring;
of those the errors still tell. So a long story may have lost its middle, but nothing in it is made up.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from awa.db.run import Row

_ENDS: Final[Mapping[str, tuple[str, str]]] = {
    "completed": ("completed", "Completed"),
    "recorded": ("completed", "Completed"),
    "retried": ("attempt_failed", "Attempt {attempt} failed; it will be tried again"),
    "failed": ("failed", "Attempt {attempt} failed for good"),
    "cancelled": ("cancelled", "Cancelled while it ran"),
    "snoozed": ("snoozed", "Snoozed by its handler"),
    "returned": ("returned", "Handed back unfinished by a runtime that shut down"),
    "waiting": ("waiting", "Attempt {attempt} ended, to wait for a callback"),
}
_ANSWERS: Final[Mapping[str, str]] = {
    "complete": "The callback was completed",
    "fail": "The callback was failed",
    "retry": "The callback asked for another attempt",
    "resume": "The callback resumed it",
    "time_out": "No answer to the callback came in time",
}
_LEFT: Final[Mapping[str, tuple[str, str]]] = {
    "moved": ("moved", "Taken out of {queue}, priority {priority}"),
    "cancelled": ("cancelled", "Cancelled while it waited"),
}
_DEEDS: Final[Mapping[str, str]] = {
    "processed": "Changed by the operation",
    "skipped": "Skipped by the operation",
    "errored": "The operation could not change it",
    "pending": "Listed by an operation that has not come to it yet",
}


def events(
    job: Row,
    stations: Sequence[Row],
    operations: Sequence[Row],
    callbacks: Sequence[Row] = (),
) -> list[dict[str, Any]]:
    """The events of a job, oldest first; one that lies ahead (`future`) comes last."""
    told = [_enqueued(job, stations)]
    errors = {error.get("attempt"): error for error in job["errors"] if isinstance(error, dict)}
    seen: set[Any] = set()
    around = zip([None, *stations], stations, [*stations[1:], None], strict=False)
    for before, station, after in around:
        told += _station(station, errors, seen, before, after)
    told += _old_errors(job, errors, seen)
    told += _of_operations(operations)
    told += _of_callbacks(callbacks)
    told += _end(job, told)
    told.sort(key=lambda event: event["at"])
    return told + list(_ahead(job))


def _event(at: datetime, what: str, text: str, **more: Any) -> dict[str, Any]:
    return {
        "at": at,
        "what": what,
        "text": text,
        "attempt": None,
        "duration_s": None,
        "error": None,
        "error_kind": None,
        "traceback": None,
        "runtime_id": None,
        "operation_id": None,
        "future": False,
        **more,
    }


def _enqueued(job: Row, stations: Sequence[Row]) -> dict[str, Any]:
    first = stations[0] if stations else job
    queue = job["metadata"].get("_awa_original_queue", first["queue"])
    priority = job["metadata"].get("_awa_original_priority", first["priority"])
    return _event(
        job["created_at"], "enqueued", f"Enqueued as {job['kind']} in {queue}, priority {priority}"
    )


def _station(
    station: Row,
    errors: Mapping[Any, Any],
    seen: set[Any],
    before: Row | None,
    after: Row | None,
) -> Iterator[dict[str, Any]]:
    place = {"queue": station["queue"], "priority": station["priority"]}
    # One that was handed back keeps its turn, so it did not become ready again.
    ready_before = station["created_at"] if before is None else before["ready_at"]
    if station["ready_at"] > ready_before:
        text = "Ready in {queue}, priority {priority}".format(**place)
        yield _event(station["ready_at"], "ready", text)
    if station["dead_reason"] is not None:
        what, text = _LEFT.get(
            station["dead_reason"], ("left", f"Left its lane: {station['dead_reason']}")
        )
        at = station["dead_at"]
        if station["dead_reason"] == "moved" and after is not None:
            at = min(at, after["ready_at"])  # made by the same statement, a moment earlier
        yield _event(at, what, text.format(**place))
    if station["claimed_at"] is None:
        return
    attempt = station["attempt"] + 1
    who = _who(station["host"], station["pid"], station["runtime_id"])
    by = {"attempt": attempt, "runtime_id": station["runtime_id"]}
    yield _event(station["claimed_at"], "claimed", f"Attempt {attempt} claimed by {who}", **by)
    if station["outcome"] is not None:
        seen.add(attempt)
        what, text = _ENDS[station["outcome"]]
        failed = station["outcome"] in {"retried", "failed", "cancelled"}
        error = _error(errors.get(attempt)) if failed else {}
        took_s = (station["closed_at"] - station["claimed_at"]).total_seconds()
        text = text.format(attempt=attempt)
        yield _event(station["closed_at"], what, text, duration_s=max(0.0, took_s), **by, **error)


def _old_errors(job: Row, errors: Mapping[Any, Any], seen: set[Any]) -> Iterator[dict[str, Any]]:
    """Failed attempts whose place in a lane is gone; their errors remain."""
    for attempt, error in errors.items():
        at = _moment(error.get("at"))
        if attempt in seen or at is None or error.get("kind") == "Cancelled":
            continue
        text = f"Attempt {attempt} failed"
        yield _event(at, "attempt_failed", text, attempt=attempt, **_error(error))


def _of_operations(operations: Sequence[Row]) -> Iterator[dict[str, Any]]:
    for operation in operations:
        why = operation["error"] or operation["item_reason"]
        text = f"{_DEEDS[operation['outcome']]} ({operation['op_kind']})"
        yield _event(
            operation["processed_at"] or operation["submitted_at"],
            "operation",
            f"{text}: {why}" if why and operation["outcome"] != "processed" else text,
            operation_id=operation["id"],
        )


def _of_callbacks(callbacks: Sequence[Row]) -> Iterator[dict[str, Any]]:
    """Their answers. One that had no effect yet waits for its attempt, or came for one that ended otherwise."""
    for callback in callbacks:
        if callback["resolution"] in {None, "abandoned"}:
            continue
        by = callback["resolved_by"]
        who = f", by {by}" if by and by != "awa" else ""
        text = f"{_ANSWERS[callback['resolution']]}{who}"
        yield _event(callback["resolved_at"], "answered", text, attempt=callback["attempt"])


def _end(job: Row, told: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The end, where the place that would tell of it is gone or never was."""
    state = job["state"]
    if job["finalized_at"] is None or any(event["what"] == state for event in told):
        return
    last = job["errors"][-1] if job["errors"] else None
    error = _error(last) if state != "completed" else {}
    yield _event(job["finalized_at"], state, state.capitalize(), attempt=job["attempt"], **error)


def _ahead(job: Row) -> Iterator[dict[str, Any]]:
    if job["state"] == "scheduled":
        yield _event(job["run_at"], "due", "Will be ready", future=True)
    elif job["state"] == "retryable":
        text = f"Attempt {job['attempt'] + 1} will be ready"
        yield _event(job["run_at"], "due", text, attempt=job["attempt"] + 1, future=True)
    elif job["state"] == "waiting_external":
        text = "The wait for the callback ends"
        yield _event(job["run_at"], "due", text, attempt=job["attempt"], future=True)
    elif job["state"] == "running" and job["deadline_at"] is not None:
        yield _event(job["deadline_at"], "deadline", "The attempt has to end", future=True)


def _error(error: Any) -> dict[str, Any]:
    if not isinstance(error, dict):
        return {}
    return {
        "error": _text(error.get("error")),
        "error_kind": _text(error.get("kind")),
        "traceback": _text(error.get("traceback")),
    }


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.utcoffset() is not None else None


def _who(host: str | None, pid: int | None, runtime_id: UUID | None) -> str:
    if host is not None:
        return f"{host} (pid {pid})"
    return f"runtime {runtime_id}" if runtime_id else "an unknown runtime"
