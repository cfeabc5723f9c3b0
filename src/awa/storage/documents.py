"""Arrays of JSON documents on their way into a statement."""

from collections.abc import Sequence
from typing import Any

from psycopg.types.json import Jsonb


def documents(values: Sequence[Any]) -> list[Jsonb | None] | None:
    """The values as a `jsonb[]` parameter, None for an empty one; None as a whole if all are empty."""
    if not any(values):
        return None
    return [Jsonb(value) if value else None for value in values]
