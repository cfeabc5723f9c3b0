"""The files that the house rules speak of."""

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "awa"
FOLDERS = ("src", "tests", "bench", "docs", ".ci")


def files(*patterns: str, folders: tuple[str, ...] = FOLDERS) -> Iterator[Path]:
    """Files of the project that match one of the patterns, below these folders."""
    for folder in folders:
        for pattern in patterns:
            yield from (
                path for path in (ROOT / folder).rglob(pattern) if "__pycache__" not in path.parts
            )


def written_files() -> Iterator[Path]:
    """Everything that somebody wrote by hand."""
    yield from (path for path in ROOT.iterdir() if path.is_file() and path.name != ".git")
    yield from (path for path in files("*") if path.is_file() and path.suffix != ".gz")


def name_of(path: Path) -> str:
    """The path as one would say it."""
    return str(path.relative_to(ROOT))
