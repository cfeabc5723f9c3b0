"""A random machine against the reference model: whatever is done in whatever order, every job is in its one place.

What it finds becomes a test with a name in test_findings.py. The run in CI takes the same examples each time; `make soak`
takes others, for as long as it is told.
"""

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.proofs.model.machine import Troupe
from tests.proofs.model.rules_of_undo import Undoing

EXAMPLES = 60
STEPS = 100


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_job_is_in_one_place_whatever_is_done(database_url: str) -> None:
    compare(database_url, examples=EXAMPLES, derandomize=True)


def compare(url: str, *, examples: int, derandomize: bool) -> None:
    """Runs the machine against the database."""
    troupe = Troupe(url)

    class Example(Undoing):
        def __init__(self) -> None:
            super().__init__(troupe)

    try:
        run_state_machine_as_test(
            Example,
            settings=settings(
                max_examples=examples,
                stateful_step_count=STEPS,
                derandomize=derandomize,
                database=None,
                deadline=None,
                print_blob=False,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate, Phase.shrink],
            ),
        )
    finally:
        troupe.leave()
