"""Files and functions stay small enough to be read in one go."""

import ast

from tests.house.walk import ROOT, files, name_of

FILE_LIMIT_LINES = 400
FUNCTION_LIMIT_LINES = 70
README_LIMIT_LINES = 150
MADE_BY_PROGRAMS = (
    "docs/reference/schema.sql",
    "docs/reference/schema-canonical.sql",
)


def test_no_file_is_too_long() -> None:
    lengths = {
        name_of(path): len(path.read_text().splitlines())
        for path in files("*.py", "*.sql", "*.js", "*.css", "*.html", "*.j2")
        if name_of(path) not in MADE_BY_PROGRAMS
    }
    assert {name: n for name, n in lengths.items() if n >= FILE_LIMIT_LINES} == {}


def test_no_function_is_too_long() -> None:
    too_long = {
        f"{name_of(path)}:{node.lineno} {node.name}": length
        for path in files("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) >= FUNCTION_LIMIT_LINES
    }
    assert too_long == {}


def test_the_readme_is_short() -> None:
    readme = ROOT / "README.md"
    if readme.exists():
        assert len(readme.read_text().splitlines()) <= README_LIMIT_LINES
