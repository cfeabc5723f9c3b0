"""Statements and parameters as other drivers want them.

The statements are written with psycopg's placeholders, `%(name)s` and, for binary ones, `%(name)b`. Documents and
packed arrays become plain texts and lists here, which every driver can send; the casts in the statements do the rest.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

import orjson
from psycopg import sql
from psycopg.types.json import Jsonb

from awa.bridge.speaker import Statement
from awa.db.arrays import TextArray

_PLACEHOLDER: Final = re.compile(r"%\((\w+)\)[sbt](::jsonb?\b(?:\[\])?)?")
_BINARY: Final = re.compile(r"%\((\w+)\)b")


def named(
    statement: Statement, params: Mapping[str, Any] | None
) -> tuple[str, dict[str, Any] | None]:
    """For drivers with `%(name)s`: psycopg2, and psycopg behind another library."""
    text = _BINARY.sub(r"%(\1)s", _text(statement))
    return text, None if params is None else {name: _plain(v) for name, v in params.items()}


def numbered(statement: Statement, params: Mapping[str, Any] | None) -> tuple[str, tuple[Any, ...]]:
    """For drivers with `$1`. Documents are sent as text, whatever codec the program has set for JSON."""
    if params is None:
        return _text(statement), ()
    places: dict[str, int] = {}

    def place(found: re.Match[str]) -> str:
        name, cast = found.groups()
        number = places.setdefault(name, len(places) + 1)
        if cast is None:
            return f"${number}"
        return f"${number}::text{'[]' if cast.endswith('[]') else ''}{cast}"

    text = _PLACEHOLDER.sub(place, _text(statement)).replace("%%", "%")
    return text, tuple(_plain(params[name]) for name in places)


def _text(statement: Statement) -> str:
    return statement.as_string() if isinstance(statement, sql.Composable) else statement


def _plain(value: Any) -> Any:
    if isinstance(value, Jsonb):
        return orjson.dumps(value.obj).decode()
    if isinstance(value, TextArray):
        return [text.decode() for text in value.values]
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value
