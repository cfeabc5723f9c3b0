"""The runner of batch operations, for as long as a term lasts. It runs beside the duties and in nobody's way."""

from awa.config import Settings
from awa.db.pool import Pool
from awa.events import runtime as events
from awa.maintenance.term import Term
from awa.maintenance.waiting import wait
from awa.operations.fence import LeaseLost
from awa.operations.runner import Runner

SURPRISE_WAIT_S = 1.0
SURPRISE_WAIT_MAX_S = 30.0


async def keep_operations(term: Term, pool: Pool, settings: Settings) -> None:
    """Let the runner serve until the term ends; a surprise ends one run of it, never the term."""
    wait_s = SURPRISE_WAIT_S
    while not term.is_over:
        try:
            await Runner(pool, term, settings).run(term.ended)
        except LeaseLost:
            return
        except Exception as problem:
            events.duty_failed("batch-operations", problem)
            await wait(term.ended, wait_s)
            wait_s = min(wait_s * 2, SURPRISE_WAIT_MAX_S)
