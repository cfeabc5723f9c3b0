"""Ending attempts, in sets: completed, retried, failed, cancelled, snoozed, returned, waiting."""

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from awa.db import run
from awa.db.arrays import int4_array, int8_array
from awa.db.run import Connection
from awa.storage.documents import documents

T = TypeVar("T")


class Ending(NamedTuple):
    """How one attempt ended. `delay_s` None takes the default backoff; `metadata` is merged into the job's.

    `callback_id` is the callback that an attempt with the outcome `waiting` waits for.
    """

    lane_id: int
    claim_no: int
    lane_seq: int
    outcome: str
    delay_s: float | None = None
    error: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    callback_id: UUID | None = None


async def finish(
    conn: Connection, runtime_id: UUID | None, endings: Sequence[Ending]
) -> dict[int, str]:
    """Ends attempts; answers lane_seq -> the job's state now, only for those that were still owned.

    Sending the same endings twice changes nothing the second time.
    """
    if not endings:
        return {}
    if all(e.outcome == "completed" and not e.metadata for e in endings):
        lost = await complete(conn, runtime_id, *zip(*(e[:3] for e in endings), strict=True))
        return {e.lane_seq: "completed" for e in endings if e.lane_seq not in lost}
    rows = await run.tuples(
        conn,
        "storage/finish",
        {
            "runtime_id": runtime_id,
            "lane_ids": [e.lane_id for e in endings],
            "claim_nos": [e.claim_no for e in endings],
            "lane_seqs": [e.lane_seq for e in endings],
            "outcomes": [e.outcome for e in endings],
            "delays_s": _unless_all_none([e.delay_s for e in endings]),
            "errors": documents([e.error for e in endings]),
            "metadata": documents([e.metadata for e in endings]),
            "callbacks": _unless_all_none([e.callback_id for e in endings]),
        },
        binary=True,
    )
    return dict(rows)


async def complete(
    conn: Connection,
    runtime_id: UUID | None,
    lane_ids: Sequence[int],
    claim_nos: Sequence[int],
    lane_seqs: Sequence[int],
) -> set[int]:
    """Ends attempts as completed, with nothing more to say of them; answers the lane_seqs no longer owned."""
    params = {
        "runtime_id": runtime_id,
        "lane_ids": int4_array(lane_ids),
        "claim_nos": int8_array(claim_nos),
        "lane_seqs": int8_array(lane_seqs),
    }
    return {row[0] for row in await run.tuples(conn, "storage/complete", params)}


def _unless_all_none(values: list[T | None]) -> list[T | None] | None:
    return None if all(value is None for value in values) else values
