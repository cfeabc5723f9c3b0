"""Job arguments on their way to JSON and back, and the kind that a type of arguments stands for.

Arguments are a dataclass, a pydantic model, a TypedDict or a dict. They travel as JSON text: orjson
writes it (datetimes and UUIDs included), and pydantic reads it back into the declared type, so a
handler never sees a datetime that is still a string. A payload that can't be written is refused at
insert, with the name of what stood in the way.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any

import orjson
from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError

from awa.model import exact
from awa.model.errors import FieldProblem, ValidationError

_WITHOUT_NEWLINE: Callable[[bytes], bytes] = itemgetter(slice(0, -1))
_BEFORE_WORD = re.compile(r"(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-z0-9])(?=[A-Z])")


def kind_of(args_type: type[Any]) -> str:
    """The kind of jobs with these arguments: `SendEmail` gives `send_email`."""
    if args_type is dict:
        raise ValidationError(
            "a dict has no name that a kind could come from",
            hint='name the kind: kind="send_email"',
            fields=(FieldProblem("kind", "is required for a dict"),),
        )
    return _BEFORE_WORD.sub("_", args_type.__name__).lower()


def encode(args: object) -> bytes:
    """The JSON text of one job's arguments. Raises ValidationError on what JSON can't hold."""
    if isinstance(args, BaseModel):
        return _model(args)
    if not (isinstance(args, Mapping) or _is_dataclass(args)):
        raise _unfit(args, "not a dataclass, a pydantic model or a dict")
    return _write(dict(args) if isinstance(args, Mapping) else args)


def _model(args: BaseModel) -> bytes:
    text = args.model_dump_json(by_alias=True).encode()
    said_as = args.model_config.get("ser_json_inf_nan", "null")
    if (said_as == "null" and b"null" in text) or said_as == "constants":
        try:
            exact.refuse_not_finite(args)
        except orjson.JSONEncodeError as problem:
            raise _unfit(args, str(problem)) from problem
    return text


def _write(args: object) -> bytes:
    try:
        return exact.dumps(args, _plain)
    except orjson.JSONEncodeError as problem:
        raise _unfit(args, str(problem)) from problem


def encode_all(args_type: type[Any], many: Sequence[Any]) -> list[bytes]:
    """The JSON texts of arguments of exactly this type, by one pass of C code where that can be.

    Raises ValidationError or orjson.JSONEncodeError; `encode` says better what is wrong with which of them.
    """
    if args_type is not dict and (
        not dataclasses.is_dataclass(args_type) or issubclass(args_type, Mapping)
    ):
        return [encode(args) for args in many]
    # orjson gives out a kilobyte and shrinks it; kept by the thousand, such pieces cost ten times the writing. A slice is
    # a copy of the right size.
    write = partial(orjson.dumps, default=_plain, option=orjson.OPT_APPEND_NEWLINE)
    texts = list(map(_WITHOUT_NEWLINE, map(write, many)))
    if b"null" in b"".join(texts):
        for args, text in zip(many, texts, strict=True):
            if b"null" in text:
                exact.refuse_not_finite(args)
    return texts


def decoder(args_type: type[Any]) -> Callable[[bytes | str], Any]:
    """A function from JSON text to `args_type`. It raises ValueError on text that doesn't fit."""
    if issubclass(args_type, BaseModel):
        return args_type.model_validate_json
    if args_type is dict:
        return exact.loads
    try:
        return TypeAdapter(args_type).validate_json
    except PydanticUserError:
        # Before Python 3.12 pydantic can't look into typing.TypedDict; its values stay plain JSON.
        return exact.loads


def check_args_type(args_type: object) -> None:
    """Refuse what can't be the arguments of a task."""
    fits = isinstance(args_type, type) and (
        issubclass(args_type, BaseModel | dict) or dataclasses.is_dataclass(args_type)
    )
    if not fits:
        raise ValidationError(
            f"{args_type!r} can't be the arguments of a task",
            hint="give a dataclass, a pydantic model, a TypedDict or dict",
            fields=(FieldProblem("args", "not a dataclass, pydantic model, TypedDict or dict"),),
        )


def _is_dataclass(args: object) -> bool:
    return dataclasses.is_dataclass(args) and not isinstance(args, type)


def _plain(value: object) -> object:
    """What orjson doesn't know itself: pydantic models and mappings inside of other arguments."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a value of type {type(value).__name__} has no JSON form")


def _unfit(args: object, problem: str) -> ValidationError:
    return ValidationError(
        f"arguments of type {type(args).__name__} can't be stored: {problem}",
        hint="give a dataclass, a pydantic model or a dict whose values have a JSON form",
        fields=(FieldProblem("args", problem),),
    )
