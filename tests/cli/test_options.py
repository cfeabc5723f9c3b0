"""Global options may stand anywhere in the line."""

import pytest

from awa.cli.options import Options, check_options, take_options
from awa.model.errors import ValidationError


@pytest.fixture(autouse=True)
def no_debug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWA_DEBUG", raising=False)


@pytest.mark.parametrize(
    "line",
    [
        ["--json", "--database-url", "postgresql:///a", "job", "list"],
        ["job", "--json", "list", "--database-url=postgresql:///a"],
        ["job", "list", "--database-url", "postgresql:///a", "--json"],
    ],
)
def test_they_mean_the_same_before_and_after_the_command(line: list[str]) -> None:
    options, rest = take_options(line)
    assert options == Options(database_url="postgresql:///a", as_json=True)
    assert rest == ["job", "list"]


def test_what_follows_two_dashes_is_left_alone() -> None:
    assert take_options(["enqueue", "--", "--json"]) == (Options(), ["enqueue", "--", "--json"])


@pytest.mark.parametrize(
    "options", [Options(database_url=""), Options(database_url="postgresql:///a", embedded=True)]
)
def test_contradictions_are_refused(options: Options) -> None:
    with pytest.raises(ValidationError):
        check_options(options)
