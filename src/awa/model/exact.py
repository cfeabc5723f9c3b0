"""JSON in which no value changes on its way: what can't be said exactly is refused, not bent.

The fast writer turns NaN and the infinities into null, and the fast reader turns whole numbers beyond 64 bits into
floats. Both are silent, and both would hand a handler something else than what was enqueued.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any

import orjson
from pydantic import BaseModel
from pydantic_core import from_json


def loads(text: bytes | str) -> Any:
    """The document of a JSON text, whole numbers exact. Raises orjson.JSONDecodeError, a ValueError."""
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        known = orjson.loads(text)  # says what is wrong, if anything but the depth is
    try:
        return json.loads(text)
    except RecursionError:
        return known


def dumps(value: object, default: Callable[[Any], Any] | None = None) -> bytes:
    """The JSON text of a value. Raises orjson.JSONEncodeError, a TypeError, on what JSON can't hold."""
    text = orjson.dumps(value, default=default)
    if b"null" in text:
        refuse_not_finite(value)
    return text


def refuse_not_finite(value: object) -> None:
    """Raises orjson.JSONEncodeError, which names the place, if a number somewhere in the value is NaN or infinite."""
    if not _all_finite(value):
        where, number = next(_not_finite(value, ""))
        raise orjson.JSONEncodeError(
            f"{where.lstrip('.') or 'it'} is {number}, and JSON has no such number"
        )


def _all_finite(value: object) -> bool:
    """The quick look: most documents that hold a null hold an honest one. Most of what it meets is text."""
    waiting = [value]
    pop, push = waiting.pop, waiting.append
    while waiting:
        container = pop()
        kind = type(container)
        if kind is dict:
            items: Iterable[Any] = container.values()  # type: ignore[attr-defined]
        elif kind is list:
            items = container  # type: ignore[assignment]
        else:
            items = [item for _, item in _items(container)]
        for item in items:
            kind = type(item)
            if kind is str or kind is int or item is None or kind is bool:
                continue
            if kind is not float:
                push(item)
            elif not isfinite(item):
                return False
    return True


def _not_finite(value: object, at: str) -> Iterator[tuple[str, float]]:
    """Every number that is none, and where it stands."""
    if isinstance(value, float) and not isfinite(value):
        yield at, value
    for name, item in _items(value):
        yield from _not_finite(item, at + name)


def _items(container: object) -> Iterator[tuple[str, object]]:
    """What a value holds as the writer sees it, each with its name; nothing for what holds nothing."""
    if isinstance(container, BaseModel):
        container = container.model_dump(mode="json", by_alias=True)
    if isinstance(container, Mapping):
        return ((f".{name}", item) for name, item in container.items())
    if isinstance(container, list | tuple):
        return ((f"[{place}]", item) for place, item in enumerate(container))
    if dataclasses.is_dataclass(container) and not isinstance(container, type):
        names = [field.name for field in dataclasses.fields(container)]
        return ((f".{name}", getattr(container, name)) for name in names)
    return iter(())
