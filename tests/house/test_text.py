"""What may stand in the files: SQL in SQL files only, a story at the top, nothing about one machine or network."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.walk import ROOT, SOURCE, files, name_of, written_files

STATEMENT = re.compile(
    r"^\s*(--[^\n]*\n\s*)*("
    r"SELECT\b|select\s[^.]*\b(from|awa\.|pg_)|"
    r"(?i:insert\s+into|delete\s+from|update\s+\S+\s+set|truncate\s+table|with\s+\w+\s+as\s*\(|"
    r"(create|alter|drop)\s+(or\s+replace\s+)?(table|index|function|view|schema|database|role|type)))"
)
MAY_SPEAK_SQL = {
    "operations/compile": "the one place where a filter becomes SQL",
}
TIED_TO_A_PLACE = re.compile(
    r"pythonhosted\.org|pypi\.org/simple|registry\.npmjs\.org|(extra-)?index-url|BEGIN [A-Z ]*PRIVATE KEY"
)
PINNED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.]+")


def strings_outside_docstrings(path: Path) -> Iterator[tuple[int, str]]:
    tree = ast.parse(path.read_text())
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node.value, bytes):
            yield node.lineno, node.value.decode("latin-1")


def test_sql_lives_in_sql_files() -> None:
    found = [
        f"{name_of(path)}:{line} {text.strip()[:60]}"
        for path in SOURCE.rglob("*.py")
        if not str(path.relative_to(SOURCE)).startswith(tuple(MAY_SPEAK_SQL))
        for line, text in strings_outside_docstrings(path)
        if STATEMENT.match(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "is_statement"),
    [
        ("SELECT 1", True),
        ("select id from awa.jobs", True),
        ("\n  -- why\n  INSERT INTO awa.ring VALUES (1)", True),
        ("WITH picked AS (SELECT 1)", True),
        ("update awa.queue_meta set paused = true", True),
        ("Select a queue.", False),
        ("Update the priority of a job", False),
        ("Delete finished operations", False),
        ("Create the schema, or bring it up to date", False),
    ],
)
def test_statements_are_told_from_sentences(text: str, is_statement: bool) -> None:
    assert bool(STATEMENT.match(text)) is is_statement


def test_each_module_opens_with_its_story() -> None:
    silent = [
        name_of(path)
        for path in files("*.py")
        if (tree := ast.parse(path.read_text())).body and not ast.get_docstring(tree)
    ]
    assert silent == []


def test_nothing_is_tied_to_a_machine_or_a_network() -> None:
    checkout = str(ROOT) if len(ROOT.parts) > 2 else None
    found = []
    for path in written_files():
        if path == Path(__file__):
            continue
        text = path.read_text(errors="replace")
        if TIED_TO_A_PLACE.search(text) or (checkout and f"{checkout}/" in text):
            found.append(name_of(path))
    assert found == []


def test_constraints_hold_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    assert lines
    assert [line for line in lines if not PINNED.fullmatch(line)] == []


def test_no_line_ends_with_a_blank() -> None:
    """Python's formatter sees to its own; SQL, templates and pages have nobody else."""
    found = [
        f"{name_of(path)}:{number}"
        for path in files("*.sql", "*.html", "*.css", "*.js", "*.md")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line != line.rstrip()
    ]
    assert found == []
