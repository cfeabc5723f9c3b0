"""Unique options on the command line: `--unique-by args.order --unique-by queue --on-conflict ignore`."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

import typer

from awa.cli.values import wrong
from awa.model.errors import UniqueConflict
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


def of_the_input(conflict: UniqueConflict, places: Sequence[int] | None = None) -> UniqueConflict:
    """A conflict in the words of the command line. `places`: where in all of the input the set's jobs stand, from 0."""
    conflicts = (conflict.details or {})["conflicts"]
    message, hint = conflict.message, conflict.hint
    if places is not None:
        conflicts = [{**one, "place": places[one["place"]]} for one in conflicts]
        holder = "a job before it" if conflict.job_id is None else f"job {conflict.job_id}"
        message = (
            f"job number {conflicts[0]['place'] + 1} of the input: {holder} holds its unique key"
        )
    if hint is not None and "on_conflict" in hint:
        hint = "Say what else may happen: --on-conflict ignore, or --on-conflict replace."
    return UniqueConflict(
        message, hint=hint, details={"conflicts": conflicts}, job_id=conflict.job_id
    )


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
