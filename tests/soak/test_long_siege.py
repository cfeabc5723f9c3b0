"""A thousand leaders and two thousand workers killed."""

from pathlib import Path

import pytest

from tests.conftest import Connect
from tests.proofs.kill.company import Company
from tests.proofs.kill.siege import Siege

SIEGES = 10
WORKER_ROUNDS, LEADER_ROUNDS = 200, 100


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 100 + SIEGES))
async def test_the_books_balance_after_each_siege(
    database_url: str, connect: Connect, tmp_path: Path, seed: int
) -> None:
    log = tmp_path / "log"
    with Company(database_url, log) as company:
        siege = Siege(await connect(), company, seed)
        await siege.run(workers=WORKER_ROUNDS, leaders=LEADER_ROUNDS)
    assert "deadlock" not in log.read_text()
    assert "ended by itself" not in log.read_text()
