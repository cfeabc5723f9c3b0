"""The blocking twins, for tests that are plain functions."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Unpack, cast

from awa.bridge import at_once
from awa.bridge.facade import Facade
from awa.bridge.recognise import speaker_for
from awa.db.run import Connection
from awa.model.draft import JobOptions
from awa.model.job import Job
from awa.sync import Client
from awa.testing.draining import JOBS_MAX, drain
from awa.testing.enqueued import Asked, assert_enqueued, look
from awa.testing.ran import Ran
from awa.testing.running import run_job


def drain_sync(
    client: Client,
    queue: str | None = None,
    *,
    now: datetime | None = None,
    max_jobs: int = JOBS_MAX,
    reraise: bool = False,
) -> list[Ran]:
    """As `drain`, with the blocking client."""
    return client._portal.run(drain(client.aio, queue, now=now, max_jobs=max_jobs, reraise=reraise))


def run_job_sync(
    client: Client,
    given: Any,
    *,
    attempt: int | None = None,
    cancelled: bool = False,
    reraise: bool = True,
    **options: Unpack[JobOptions],
) -> Ran:
    """As `run_job`, with the blocking client."""
    return client._portal.run(
        run_job(client.aio, given, attempt=attempt, cancelled=cancelled, reraise=reraise, **options)
    )


def assert_enqueued_sync(
    where: Any, kind: str | type[Any] | None = None, **asked: Unpack[Asked]
) -> list[Job[Any]]:
    """As `assert_enqueued`, with the blocking client or a connection as `awa.bridge.insert_job_sync` takes it."""
    if isinstance(where, Client):
        return where._portal.run(assert_enqueued(where.aio, kind, **asked))
    facade = cast("Connection", Facade(speaker_for(where, blocking=True)))
    return at_once(look(facade, None, kind, asked))
