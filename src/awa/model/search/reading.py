"""From a line of text to its words: where each stands, and what is wrong with those that are none."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from awa.model.search.words import BY_NAME, NEARBY, WORDS, Word, quoted

_NAME: Final = re.compile(r"(-?[A-Za-z_]+):")
_OPERATOR: Final = re.compile(r">=|<=|>|<")
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Value:
    """One value as it was meant: in quotation marks nothing in it has a second meaning, a star behind it has."""

    text: str
    quoted: bool = False
    starred: bool = False


@dataclass(frozen=True, slots=True)
class Said:
    """A word that could be read: its place in the text, its name and what it says."""

    start: int
    end: int
    text: str
    word: Word
    operator: str = ""
    values: tuple[Value, ...] = ()
    json: Any = None


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with the text from `start` to `end`; `instead` is what may have been meant there."""

    start: int
    end: int
    word: str
    message: str
    instead: str | None = None


class Unreadable(Exception):
    """A word that cannot be read; the rest of the line can."""

    def __init__(self, end: int, message: str, instead: str | None = None) -> None:
        super().__init__(message)
        self.end, self.message, self.instead = end, message, instead


def words_of(text: str) -> Iterator[Said | Problem]:
    """The words of a line in their order."""
    at = _blank(text, 0)
    while at < len(text):
        try:
            found: Said | Problem = _word(text, at)
        except Unreadable as problem:
            said = text[at : problem.end]
            found = Problem(at, problem.end, said, problem.message, problem.instead)
        yield found
        at = _blank(text, found.end)


def _word(text: str, start: int) -> Said:
    named = _NAME.match(text, start)
    if named is None:
        end = _end_of_word(text, start)
        raise _nameless(text[start:end], end)
    word = _known(named[1], text, start, named.end())
    at = named.end()
    operator = _OPERATOR.match(text, at)
    if operator is not None:
        at = operator.end()
        if not word.compared:
            raise _cannot_compare(word, operator[0], text, at)
    if word.takes == "json":
        found, end = _json(text, at)
        return Said(start, end, text[start:end], word, json=found)
    values, end = _values(word, text, at)
    return Said(start, end, text[start:end], word, operator[0] if operator else "", values)


def _known(name: str, text: str, start: int, at: int) -> Word:
    """The word of that name, or a refusal with the nearest one."""
    found = BY_NAME.get(name.lower())
    if found is not None:
        return found
    end = _end_of_word(text, at)
    rest = text[at:end]
    if name.startswith("-") and name[1:].lower() in BY_NAME:
        message = f"only a tag can be excluded (-tag:…), not {name[1:]!r}"
        raise Unreadable(end, message)
    nearest = _nearest(name)
    if nearest is None:
        raise Unreadable(
            end, f"{name!r} is no word of a search; known are {', '.join(w.name for w in WORDS)}"
        )
    message = f"{name!r} is no word of a search, did you mean {nearest!r}?"
    raise Unreadable(end, message, f"{nearest}:{rest}")


def _nearest(name: str) -> str | None:
    lower = name.lower()
    if lower in NEARBY:
        return NEARBY[lower]
    close = get_close_matches(lower, BY_NAME, n=1, cutoff=0.6)
    return close[0] if close else None


def _nameless(said: str, end: int) -> Unreadable:
    if said.isascii() and said.isdecimal():
        return Unreadable(
            end, f"{said!r} alone says too little; for the job write id:{said}", f"id:{said}"
        )
    shown = said if len(said) <= 60 else said[:59] + "…"
    if said.startswith('"'):
        return Unreadable(
            end,
            f"{shown} does not say where to look; write queue:{shown}, tag:{shown} or error:{shown}",
            f"error:{said}" if len(said) > 2 and said.endswith('"') else None,
        )
    meant = said.strip("-:")
    return Unreadable(
        end,
        f"{shown!r} does not say where to look; write queue:{shown}, kind:{shown} or tag:{shown}",
        f"{'-' if said.startswith('-') else ''}tag:{quoted(meant)}" if meant else None,
    )


def _cannot_compare(word: Word, operator: str, text: str, at: int) -> Unreadable:
    end = _end_of_word(text, at)
    message = f"{word.name} is not compared with {operator}; write {word.example}"
    if word.takes in {"names", "text"}:
        literal = quoted(operator + text[at:end])
        return Unreadable(end, f"{message}, or {word.name}:{literal} for the text itself")
    return Unreadable(end, message)


def _values(word: Word, text: str, at: int) -> tuple[tuple[Value, ...], int]:
    """The values from `at` on, and where the word ends. A comma at the end makes a list of one."""
    values: list[Value] = []
    while True:
        if text.startswith('"', at):
            content, at = _string(text, at)
            starred = text.startswith("*", at)
            at += starred
            values.append(Value(content, quoted=True, starred=starred))
        else:
            end = _end_of_value(text, at, commas=word.listed)
            if end > at:
                plain = text[at:end]
                starred = word.listed and plain.endswith("*")
                values.append(Value(plain.removesuffix("*") if starred else plain, starred=starred))
            elif not values:
                raise Unreadable(
                    _end_of_word(text, at), f"{word.name}: has no value; write {word.example}"
                )
            at = end
        if not (word.listed and text.startswith(",", at)):
            break
        at += 1
        if at == len(text) or text[at].isspace():
            return (*values, Value("")), at
    if at < len(text) and not text[at].isspace():
        raise Unreadable(
            _end_of_word(text, at), f"{word.name}: after the quotation mark a blank is missing"
        )
    return tuple(values), at


def _string(text: str, at: int) -> tuple[str, int]:
    try:
        content, end = _DECODER.raw_decode(text, at)
    except ValueError as problem:
        why = _quote_problem(text, at, problem)
        raise Unreadable(len(text), why) from None
    return str(content), end


def _quote_problem(text: str, at: int, problem: ValueError) -> str:
    if '"' not in text[at + 1 :]:
        return "a quotation mark is opened and never closed"
    return f'between quotation marks the rules of JSON hold (\\" and \\\\): {problem}'


def _json(text: str, at: int) -> tuple[Any, int]:
    if not text.startswith(("{", "["), at):
        raise Unreadable(
            _end_of_word(text, at),
            'args: takes a JSON object or list; write args:{"customer":"acme"}',
        )
    try:
        found, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as problem:
        why = (
            str(problem)
            if isinstance(problem, json.JSONDecodeError)
            else "it is too large or too deep"
        )
        raise Unreadable(len(text), f"args: this is not JSON: {why}") from None
    if end < len(text) and not text[end].isspace():
        raise Unreadable(_end_of_word(text, end), "args: after the JSON a blank is missing")
    return found, end


def _end_of_value(text: str, at: int, *, commas: bool) -> int:
    while at < len(text) and not text[at].isspace() and not (commas and text[at] == ","):
        at += 1
    return at


def _end_of_word(text: str, at: int) -> int:
    """Where a word that cannot be read ends: at the next blank outside quotation marks."""
    inside = False
    while at < len(text) and (inside or not text[at].isspace()):
        if text[at] == '"' and (at == 0 or text[at - 1] != "\\"):
            inside = not inside
        at += 1
    return at


def _blank(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at
