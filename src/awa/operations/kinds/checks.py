"""Lets a spec use the checks of `awa.model.limits`, with their own words."""

from collections.abc import Callable
from typing import TypeVar

from pydantic_core import PydanticCustomError

from awa.model.errors import ValidationError

T = TypeVar("T")


def told(check: Callable[[object], T], value: object) -> T:
    """What the check returns; what it refuses, pydantic hears as the problem of the field at hand."""
    try:
        return check(value)
    except ValidationError as refused:
        raise PydanticCustomError("awa", "{why}", {"why": refused.fields[0].message}) from None
