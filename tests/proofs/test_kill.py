"""kill -9 of workers and leaders at random moments: nothing is lost, nothing is done or accounted twice.

The rounds of every run; `make soak` goes on for much longer (tests/soak).
"""

from pathlib import Path

import pytest

from tests.conftest import Connect
from tests.proofs.kill.company import Company
from tests.proofs.kill.siege import Siege

WORKER_ROUNDS = 130
LEADER_ROUNDS = 70
STATES = {"pending", "scanning", "running", "paused", "cancelling"}


@pytest.mark.slow
@pytest.mark.timeout(900)
async def test_whoever_is_killed_whenever_the_books_balance(
    database_url: str, connect: Connect, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with Company(database_url, log) as company:
        siege = Siege(await connect(), company, seed=1)
        await siege.run(workers=WORKER_ROUNDS, leaders=LEADER_ROUNDS, states=STATES)
    assert siege.kills.total() >= WORKER_ROUNDS + LEADER_ROUNDS
    assert siege.kills.keys() >= STATES
    assert "deadlock" not in log.read_text()
    assert "ended by itself" not in log.read_text()
