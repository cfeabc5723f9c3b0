"""Numbers, times and sizes read as people say them."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from awa.operations.reading.counts import Count
from awa.web import charts, words

NOW = datetime(2026, 11, 30, 10, 50, 17, 123_456, tzinfo=UTC)


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (47_000, "47,000"),
        (1.5, "1.5"),
        (2.0, "2"),
        (1234.56, "1,235"),
        (None, words.DASH),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert words.number(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "now"),
        (1, "1 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (179, "2 min"),
        (3_600, "1 h"),
        (7_500, "2 h 5 min"),
        (36_000, "10 h"),
        (90_000, "1 d 1 h"),
        (86_400 * 45, "45 d"),
        (-7_500, "2 h 5 min"),
    ],
)
def test_ages(seconds: float, text: str) -> None:
    assert plain(words.age(seconds)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.000_85, "850 µs"),
        (0.0452, "45.2 ms"),
        (0.45, "450 ms"),
        (0.9996, "1 s"),
        (1.239, "1.24 s"),
        (59.97, "1 min"),
        (185, "3 min 5 s"),
        (7_500, "2 h 5 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert plain(words.duration(seconds)) == text


def test_a_time_is_relative_and_exact_at_once() -> None:
    tokyo = timezone(timedelta(hours=9))
    element = str(words.ago((NOW - timedelta(minutes=3)).astimezone(tokyo), NOW))
    assert 'title="2026-11-30 10:47:17.123 UTC"' in element
    assert 'datetime="2026-11-30T10:47:17.123456+00:00"' in element
    assert plain(element).endswith(">3 min ago</time>")


@pytest.mark.parametrize(
    ("ahead", "text"),
    [(7_200, "in 2 h"), (0.4, "now"), (-86_400 * 100, "2026-08-22"), (86_400 * 100, "2027-03-10")],
)
def test_times_ahead_and_far_away(ahead: float, text: str) -> None:
    assert plain(words.relative(NOW + timedelta(seconds=ahead), NOW)) == text


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 10, "0 %"),
        (1, 1_000, "<1 %"),
        (1, 2, "50 %"),
        (999, 1_000, ">99 %"),
        (5, 5, "100 %"),
        (1, 0, words.DASH),
    ],
)
def test_what_is_not_all_never_reads_as_all(part: float, whole: float, text: str) -> None:
    assert plain(words.share(part, whole)) == text


def test_counts_say_what_kind_of_number_they_are() -> None:
    assert words.counted(Count(1), "job") == "1 job"
    assert words.counted(Count(100_000, "at_least"), "job") == "at least 100,000 jobs"
    assert words.bounded(Count(100_000, "at_least")) == "100,000+"
    assert words.bounded(Count(901_000, "about")) == "~901,000"
    assert words.bounded(None) == words.DASH
    assert words.counted(Count(0, "about"), "job") == "0 jobs"
    assert words.bounded(Count(0, "about")) == "0"


@pytest.mark.parametrize(
    ("value", "text"), [(0.01, "<0.1/s"), (0.42, "0.4/s"), (9.9, "9.9/s"), (1_234.4, "1,234/s")]
)
def test_rates(value: float, text: str) -> None:
    assert words.rate(value) == text


def test_sizes_and_plurals() -> None:
    assert plain(words.size(812)) == "812 B"
    assert plain(words.size(1_234_000_000)) == "1.2 GB"
    assert words.things(2, "entry") == "2 entries"
    assert words.things(1, "key") == "1 key"
    assert words.sentence("run awa migrate") == "Run awa migrate."


@pytest.mark.parametrize(
    ("highest", "top"),
    [(0, 1), (0.7, 0.8), (1, 1), (131, 160), (999, 1_000), (4_100, 5_000), (float("nan"), 1)],
)
def test_a_scale_ends_at_a_round_number(highest: float, top: float) -> None:
    assert charts.nice_top(highest) == pytest.approx(top)


def test_a_chart_has_a_gap_where_nothing_is_known() -> None:
    instants = [NOW + timedelta(minutes=n) for n in range(5)]
    line = charts.Series("Completed", [1.0, 2.0, None, 4.0, 4.0])
    drawn = str(charts.area(instants, [line], label="<Throughput>", say=words.rate))
    assert drawn.count('class="line"') == 2
    assert "&lt;Throughput&gt;" in drawn
    assert "10:50 UTC\nCompleted: 1/s" in drawn
    assert "style=" not in drawn


def test_a_chart_begins_where_figures_begin() -> None:
    rows = [{"value": None}] * 40 + [{"value": 1.0}] * 20
    assert len(charts.since_known(rows, "value")) == 20
    assert len(charts.since_known(rows[:42], "value")) == 15
    assert len(charts.since_known(rows[:40], "value")) == 15
