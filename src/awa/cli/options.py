"""The options that every command has, wherever in the line they stand.

`awa job list --json` is what people type, `awa --json job list` is what the grammar says; both are
right. So the global options are taken out of the line before the commands see it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import typer

from awa.model.errors import ValidationError

DEBUG_VARIABLE: Final = "AWA_DEBUG"

_FLAGS: Final = ("--json", "--embedded", "--debug")
_WITH_VALUE: Final = "--database-url"


@dataclass(frozen=True, slots=True)
class Options:
    """What was said before any command."""

    database_url: str | None = None
    embedded: bool = False
    as_json: bool = False
    debug: bool = False


def take_options(arguments: Sequence[str]) -> tuple[Options, list[str]]:
    """The global options in a command line, and the line without them. `--` ends the search."""
    found: dict[str, str | bool] = {}
    rest: list[str] = []
    words = iter(arguments)
    for word in words:
        if word == "--":
            rest += [word, *words]
        elif word in _FLAGS:
            found[word] = True
        elif word == _WITH_VALUE:
            found[word] = next(words, "")
        elif word.startswith(f"{_WITH_VALUE}="):
            found[_WITH_VALUE] = word.partition("=")[2]
        else:
            rest.append(word)
    url = found.get(_WITH_VALUE)
    return Options(
        database_url=url if isinstance(url, str) else None,
        embedded="--embedded" in found,
        as_json="--json" in found,
        debug="--debug" in found or bool(os.environ.get(DEBUG_VARIABLE)),
    ), rest


def check_options(options: Options) -> None:
    """Refuse what contradicts itself."""
    if options.database_url == "":
        raise ValidationError("--database-url has no value")
    if options.database_url and options.embedded:
        raise ValidationError(
            "--database-url and --embedded were both given",
            hint="--embedded is a server of its own; give one of the two.",
        )


def options_of(context: typer.Context) -> Options:
    """The options of this run."""
    options = context.find_object(Options)
    assert options is not None, "main() gives every command its options"
    return options
