"""Unique options on the command line: `--unique-by args.order --unique-by queue --on-conflict ignore`."""

from typing import Annotated, Any, Final

import typer

from awa.cli.values import wrong
from awa.model.unique import UniqueOpts

UNIQUE_BY: Final = "--unique-by"
_WORDS: Final = "args, args.FIELD, kind, queue, period=SECONDS or key=TEXT"

UniqueBy = Annotated[
    list[str] | None,
    typer.Option(
        UNIQUE_BY,
        metavar="WHAT",
        help=f"What makes the job the same as another: {_WORDS}; may be said often.",
    ),
]
UniqueStates = Annotated[
    list[str] | None,
    typer.Option(
        "--unique-state",
        metavar="STATE",
        help="A state in which the key is held, instead of the usual ones; may be said often.",
    ),
]
OnConflict = Annotated[
    str | None,
    typer.Option(
        "--on-conflict",
        metavar="POLICY",
        help="If another job holds the key: reject (else it is this), replace or ignore.",
    ),
]


def unique_opts(
    by: list[str] | None, states: list[str] | None = None, on_conflict: str | None = None
) -> UniqueOpts | None:
    """The options that the words say; None if they say nothing."""
    if not by:
        for option, said in (("--unique-state", states), ("--on-conflict", on_conflict)):
            if said:
                raise wrong(option, f"{option} is for unique jobs", f"Say {UNIQUE_BY} as well.")
        return None
    opts: dict[str, Any] = {}
    for word in by:
        _add(opts, word)
    if states:
        opts["by_states"] = states
    if on_conflict is not None:
        opts["on_conflict"] = on_conflict
    return opts  # type: ignore[return-value]  # checked with the job's other options


def _add(opts: dict[str, Any], word: str) -> None:
    name, equals, value = word.partition("=")
    match name, bool(equals):
        case "args", False:
            opts["by_args"] = True
        case "kind", False:
            opts.setdefault("by_args", False)
        case "queue", False:
            opts["by_queue"] = True
        case "key", True:
            opts["key"] = value
        case "period", True if value.isdecimal():
            opts["by_period"] = int(value)
        case _ if word.startswith("args.") and word != "args.":
            fields = opts.get("by_args")
            opts["by_args"] = [
                *(fields if isinstance(fields, list) else []),
                word.removeprefix("args."),
            ]
        case _:
            raise wrong(UNIQUE_BY, f"{UNIQUE_BY} {word}: expected {_WORDS}")
