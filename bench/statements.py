"""The statements of `bench/sql`, by name."""

from functools import cache
from pathlib import Path

FOLDER = Path(__file__).parent / "sql"


@cache
def statement(name: str) -> str:
    """The text of `bench/sql/<name>.sql`."""
    return (FOLDER / f"{name}.sql").read_text(encoding="utf-8")
