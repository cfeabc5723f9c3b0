"""A pool, a lease, and a term that was taken by the rules."""

from collections.abc import AsyncIterator, Awaitable, Callable
from uuid import uuid4

import pytest

from awa.config import Settings
from awa.db.pool import Pool, make_pool
from awa.maintenance.leader import Leader, Timing
from awa.maintenance.term import Term

Elect = Callable[[], Awaitable[Term]]


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    pool = make_pool(database_url, min_size=0, max_size=6, timeout_s=60)
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture
def settings() -> Settings:
    """A lease that no pause of the machine outlasts; tests let it run out themselves."""
    return Settings(lease_ttl_s=300)


@pytest.fixture
def candidate(pool: Pool, settings: Settings) -> Leader:
    runtime_id = uuid4()
    return Leader(pool, lambda: runtime_id, Timing.of(settings))


@pytest.fixture
async def term(candidate: Leader) -> Term:
    elected = await candidate.stand()
    assert elected is not None
    return elected
