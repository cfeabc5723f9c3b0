"""Long work is followed by people on a terminal, by programs as JSON lines, and by nobody in a pipe."""

import json
from itertools import count

import pytest

from awa.cli.output import Output
from awa.cli.progress import Rate, clock, progress


@pytest.fixture
def seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by half a second whenever it is read."""
    ticks = count()
    monkeypatch.setattr("awa.cli.progress.time.monotonic", lambda: next(ticks) / 2)


@pytest.mark.usefixtures("seconds")
def test_json_says_a_line_a_second_with_rate_and_time_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress(Output(as_json=True), "Enqueueing", 1000, "jobs") as bar:
        for done in range(0, 400, 50):
            bar.at(done, skipped=7)
    lines = [json.loads(line)["progress"] for line in capsys.readouterr().out.splitlines()]
    assert 2 <= len(lines) <= 4
    assert lines[-1]["rate_per_s"] == pytest.approx(100, rel=0.2)
    assert lines[-1]["left_s"] > 0
    assert lines[-1]["skipped"] == 7


@pytest.mark.usefixtures("seconds")
def test_a_pipe_gets_few_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with progress(Output(), "Enqueueing", 1000, "jobs") as bar:
        for done in range(0, 1000, 50):
            bar.at(done)
    lines = capsys.readouterr().out.splitlines()
    assert 1 <= len(lines) <= 3
    assert "of 1,000 jobs" in lines[0]
    assert "\x1b" not in lines[0]


@pytest.mark.usefixtures("seconds")
def test_before_the_number_is_known_a_pipe_is_told_what_is_being_done(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress(Output(), "move_queue", None, "jobs") as bar:
        for found in range(20):
            bar.at(0, label=f"move_queue: listing jobs, {found} so far")
    lines = capsys.readouterr().out.splitlines()
    assert 1 <= len(lines) <= 3
    assert "listing jobs" in lines[0]
    assert "0/s" not in lines[0]


def test_the_rate_forgets_what_is_long_past() -> None:
    rate = Rate()
    for second in range(100):
        rate.add(second, second * 10 if second < 50 else 500)
    assert rate.per_second() == 0
    assert rate.left_s(500, 1000) is None


@pytest.mark.parametrize(
    ("seconds_left", "words"), [(0.42, "0.4 s"), (12, "12 s"), (185, "3:05"), (3720, "1:02:00")]
)
def test_durations_in_words(seconds_left: float, words: str) -> None:
    assert clock(seconds_left) == words
