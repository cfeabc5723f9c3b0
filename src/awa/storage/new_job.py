"""A job to insert, as the statements take it, and what an insert answers."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from psycopg.types.json import Jsonb

from awa.storage.documents import documents


class NewJob(NamedTuple):
    """A job to insert; `args_json` is the text of a JSON document."""

    kind: str
    args_json: str | bytes
    priority: int = 2
    run_at: datetime | None = None
    max_attempts: int = 25
    tags: Sequence[str] | None = None
    metadata: dict[str, Any] | None = None
    ordering_key: str | None = None
    unique_opts: dict[str, Any] | None = None  # as awa.model.unique checks them
    concurrency_key: str | None = None
    concurrency_limit: int = 1


class Inserted(NamedTuple):
    """Where a job went; `state` is available or scheduled, `created_at` the database's clock at the call.

    `insertion` says inserted, or, of a unique job whose key another one has, ignored or replaced: then the id is
    that of the other, and no state is told.
    """

    job_id: int
    state: str | None
    created_at: datetime
    insertion: str = "inserted"


def scalars(queue: str, job: NewJob) -> dict[str, Any]:
    """The parameters of one job, without its arguments."""
    return job._asdict() | {
        "queue": queue,
        "tags": list(job.tags) if job.tags else None,
        "metadata": Jsonb(job.metadata) if job.metadata else None,
    }


def arrays(queue: str, jobs: Sequence[NewJob]) -> dict[str, Any]:
    """The parameters of a set of jobs."""
    return {
        "queue": queue,
        "kinds": [job.kind for job in jobs],
        "args": [text(job.args_json) for job in jobs],
        "priorities": [job.priority for job in jobs],
        "run_ats": [job.run_at for job in jobs],
        "max_attempts": [job.max_attempts for job in jobs],
        "tags": documents([list(job.tags or ()) for job in jobs]),
        "metadata": documents([job.metadata for job in jobs]),
        "ordering_keys": [job.ordering_key for job in jobs],
        "concurrency_keys": [job.concurrency_key for job in jobs],
        "concurrency_limits": [job.concurrency_limit for job in jobs],
    }


def text(document: str | bytes) -> str:
    """JSON as text."""
    return document if isinstance(document, str) else document.decode()
