"""A job that is found by its unique key, not by its id."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from awa.db.run import Connection
from awa.model.draft import JobOptions, check_options, prepare, queue_for
from awa.model.errors import Conflict, NotFound, invalid_field
from awa.model.job import Job
from awa.model.task import Tasks
from awa.operations import single
from awa.storage import unique


class Key(NamedTuple):
    """What makes the key, as an insert would say it."""

    kind: str | None
    args_json: bytes
    queue: str
    unique_opts: dict[str, Any]
    run_at: datetime | None


class _ChangedHands(Exception):
    """Somebody else holds the key by now."""


def key_of(
    args: object, options: JobOptions, tasks: Tasks | None = None, *, key: str | None = None
) -> Key:
    """The key of a job with these arguments and options. Raises ValidationError.

    An own key may be given alone. Without unique options those of the task count, else kind and arguments.
    """
    if key is not None:
        if options.get("unique_opts") is not None:
            raise invalid_field(
                "key", "is a unique option too, say all in unique_opts or just a key"
            )
        options = {**options, "unique_opts": {"key": key}}
    checked = check_options(options)
    if checked.unique_opts is not None and "key" in checked.unique_opts and args is None:
        queue = queue_for([checked.kind] if checked.kind else [], checked, tasks)
        return Key(checked.kind, b"{}", queue, checked.unique_opts, checked.run_at)
    if args is None and checked.kind is None:
        raise invalid_field("args", "say whose key: the arguments, a kind, or an own key")
    prepared = prepare({} if args is None else args, checked, tasks)
    own = prepared.options.unique_opts
    return Key(
        prepared.kind,
        prepared.args_json,
        queue_for([prepared.kind], checked, tasks),
        {} if own is None else own,
        checked.run_at,
    )


async def told(conn: Connection, job_id: int, queue: str, state: str) -> dict[str, Any] | None:
    """A job's unique key for people: `by`, `states`, `held`, `holder`, and a sentence of it. None if it isn't unique."""
    row = await unique.of_job(conn, job_id, queue, state)
    if row is None:
        return None
    said = {
        "an own key": row["by_key"],
        "kind": not row["by_key"],
        "arguments": row["by_args"],
        "some arguments": row["by_some_args"],
        "queue": row["by_queue"],
        "period": row["by_period"],
    }
    by = [word for word, is_part in said.items() if is_part]
    return {
        "by": by,
        "states": row["states"],
        "held": row["holder"] == job_id,
        "holder": row["holder"],
        "told": _sentence(job_id, state, row),
    }


def _sentence(job_id: int, state: str, row: dict[str, Any]) -> str:
    if row["holder"] == job_id:
        return "it holds its key, which keeps others out"
    if not row["wanted"]:
        return f"its key is not held while it is {state}"
    if row["holder"] is None:
        return "it goes on without its key, which another job had; nobody holds it now"
    return f"it goes on without its key, which job {row['holder']} holds"


async def holder(conn: Connection, key: Key) -> int | None:
    """The job that holds the key; None: nobody does."""
    found: int | None = await unique.holder(conn, **key._asdict())
    return found


async def cancel_by_unique_key(
    conn: Connection, key: Key, *, reason: str | None = None
) -> Job[Any]:
    """Cancel the job that holds the key, and only while it does. Raises NotFound, and Conflict as `cancel_job`."""
    while True:
        job_id = await holder(conn, key)
        if job_id is None:
            raise NotFound(
                "no job holds that unique key",
                hint="say arguments, queue and unique options as the insert did",
            )

        async def still(held_by: int = job_id) -> None:
            if await holder(conn, key) != held_by:
                raise _ChangedHands

        try:
            return await single.cancel_job(conn, job_id, reason=reason, still=still)
        except _ChangedHands:
            continue
        except (Conflict, NotFound):
            if await holder(conn, key) == job_id:
                raise
