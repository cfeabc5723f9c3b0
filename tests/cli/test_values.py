"""Values from the command line are refused in terms of the option they were given to."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from awa.cli.values import aware_time, json_object, queue_spec, time_or_date
from awa.model.errors import ValidationError


def test_json_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "filter.json").write_text('{"queue": "mail"}')
    assert json_object(f"@{tmp_path}/filter.json", "--filter") == {"queue": "mail"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{queue: mail}", "--filter is not JSON"),
        ("[1]", "--filter is a list, not a JSON object"),
        ("null", "--filter is null"),
        ("@/nowhere/at/all", "cannot be read: no such file or directory"),
    ],
)
def test_json_that_is_none_names_its_option(text: str, complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint) as caught:
        json_object(text, "--filter")
    assert [problem.field for problem in caught.value.fields] == ["filter"]


def test_the_way_out_is_shown_with_the_option_that_was_typed(tmp_path: Path) -> None:
    with pytest.raises(ValidationError) as caught:
        json_object("{to: ada}", "--args")
    assert "--args '{" in str(caught.value.hint)
    (tmp_path / "spec.json").write_text("priority: 1")
    with pytest.raises(ValidationError, match=r"spec\.json, which is not JSON") as caught:
        json_object(f"@{tmp_path}/spec.json", "--spec")
    assert caught.value.hint is None


def test_a_time_without_a_zone_is_refused_with_a_way_out() -> None:
    with pytest.raises(ValidationError, match="without a zone") as caught:
        aware_time("2026-06-01T12:00:00", "--run-at")
    assert "2026-06-01T12:00:00Z" in str(caught.value.hint)


def test_a_day_begins_at_midnight_utc() -> None:
    assert time_or_date("2026-03-01", "--before") == datetime(2026, 3, 1, tzinfo=UTC)


def test_something_that_is_no_time_is_refused() -> None:
    with pytest.raises(ValidationError, match="not a time"):
        time_or_date("yesterday", "--before")


def test_a_queue_may_say_how_wide_it_is() -> None:
    assert queue_spec("email=50") == {"queue": "email", "max_workers": 50}
    assert queue_spec("email") == {"queue": "email"}
    assert queue_spec("email=5:weight=3,rate=0.5,min=1,deadline=30") == {
        "queue": "email",
        "max_workers": 5,
        "weight": 3,
        "rate_limit": 0.5,
        "min_workers": 1,
        "deadline_seconds": 30,
    }
    assert queue_spec("mail:eu:weight=2") == {"queue": "mail:eu", "weight": 2}
    assert queue_spec("mail:eu=7") == {"queue": "mail:eu", "max_workers": 7}


@pytest.mark.parametrize("text", ["email=", "email=0", "email=-1", "email=many"])
def test_a_width_is_a_number_of_one_or_more(text: str) -> None:
    with pytest.raises(ValidationError, match="width"):
        queue_spec(text)
