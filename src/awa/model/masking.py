"""Secrets in arguments: which values are shown and which are not.

Arguments belong to whoever enqueued them, and some hold passwords, tokens, card numbers. An operator
needs the rest of them to know what a job is about. So a value is hidden by the name of its field, at any
depth: the field's name, or some of its words in a row, is one of the names of the list. `card` hides
`card`, `cards`, `card_number` and `creditCard`, but not `discarded`. What was hidden is never sent.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Self

MASKED: Final = "•••"
# Nobody reads a document deeper than this, and those who write it out again could not either.
DEPTH_MAX: Final = 100
CUT: Final = "… (deeper than is shown)"
OFF: Final = "off"
DEFAULT_MASKED_KEYS: Final = (
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "jwt",
    "api_key",
    "access_key",
    "private_key",
    "authorization",
    "credential",
    "cookie",
    "card",
    "cvc",
    "cvv",
    "iban",
    "ssn",
)

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")
MASKED_COLUMNS: Final = ("args", "metadata")


@dataclass(frozen=True, slots=True)
class Mask:
    """Names of fields whose values are hidden, each without separators and in lower case."""

    names: frozenset[str]

    @classmethod
    def of(cls, text: str | None = None) -> Self:
        """The mask of a setting: names with commas between them; `+ …` adds to the default, `off` hides nothing."""
        if text is None or not text.strip():
            return cls._of_names(DEFAULT_MASKED_KEYS)
        if text.strip().lower() == OFF:
            return cls(frozenset())
        more = text.strip().startswith("+")
        names = [name for name in re.split(r"[,\s]+", text.strip().removeprefix("+")) if name]
        return cls._of_names([*DEFAULT_MASKED_KEYS, *names] if more else names)

    @classmethod
    def _of_names(cls, names: Iterable[str]) -> Self:
        return cls(frozenset(joined for name in names if (joined := "".join(_words(name)))))

    def hides(self, name: str) -> bool:
        """Whether the value of a field of this name is hidden."""
        if not self.names:
            return False
        words = _words(name)
        for first in range(len(words)):
            joined = ""
            for word in words[first:]:
                joined += word
                if joined in self.names or joined.removesuffix("s") in self.names:
                    return True
        return False

    def value(self, given: Any) -> tuple[Any, bool]:
        """A JSON value with its secrets hidden, and whether there were any; the value given stays as it is."""
        if isinstance(given, str):
            # A document too deep to be parsed comes as its text: nobody can tell what is in it.
            return (MASKED, True) if self.names and given[:1] in ("{", "[") else (given, False)
        if not isinstance(given, dict | list):
            return given, False
        return self._container(given)

    def row(self, row: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
        """A job's row with the secrets of its arguments and metadata hidden, and whether there were any."""
        shown = dict(row)
        hidden = False
        for column in MASKED_COLUMNS:
            if column in shown:
                shown[column], here = self.value(shown[column])
                hidden = hidden or here
        return shown, hidden

    def _container(self, given: dict[str, Any] | list[Any]) -> tuple[Any, bool]:
        """Copies level by level with a stack of its own: a document may be deeper than Python's calls may go."""
        hidden = False
        result: list[Any] = [given]
        stack: list[tuple[Any, Any, int]] = [(result, 0, 0)]
        while stack:
            holder, place, depth = stack.pop()
            if depth == DEPTH_MAX:
                holder[place] = CUT
                continue
            copy = holder[place].copy()
            if isinstance(copy, dict):
                secret = [name for name in copy if copy[name] is not None and self.hides(name)]
                copy |= dict.fromkeys(secret, MASKED)
                hidden = hidden or bool(secret)
            holder[place] = copy
            parts = copy.items() if isinstance(copy, dict) else enumerate(copy)
            stack += [(copy, at, depth + 1) for at, v in parts if isinstance(v, dict | list)]
        return result[0], hidden


def _words(name: str) -> list[str]:
    """The words of a name: api_key, api-key, apiKey and APIKey are api and key."""
    return [word.lower() for word in _WORDS.findall(name)]


DEFAULT_MASK: Final = Mask.of()
NO_MASK: Final = Mask.of(OFF)
