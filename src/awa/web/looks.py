"""How jobs are looked at by a page: which secrets are hidden, and which line of words is searched for."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from fastapi import Request

from awa.http.context import served
from awa.model import search
from awa.model.errors import ValidationError
from awa.model.masking import Mask


def mask_of(request: Request) -> Mask:
    """The names of fields whose values this server hides."""
    return Mask.of(served(request).settings.masked_keys)


@dataclass(frozen=True, slots=True)
class Asked:
    """What somebody typed: a search that was understood, or what is wrong with it."""

    text: str
    search: search.Search | None
    problems: tuple[dict[str, Any], ...] = ()


def ask(text: str) -> Asked:
    """Read the line that stands in the search box."""
    text = text.strip()
    try:
        return Asked(text, search.parse(text, now=datetime.now(UTC)))
    except ValidationError as refusal:
        details = refusal.details or {}
        found = tuple(
            details.get("problems") or ({"message": refusal.message, "suggestion": None},)
        )
        return Asked(text, None, found)
