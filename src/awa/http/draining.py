"""Draining a queue within one request: in small transactions, for some seconds, and honest about the rest."""

import time
from dataclasses import dataclass

from fastapi import Request

from awa.http.context import changing, reading, with_actor
from awa.model.limits import check_queue, check_reason
from awa.operations import single
from awa.storage import queues

DRAIN_MAX_S = 20.0


@dataclass(frozen=True, slots=True)
class Drained:
    """How many were cancelled, and whether time was up before the end."""

    drained: int
    more: bool


async def drain(request: Request, queue: str, reason: str | None) -> Drained:
    """Cancel what waits in the queue, a thousand jobs a transaction, until it is empty or `DRAIN_MAX_S` are over.

    The reason that stays with each job names who asked. Jobs that come meanwhile may be cancelled, too.
    """
    check_queue(queue)
    said = with_actor(request, check_reason(reason) or "the queue was drained")
    until_s = time.monotonic() + DRAIN_MAX_S
    drained, after_id = 0, 0
    while True:
        async with reading(request) as conn:
            ids = await queues.waiting_ids(
                conn, queue, after_id=after_id, limit=single.DRAIN_LIST_JOBS
            )
        for first in range(0, len(ids), single.DRAIN_PAGE_JOBS):
            if time.monotonic() > until_s:
                return Drained(drained, more=True)
            page = ids[first : first + single.DRAIN_PAGE_JOBS]
            async with changing(request) as conn:
                drained += await single.drain_page(conn, queue, page, reason=said)
        if len(ids) < single.DRAIN_LIST_JOBS:
            return Drained(drained, more=False)
        after_id = ids[-1]
