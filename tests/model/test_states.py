"""States move only along the arrows, and every arrow has a sentence."""

from itertools import product

import pytest

from awa.model.errors import Conflict
from awa.model.states import (
    ACTIVE_OPERATION_STATES,
    FINAL_OPERATION_STATES,
    JOB_MOVES,
    OPERATION_MOVES,
    TERMINAL_STATES,
    JobState,
    OperationState,
    check_operation_move,
    moves_from,
)


@pytest.mark.parametrize(("before", "after"), list(product(OperationState, OperationState)))
def test_operation_moves_that_are_not_in_the_table_are_refused(
    before: OperationState, after: OperationState
) -> None:
    if (before, after) in OPERATION_MOVES:
        check_operation_move(before, after)
        return
    with pytest.raises(Conflict) as refused:
        check_operation_move(before, after)
    assert refused.value.details == {"state": before.value, "wanted": after.value}


@pytest.mark.parametrize(
    ("before", "hint"),
    [
        (OperationState.COMPLETED, "it has ended"),
        (OperationState.CANCELLED, "it has ended"),
        (OperationState.CANCELLING, "asked for already"),
    ],
)
def test_a_cancellation_that_comes_too_late_is_refused_in_words_of_its_own(
    before: OperationState, hint: str
) -> None:
    with pytest.raises(Conflict, match=f"that is {before} cannot be cancelled") as refused:
        check_operation_move(before, OperationState.CANCELLING)
    assert hint in str(refused.value.hint)


def test_every_arrow_has_a_sentence() -> None:
    for sentence in [*JOB_MOVES.values(), *OPERATION_MOVES.values()]:
        assert sentence[0].isupper()
        assert sentence.endswith(".")


def test_final_operation_states_lead_nowhere_and_active_ones_lead_on() -> None:
    assert all(not moves_from(OPERATION_MOVES, state) for state in FINAL_OPERATION_STATES)
    assert all(moves_from(OPERATION_MOVES, state) for state in ACTIVE_OPERATION_STATES)


def test_a_completed_job_stays_completed() -> None:
    assert not moves_from(JOB_MOVES, JobState.COMPLETED)
    assert {s for s in TERMINAL_STATES if moves_from(JOB_MOVES, s)} == {
        JobState.FAILED,
        JobState.CANCELLED,
    }


def test_every_job_state_can_be_reached() -> None:
    assert {after for _, after in JOB_MOVES} | {JobState.SCHEDULED} == set(JobState)
