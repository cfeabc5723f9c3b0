"""Runtimes: programs that claim jobs or keep house, and their signs of life."""

import os
import socket
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from psycopg.types.json import Jsonb

from awa.db import run
from awa.db.run import Connection, Row
from awa.storage.documents import documents

LIST_MAX_ROWS = 500


class Beat(NamedTuple):
    """`alive` False: declared dead, drop everything. `lost`: positions given that are no longer owned."""

    alive: bool
    db_now: datetime
    lost: list[int]


async def register(
    conn: Connection,
    runtime_id: UUID,
    roles: Sequence[str],
    queues: Mapping[str, int],
    version: str = "",
    *,
    app: str | None = None,
    schedules: Sequence[str] | None = None,
    on_failed: Sequence[str] | None = None,
) -> datetime:
    """Writes the runtime down; answers the database's clock.

    `schedules` are the names of those that its program declares, of `app`; None says nothing about any.
    `on_failed` are the kinds whose tasks have one.
    """
    found = await run.value(
        conn,
        "storage/register_runtime",
        {
            "id": runtime_id,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": version,
            "roles": sorted(roles),
            "queues": Jsonb(dict(queues)),
            "app": app,
            "schedules": None if schedules is None else list(schedules),
            "on_failed": None if on_failed is None else list(on_failed),
        },
    )
    assert isinstance(found, datetime)
    return found


async def heartbeat(
    conn: Connection,
    runtime_id: UUID,
    open_since: datetime | None,
    attempts: Sequence[tuple[int, int, int]] = (),
    *,
    progress: Sequence[dict[str, Any] | None] | None = None,
    metadata: Sequence[dict[str, Any] | None] | None = None,
) -> Beat:
    """Says that the runtime lives. `attempts` are (lane_id, claim_no, lane_seq) of its older open attempts.

    Everything the runtime claimed before `open_since` must be closed, or be among the attempts given now or
    before; None leaves it as it is. `progress` and changes of `metadata`, one for each attempt, are kept with it
    and stay with the job however the attempt ends.
    """
    found = await run.row(
        conn,
        "storage/heartbeat",
        {
            "runtime_id": runtime_id,
            "open_since": open_since,
            "lane_ids": [a[0] for a in attempts],
            "claim_nos": [a[1] for a in attempts],
            "lane_seqs": [a[2] for a in attempts],
            "progress": documents(progress or ()),
            "metadata": documents(metadata or ()),
        },
    )
    assert found is not None
    return Beat(found["alive"], found["db_now"], found["lost"])


async def stop(conn: Connection, runtime_id: UUID) -> None:
    """Writes down that the runtime ended of its own will."""
    await run.rows(conn, "storage/stop_runtime", {"id": runtime_id})


async def list_runtimes(conn: Connection) -> list[Row]:
    """The runtimes, newest first, at most 500."""
    return await run.rows(conn, "storage/list_runtimes", {"max_rows": LIST_MAX_ROWS})
