"""Queues: pausing and resuming, shards, limits, counts."""

from collections.abc import Mapping
from typing import Any

from awa.db import run
from awa.db.run import Connection, Row


async def pause(conn: Connection, queue: str, paused_by: str | None = None) -> Row:
    """Stops claims from the queue; pausing twice keeps who did it first."""
    found = await run.row(conn, "storage/pause_queue", {"queue": queue, "paused_by": paused_by})
    assert found is not None
    return found


async def resume(conn: Connection, queue: str) -> Row | None:
    """Lets workers claim again; None for a queue that was never paused nor configured."""
    found = await run.row(conn, "storage/resume_queue", {"queue": queue})
    if found is not None:
        found.pop("woken")
    return found


async def set_enqueue_shards(conn: Connection, queue: str, shards: int) -> Row:
    """Spreads each priority of the queue over `shards` lanes from now on, 1 to 64."""
    found = await run.row(conn, "storage/set_enqueue_shards", {"queue": queue, "shards": shards})
    assert found is not None
    return found


async def set_limits(conn: Connection, queue: str, changes: Mapping[str, Any]) -> Row:
    """Sets what `awa.model.queue_limits.queue_limits` answered, and leaves the other limits as they are."""
    params = {
        "queue": queue,
        "set_max_running": "max_running" in changes,
        "set_rate": "rate_limit" in changes,
        **dict.fromkeys(("max_running", "rate_limit", "rate_period_s")),
        **changes,
    }
    found = await run.row(conn, "storage/set_queue_limits", params)
    assert found is not None
    found.pop("woken")
    return found


async def held_by(conn: Connection, queue: Mapping[str, Any]) -> str | None:
    """Which limit of the queue is used up: max_running | rate; `queue` is a row with its name and its limits."""
    if queue["max_running"] is None and queue["rate_limit"] is None:
        return None
    room = await run.row(conn, "storage/queue_room", {"queue": queue["queue"]})
    assert room is not None
    if queue["max_running"] is not None and room["running"] >= queue["max_running"]:
        return "max_running"
    if queue["rate_limit"] is not None and room["started"] >= queue["rate_limit"]:
        return "rate"
    return None


async def exists(conn: Connection, queue: str) -> bool:
    """Whether anything was ever said of or put into the queue."""
    return bool(await run.value(conn, "storage/queue_exists", {"queue": queue}))


async def stats(conn: Connection, queue: str | None = None) -> list[Row]:
    """Each queue with its jobs by state, its pause, and the age of what waits longest, in seconds."""
    return await run.rows(conn, "storage/queue_stats", {"queue": queue})


async def waiting_ids(conn: Connection, queue: str, *, after_id: int, limit: int) -> list[int]:
    """Ids of waiting jobs of the queue above `after_id`, ascending."""
    params = {"queue": queue, "after_id": after_id, "max_rows": limit}
    return [row["id"] for row in await run.rows(conn, "storage/waiting_ids", params)]
