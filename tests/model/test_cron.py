"""Schedules: expressions, time zones, the change of the clock, and what is refused."""

import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from awa.model.cron import (
    Missed,
    Schedule,
    explain,
    latest_tick,
    make_schedule,
    next_tick,
    next_ticks,
)
from awa.model.errors import ValidationError

BERLIN = "Europe/Berlin"


def schedule(**changes: object) -> Schedule:
    """A good one, with changes."""
    given = {"name": "report", "cron_expr": "0 9 * * *", "args": {}, "options": {"kind": "report"}}
    return make_schedule(**{**given, **changes})  # type: ignore[arg-type]


def at(text: str) -> datetime:
    """A time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def fields_of(**changes: object) -> list[str]:
    """The fields that are refused."""
    with pytest.raises(ValidationError) as refusal:
        schedule(**changes)
    return [problem.field for problem in refusal.value.fields]


def test_a_schedule_has_the_defaults_of_a_job() -> None:
    made = schedule()
    assert (made.timezone, made.missed, made.queue, made.job.kind) == (
        "UTC",
        Missed.COALESCE,
        "default",
        "report",
    )


def test_five_fields_begin_with_the_minute_and_six_with_the_second() -> None:
    assert next_tick("*/5 * * * *", "UTC", at("2026-01-01 00:01:30")) == at("2026-01-01 00:05:00")
    assert next_tick("*/5 * * * * *", "UTC", at("2026-01-01 00:01:31")) == at("2026-01-01 00:01:35")


def test_the_next_tick_lies_after_and_the_latest_not_after() -> None:
    tick = at("2026-01-01 00:05:00")
    assert next_tick("*/5 * * * *", "UTC", tick) == at("2026-01-01 00:10:00")
    assert latest_tick("*/5 * * * *", "UTC", tick) == tick
    just_before = tick.replace(minute=4, second=59, microsecond=999_999)
    assert next_tick("*/5 * * * *", "UTC", just_before) == tick
    assert latest_tick("*/5 * * * *", "UTC", just_before) == at("2026-01-01 00:00:00")


def test_times_are_those_of_the_zone() -> None:
    assert next_ticks("0 9 * * *", BERLIN, at("2026-03-27 12:00:00"), 3) == [
        at("2026-03-28 08:00:00"),
        at("2026-03-29 07:00:00"),
        at("2026-03-30 07:00:00"),
    ]


def test_a_time_that_the_clock_leaps_over_comes_at_the_end_of_the_gap() -> None:
    """At two the clock goes to three on 29 March."""
    assert next_ticks("30 2 * * *", BERLIN, at("2026-03-28 00:00:00"), 3) == [
        at("2026-03-28 01:30:00"),
        at("2026-03-29 01:00:00"),
        at("2026-03-30 00:30:00"),
    ]


def test_a_time_that_the_clock_shows_twice_comes_once() -> None:
    """At three the clock goes back to two on 25 October."""
    assert next_ticks("30 2 * * *", BERLIN, at("2026-10-24 12:00:00"), 2) == [
        at("2026-10-25 00:30:00"),
        at("2026-10-26 01:30:00"),
    ]


def test_intervals_go_on_through_the_hour_that_comes_twice() -> None:
    ticks = next_ticks("*/30 * * * *", BERLIN, at("2026-10-24 23:45:00"), 6)
    assert ticks == [
        at("2026-10-25 00:00:00"),
        at("2026-10-25 00:30:00"),
        at("2026-10-25 01:00:00"),
        at("2026-10-25 01:30:00"),
        at("2026-10-25 02:00:00"),
        at("2026-10-25 02:30:00"),
    ]


@pytest.mark.parametrize("zone", ["UTC", BERLIN, "America/St_Johns", "Australia/Lord_Howe"])
@pytest.mark.parametrize("expression", ["*/15 * * * *", "30 2 * * *", "0 0 1 * *", "7 1,2,3 * * 0"])
def test_going_back_finds_the_tick_that_going_forwards_came_by(zone: str, expression: str) -> None:
    """Over both changes of the clock of a year."""
    for ticks in (
        next_ticks(expression, zone, at("2026-03-05 00:00:00"), 40),
        next_ticks(expression, zone, at("2026-10-01 00:00:00"), 40),
    ):
        assert ticks == sorted(set(ticks))
        assert [latest_tick(expression, zone, tick) for tick in ticks] == ticks


def test_zones_are_known_where_the_system_has_none() -> None:
    """A bare container or Windows: the names come with the package then."""
    asked = "from awa.model.cron import check_timezone as c; print(c('UTC'), c('Europe/Berlin'))"
    environment = {**os.environ, "PYTHONTZPATH": ""}
    command = [sys.executable, "-c", asked]
    said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert said.stdout == "UTC Europe/Berlin\n"


def test_words_for_an_expression() -> None:
    assert explain("0 9 * * 1-5") == "At 09:00 on Monday through Friday"
    assert explain("nonsense") == "nonsense"


@pytest.mark.parametrize(
    "wrong", ["", "* * * *", "* * * * * * *", "61 * * * *", "0 0 30 2 *", "a b c d e", 5, None]
)
def test_what_is_no_expression_is_refused(wrong: object) -> None:
    assert fields_of(cron_expr=wrong) == ["cron_expr"]


@pytest.mark.parametrize("wrong", ["Europe/Berln", "", "/etc/passwd", "../UTC", 2, None])
def test_what_is_no_time_zone_is_refused(wrong: object) -> None:
    assert fields_of(timezone=wrong) == ["timezone"]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    wrong = {"name": " ", "cron_expr": "x", "timezone": "y", "missed": "z"}
    options = {"kind": "k", "run_at": at("2026-01-01 00:00:00")}
    assert set(fields_of(**wrong, options=options)) == {*wrong, "run_at"}


def test_options_of_the_job_are_checked() -> None:
    assert fields_of(options={"kind": "k", "priority": 9}) == ["priority"]
    assert fields_of(args={"a": object()}) == ["args"]
