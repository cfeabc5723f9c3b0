"""The connections of maintenance: its own, so that nobody else's work can take the one it needs.

A worker with every connection busy, or a user's long transaction, would otherwise cost the leader its
lease. The pool holds one connection while the process only stands for election and grows with the term.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from awa.db.beside import pool_like
from awa.db.pool import Pool

# The lease, the batch operations, and one to spare.
BESIDE_DUTIES = 3


@asynccontextmanager
async def own_pool(pool: Pool, duties: int) -> AsyncIterator[Pool]:
    """A pool to the same database as `pool`, large enough for every duty at once."""
    own = pool_like(pool, duties + BESIDE_DUTIES)
    try:
        # Not waited for: a database that is away now is waited for by the election.
        await own.open(wait=False)
        yield own
    finally:
        await own.close()
