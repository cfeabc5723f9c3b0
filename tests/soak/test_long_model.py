"""The random machine for a quarter of an hour, with other examples each time."""

import os
from time import monotonic

import pytest

from tests.proofs.test_model import compare

SOAK_S = float(os.environ.get("AWA_SOAK_S", "900"))
PORTION_EXAMPLES = 100


@pytest.mark.soak
def test_every_job_is_in_one_place_for_as_long_as_it_takes(database_url: str) -> None:
    until_s = monotonic() + SOAK_S
    while monotonic() < until_s:
        compare(database_url, examples=PORTION_EXAMPLES, derandomize=False)
