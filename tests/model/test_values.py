"""Outcomes check their numbers; rows become jobs and operations without loss."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from awa.model.errors import ValidationError
from awa.model.job import JOB_COLUMNS, Job, job_from_row
from awa.model.operation import operation_from_row
from awa.model.outcome import Cancel, RetryAfter, Snooze, WaitForCallback
from awa.model.states import JobState, OperationState

NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_impossible_delays_are_refused(seconds: float) -> None:
    with pytest.raises(ValidationError, match="seconds"):
        RetryAfter(seconds)
    with pytest.raises(ValidationError, match="seconds"):
        Snooze(seconds)


def test_outcomes_are_values() -> None:
    assert RetryAfter(3) == RetryAfter(3)
    assert Cancel("no longer wanted") != Cancel()
    assert WaitForCallback("t").token == "t"


def test_a_row_becomes_a_job() -> None:
    row = dict.fromkeys(JOB_COLUMNS) | {
        "id": 7,
        "kind": "send_email",
        "queue": "email",
        "state": "available",
        "priority": 2,
        "attempt": 0,
        "max_attempts": 25,
        "args": {"to": "x"},
        "tags": ["a"],
        "metadata": {},
        "errors": [{"attempt": 1, "error": "boom"}],
        "run_at": NOW,
        "created_at": NOW,
        "lane_id": 3,
    }
    job = job_from_row(row)
    assert isinstance(job, Job)
    assert job.state is JobState.AVAILABLE
    assert job.tags == ("a",)
    assert job.errors[0]["error"] == "boom"


def test_a_row_becomes_an_operation() -> None:
    operation = operation_from_row(
        {
            "id": UUID(int=1),
            "op_kind": "set_priority",
            "filter": {"queue": "a"},
            "spec": {"priority": 1},
            "state": "running",
            "priority": 2,
            "cursor": None,
            "scan_bound": 10,
            "total_matched": 10,
            "processed": 4,
            "skipped": 3,
            "errored": 1,
            "last_error": None,
            "max_rows_per_second": None,
            "max_jobs": None,
            "paused_from": None,
            "started_at": NOW,
            "undo_of": None,
        }
    )
    assert operation.state is OperationState.RUNNING
    assert operation.pending == 2
    assert operation.cursor == {}
