"""The demo's worker, as anyone would write one: `awa worker run awa.dev.demo_worker:client`.

Every kind of webhook has the same handler. It checks the signature that came with the delivery
against the body, and folds the delivery into the statistics of its repository.
"""

import asyncio
import hmac
import os
from pathlib import Path
from typing import Any, Final

from awa.client import AsyncClient
from awa.dev.deliveries import (
    DELIVERY_KEY,
    SIGNATURE_KEY,
    Trouble,
    canonical,
    deliveries,
    repository_of,
    sign,
    trouble,
)
from awa.dev.demo_plan import LEDGER_VARIABLE, PACE_VARIABLE, SECRET_VARIABLE
from awa.dev.ledger import HANDLED, REFUSED, STUMBLED, Ledger
from awa.model.job import Job
from awa.model.outcome import RetryAfter, TerminalError

BUSY_DELAY_S: Final = 1.0

client = AsyncClient(os.environ["AWA_DATABASE_URL"])
_secret: Final = os.environ[SECRET_VARIABLE].encode()
_pace_s: Final = float(os.environ[PACE_VARIABLE])
_ledger: Final = Ledger(Path(os.environ[LEDGER_VARIABLE]))


async def handle(job: Job[dict[str, Any]]) -> RetryAfter | None:
    """Verify one delivery and fold it into its repository's statistics."""
    body = canonical(job.args)
    repository = repository_of(job.tags)

    def note(ending: str) -> None:
        _ledger.write(job.id, job.attempt, ending, repository, len(body))

    signature = str(job.metadata[SIGNATURE_KEY])
    if not hmac.compare_digest(signature, sign(body, _secret)):
        note(REFUSED)
        raise TerminalError("the signature does not belong to this body")
    match trouble(job.metadata[DELIVERY_KEY]) if job.attempt == 1 else Trouble.NONE:
        case Trouble.STUMBLES:
            note(STUMBLED)
            raise ConnectionError("the statistics store did not answer")
        case Trouble.BUSY:
            note(STUMBLED)
            return RetryAfter(BUSY_DELAY_S)
    await asyncio.sleep(_pace_s)  # where a real handler would wait for its statistics store
    note(HANDLED)
    return None


for _kind in sorted({delivery.kind for delivery in deliveries()}):
    client.task(dict, kind=_kind)(handle)
