"""The database is named by the line, the environment or a context file, and no password is ever shown."""

from pathlib import Path

import pytest

from awa.cli.urls import checked, find_url, without_passwords
from awa.model.errors import DatabaseError, ValidationError

URL = "postgresql://ann@db.example/app"


@pytest.fixture(autouse=True)
def nothing_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWA_DATABASE_URL", "DATABASE_URL", "AWA_CONTEXT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


def test_the_line_wins_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWA_DATABASE_URL", "postgresql:///other")
    assert find_url(URL) == URL


def test_our_own_variable_wins_over_the_common_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql:///other")
    assert find_url(None) == "postgresql:///other"
    monkeypatch.setenv("AWA_DATABASE_URL", URL)
    assert find_url(None) == URL


def test_a_context_file_serves_the_folders_below_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".awa").mkdir()
    (tmp_path / ".awa" / "context.toml").write_text(f'database_url = "{URL}"\n')
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")
    assert find_url(None) == URL


def test_a_broken_context_file_is_wrong_input_that_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "context.toml"
    path.write_text("database_url = \n")
    monkeypatch.setenv("AWA_CONTEXT", str(path))
    with pytest.raises(ValidationError, match=r"context\.toml"):
        find_url(None)


def test_without_a_database_every_way_to_name_one_is_named() -> None:
    with pytest.raises(DatabaseError) as caught:
        find_url(None)
    assert caught.value.hint is not None
    for way in ("--database-url", "AWA_DATABASE_URL", "--embedded"):
        assert way in caught.value.hint


@pytest.mark.parametrize(
    "url", ["mysql://ann:s3cret@db/app", "postgresql://ann:s3cret@db:port/app?x", "s3cret"]
)
def test_an_unreadable_url_is_refused_without_being_quoted(url: str) -> None:
    with pytest.raises(ValidationError) as caught:
        checked(url)
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("postgresql://ann:s3cret@db/app", "postgresql://ann:***@db/app"),
        ("postgresql://ann:p@ss@w@db/app", "postgresql://ann:***@db/app"),
        ("postgresql://db/app?password=s3cret&x=1", "postgresql://db/app?password=***&x=1"),
        ("host=db password=s3cret user=ann", "host=db password=*** user=ann"),
        ("host=db password='s3 cret' user=ann", "host=db password=*** user=ann"),
        (URL, URL),
    ],
)
def test_passwords_are_starred(text: str, shown: str) -> None:
    assert without_passwords(f"could not reach {text} at all") == f"could not reach {shown} at all"
