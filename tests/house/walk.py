"""The files that the house rules speak of."""

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "awa"
FOLDERS = ("src", "tests", "bench", "docs", ".ci")


def files(*patterns: str, folders: tuple[str, ...] = FOLDERS) -> Iterator[Path]:
    """Files of the project that match one of the patterns, below these folders; hidden folders are nobody's."""
    for folder in folders:
        for here, inner, names in os.walk(ROOT / folder):
            inner[:] = [name for name in inner if not name.startswith((".", "__pycache__"))]
            yield from (
                Path(here, name)
                for name in names
                if any(fnmatch(name, pattern) for pattern in patterns)
            )


def written_files() -> Iterator[Path]:
    """Everything that somebody wrote by hand."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git")
    yield from (path for path in files("*") if path.suffix != ".gz")


def name_of(path: Path) -> str:
    """The path as one would say it."""
    return str(path.relative_to(ROOT))
