"""How values become JSON, the same everywhere: times in UTC end with Z, a value may have a form of its own."""

import json
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel

# A dataclass comes to _default, as it may have a form of its own.
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


def to_json(value: Any) -> bytes:
    """The value as JSON. Raises TypeError for what has no JSON form."""
    try:
        return orjson.dumps(value, default=_default, option=_OPTIONS)
    except orjson.JSONEncodeError:
        # Arguments of jobs may hold whole numbers beyond 64 bits, or be nested deeper than the fast writer goes.
        return json.dumps(value, default=_slow_default, ensure_ascii=False).encode()


def _default(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    own_form = getattr(value, "json", None)
    if callable(own_form):
        return own_form()
    if is_dataclass(value):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _slow_default(value: Any) -> Any:
    """What the fast writer knows by itself."""
    if isinstance(value, datetime | UUID):
        return orjson.loads(orjson.dumps(value, option=_OPTIONS))
    return _default(value)
