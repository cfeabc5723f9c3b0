"""What an operator is told of an operation that runs, waits or stands still: figures, and a reason with a name."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from awa.operations.standing import standing

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def operation(**given: Any) -> dict[str, Any]:
    """A row as `read.get` answers it: half done after ten seconds, a chunk every second."""
    row: dict[str, Any] = {
        "state": "running",
        "priority": 2,
        "started_at": NOON - timedelta(seconds=10),
        "finalized_at": None,
        "updated_at": NOON,
        "wait_until": None,
        "paced_until": None,
        "not_before": None,
        "cursor": {"after": 5, "pass": 1},
        "max_rows_per_second": None,
        "total_matched": 2_000,
        "processed": 900,
        "skipped": 90,
        "errored": 10,
        "pending": 1_000,
        "chunk_times": [
            {"at_s": float(at), "chunks": 1, "items": 100, "mean_ms": 1_000.0, "max_ms": 1_000}
            for at in range(1, 11)
        ],
    }
    return row | given


def test_rate_and_time_left_follow_the_last_ten_seconds() -> None:
    now = standing(operation(), now=NOON, led=True)
    assert now.active
    assert now.rate_per_s == pytest.approx(100)
    assert now.seconds_left == pytest.approx(10)
    assert now.held is None


def test_what_was_fast_long_ago_says_nothing_of_now() -> None:
    times = [{"at_s": 1.0, "chunks": 50, "items": 100_000, "mean_ms": 20.0, "max_ms": 20}]
    times += [
        {"at_s": at, "chunks": 1, "items": 10, "mean_ms": 10.0, "max_ms": 10}
        for at in (91.0, 96.0, 100.0)
    ]
    row = operation(chunk_times=times, started_at=NOON - timedelta(seconds=100))
    now = standing(row, now=NOON, led=True)
    assert now.rate_per_s == pytest.approx(30 / 99)


def test_the_rate_falls_while_nothing_happens() -> None:
    later = standing(operation(), now=NOON + timedelta(seconds=90), led=True)
    assert later.rate_per_s == pytest.approx(10)
    assert (
        later.held
        == "Nothing has been heard of it for 90 s; the leader is busy or has just changed."
    )


def test_before_the_first_chunk_there_is_no_rate() -> None:
    for row in (operation(chunk_times=[]), operation(started_at=None), operation(state="scanning")):
        now = standing(row, now=NOON, led=True)
        assert now.rate_per_s is None
        assert now.seconds_left is None


def test_what_has_ended_tells_its_average() -> None:
    row = operation(state="completed", pending=0, finalized_at=NOON)
    now = standing(row, now=NOON + timedelta(days=1), led=False)
    assert not now.active
    assert now.rate_per_s == pytest.approx(100)
    assert now.held is None
    never = standing(
        operation(state="cancelled", started_at=None, finalized_at=NOON), now=NOON, led=False
    )
    assert never.rate_per_s is None


@pytest.mark.parametrize(
    ("given", "led", "ahead", "held"),
    [
        ({}, False, 0, "Nobody carries it out: no maintenance leader is alive."),
        ({"state": "pending"}, False, 9, "Nobody carries it out"),
        ({"state": "pending"}, True, 3, "It waits for its turn: 3 others come first, 2 are carried out"),
        ({"paced_until": NOON + timedelta(seconds=1), "max_rows_per_second": 1_500}, True, 0, "Throttled to 1,500 jobs a second, as was asked"),
        ({"state": "pending", "not_before": NOON + timedelta(hours=1)}, True, 9, "It is not begun before 2026-06-01 13:00:00 UTC"),
        ({"state": "paused", "paused_by": "ada", "paused_reason": "too fast"}, False, 0, "Paused by ada: “too fast”"),
        ({"state": "paused", "paused_by": "ada", "paused_reason": None}, True, 0, "Paused by ada."),
        ({"wait_until": NOON + timedelta(seconds=1)}, True, 0, "Throttled: the database was busy"),
        ({"wait_until": NOON + timedelta(seconds=1), "cursor": {"after": 0, "pass": 4}, "max_rows_per_second": 5}, True, 0, "It waits for jobs that other transactions hold locked (pass 4)"),
        ({"updated_at": NOON - timedelta(seconds=12)}, True, 0, "Nothing has been heard of it for 12 s"),
    ],
)  # fmt: skip
def test_what_holds_it_up_has_a_name(
    given: dict[str, Any], led: bool, ahead: int, held: str
) -> None:
    now = standing(operation(**given), now=NOON, led=led, ahead=ahead, side_by_side=2)
    assert now.held is not None
    assert now.held.startswith(held)


def test_the_switch_holds_whatever_is_neither_paused_nor_only_to_be_ended() -> None:
    hold = {"held": True, "held_by": "ada", "reason": "replica", "held_at": NOON}
    for state in ("pending", "scanning", "running"):
        row = operation(state=state, updated_at=NOON - timedelta(hours=1))
        now = standing(row, now=NOON, led=True, ahead=9, hold=hold)
        assert now.held == "All operations are held by ada: “replica”"
        assert (now.rate_per_s, now.seconds_left) == (None, None)
    stopping = standing(operation(state="cancelling"), now=NOON, led=True, hold=hold)
    assert stopping.held is None
    released = {**hold, "held": False}
    assert standing(operation(), now=NOON, led=True, hold=released).held is None


def test_nothing_holds_up_what_is_next() -> None:
    assert standing(operation(state="pending"), now=NOON, led=True, ahead=1).held is None
    past = operation(wait_until=NOON - timedelta(seconds=1))
    assert standing(past, now=NOON, led=True).held is None
    stopping = operation(state="cancelling", updated_at=NOON - timedelta(seconds=60))
    assert standing(stopping, now=NOON, led=True).held is None
