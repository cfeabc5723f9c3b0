"""A misspelt field is answered with what was meant, never with its opposite."""

import pytest

from awa.model.errors import ValidationError
from awa.model.filter import JobFilter


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("created_before", "'created_at_lt'"),
        ("created_until", "'created_at_lt'"),
        ("created_at_lte", "'created_at_lt'"),
        ("created_after", "'created_at_gte'"),
        ("created_since", "'created_at_gte'"),
        ("created_at_gt", "'created_at_gte'"),
        ("run_before", "'run_at_lt'"),
        ("finalised_after", "'finalized_at_gte'"),
        ("attempts_over", "'attempt_gte'"),
        ("attempt_max", "'attempt_lt'"),
        ("created_at", "'created_at_gte' or 'created_at_lt'"),
        ("run_at", "'run_at_gte' or 'run_at_lt'"),
        ("priorities", "'priority'"),
        ("tags", "'tag'"),
    ],
)
def test_the_side_of_a_bound_is_kept(given: str, meant: str) -> None:
    with pytest.raises(ValidationError) as refused:
        JobFilter.parse({given: 1})
    assert f"unknown field {given!r}, did you mean {meant}?" in str(refused.value)


@pytest.mark.parametrize("given", ["before", "ended_after", "older_than", "to", "max"])
def test_a_guess_that_could_be_wrong_is_not_made(given: str) -> None:
    with pytest.raises(ValidationError, match=f"unknown field {given!r}, known are kind, queue"):
        JobFilter.parse({given: 1})
