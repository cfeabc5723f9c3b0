"""The loop, written once: run a duty at its beat for as long as the term lasts.

Each duty has a task, a connection and a beat of its own, so a slow one delays nobody. One that fails is
told to the log and the metrics and comes again, later each time until it works. One that fills its bound
comes again at once, since there is more to do.
"""

import asyncio
import time

from awa.db import run
from awa.db.pool import Pool, connection
from awa.events import runtime as events
from awa.maintenance.duty import Duty
from awa.maintenance.term import Term
from awa.maintenance.waiting import wait
from awa.operations.fence import STATEMENT_MAX_MS, LeaseLost

BACKOFF_MAX_S = 30.0
# Beyond the statement's own limit: a duty whose connection answers nothing at all is given up.
HANGING_EXTRA_S = 5.0


async def keep_duty(duty: Duty, term: Term, pool: Pool, first_after_s: float = 0.0) -> None:
    """Run the duty until the term ends."""
    failures = 0
    await wait(term.ended, first_after_s)
    while not term.is_over:
        pause_s = duty.interval_s
        try:
            if await run_bounded(duty, term, pool) >= duty.bound:
                pause_s = 0.0
            failures = 0
        except LeaseLost:
            return
        except Exception as problem:
            # Whatever it is: one duty's surprise must not end the others.
            failures += 1
            longest_s = max(BACKOFF_MAX_S, duty.interval_s)
            pause_s = min(longest_s, duty.interval_s * 2 ** min(failures, 16))
            events.duty_failed(duty.name, problem)
        await wait(term.ended, pause_s)


async def run_bounded(duty: Duty, term: Term, pool: Pool) -> int:
    """Run the duty once, in a transaction of its own, inside the gate and within its time."""
    began = time.perf_counter()
    async with asyncio.timeout(duty.statement_max_ms / 1000 + HANGING_EXTRA_S):
        async with connection(pool) as conn, conn.transaction():
            await term.enter(conn)
            if duty.statement_max_ms != STATEMENT_MAX_MS:
                await run.row(conn, "operations/bounds", {"statement_ms": duty.statement_max_ms})
            count = await duty.run_once(conn, None)
    events.duty_took(duty.name, time.perf_counter() - began)
    return count
