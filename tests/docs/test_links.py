"""Links inside the documentation lead somewhere, and what it names of the project is there."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import anchors, links, name_of, pages, text_of
from tests.house.walk import ROOT

TEST = re.compile(r"`(?P<file>tests/[\w/]+(?:\.py)?)(?:::(?P<name>\w+))?`")
SOURCE = re.compile(r"`(?P<path>(?:src|docs|tests|bench)/[\w./-]*\w)`")


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_resolve(page: Path) -> None:
    dead = []
    for target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        other = (page.parent / path).resolve() if path else page
        if not other.exists() or (anchor and anchor not in anchors(other)):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = {found["path"] for found in SOURCE.finditer(page.read_text())}
    # CONTRIBUTING shows a file that is to be written.
    named = {path for path in named if "NNNN" not in path}
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_tests_that_a_page_names_exist(page: Path) -> None:
    missing = []
    for found in TEST.finditer(page.read_text()):
        file = ROOT / found["file"]
        if not file.exists() or (found["name"] and f"def {found['name']}(" not in file.read_text()):
            missing.append(found.group())
    assert missing == []


def test_every_decision_is_in_the_index() -> None:
    records = sorted(path.name for path in (ROOT / "docs/adr").glob("[0-9]*.md"))
    index = text_of("docs/adr/README.md")
    assert records
    assert [name for name in records if f"({name})" not in index] == []


@pytest.mark.parametrize(
    "record", sorted((ROOT / "docs/adr").glob("[0-9]*.md")), ids=lambda record: record.name
)
def test_a_decision_has_its_parts(record: Path) -> None:
    text = record.read_text()
    assert re.search(r"^Status: \w+", text, re.M)
    headings = re.findall(r"^## (.*)$", text, re.M)
    assert [
        h for h in ("Context", "Decision", "Consequences", "Alternatives") if h not in headings
    ] == []


def test_every_page_is_reached_from_the_readme() -> None:
    reached, found = set(), [ROOT / "README.md"]
    while found:
        page = found.pop()
        if page in reached:
            continue
        reached.add(page)
        for target in links(page):
            path = (page.parent / target.partition("#")[0]).resolve()
            # A link to a folder reaches what lies in it.
            found += sorted(path.glob("*.md")) if path.is_dir() else [path]
        found = [path for path in found if path.suffix == ".md"]
    # The READMEs of rooms are met where they lie.
    lost = [name_of(page) for page in pages() if page not in reached and "src" not in page.parts]
    assert lost == []
