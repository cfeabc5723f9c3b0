"""JSON that changes nothing: what can't be said is refused with its place, and whole numbers stay whole."""

from dataclasses import dataclass
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict

from awa.model import exact
from awa.model.draft import check_options, prepare, prepare_alike
from awa.model.errors import ValidationError
from awa.model.payload import decoder, encode, encode_all

NAN, INF = float("nan"), float("inf")


@dataclass
class Measured:
    at: list[float]
    note: str | None = None


class Weighed(BaseModel):
    kilos: float
    note: str | None = None


class Said(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="strings")
    kilos: float
    note: str | None = None


class Cried(BaseModel):
    model_config = ConfigDict(ser_json_inf_nan="constants")
    kilos: float


@pytest.mark.parametrize(
    ("args", "place"),
    [
        ({"a": NAN}, "a is nan"),
        ({"a": [1, {"b": None, "c": INF}]}, r"a\[1\].c is inf"),
        ({"a": (1.5, -INF)}, r"a\[1\] is -inf"),
        ({"a": Measured([0.5, NAN])}, r"a.at\[1\] is nan"),
        ({"a": Weighed(kilos=NAN)}, "a.kilos is nan"),
        (Measured([NAN]), r"at\[0\] is nan"),
        (Weighed(kilos=INF), "kilos is inf"),
        (Cried(kilos=INF), "kilos is inf"),
    ],
)
def test_a_number_that_json_does_not_know_is_refused_with_its_place(args: Any, place: str) -> None:
    with pytest.raises(ValidationError, match=place) as refused:
        encode(args)
    assert refused.value.fields[0].field == "args"
    options = check_options({"kind": "k"})
    assert prepare_alike([args] * 3, options) is None
    with pytest.raises(ValidationError, match=place):
        prepare(args, options)


def test_metadata_is_held_to_the_same() -> None:
    with pytest.raises(ValidationError, match="rate is nan") as refused:
        check_options({"metadata": {"rate": NAN, "none": None}})
    assert refused.value.fields[0].field == "metadata"


def test_a_model_that_has_words_for_them_keeps_them() -> None:
    assert encode(Said(kilos=INF)) == b'{"kilos":"Infinity","note":null}'


def test_nothing_else_is_refused_for_a_null() -> None:
    args = {"a": None, "b": [1.5, None, "nan", {"c": True}], "d": Measured([0.5])}
    assert orjson.loads(encode(args))["b"] == [1.5, None, "nan", {"c": True}]


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, 10**40])
def test_a_whole_number_stays_whole(number: int) -> None:
    text = f'{{"n": {number}}}'
    for read in (exact.loads, decoder(dict)):
        assert read(text)["n"] == number
        assert read(text.encode())["n"] == number


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
def test_one_too_large_to_be_written_is_refused(number: int) -> None:
    with pytest.raises(ValidationError, match="64-bit"):
        encode({"n": number})


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "[1", '{"a": }', ""])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        exact.loads(text)


def test_deep_documents_are_read_and_those_too_deep_refused() -> None:
    deep = "[" * 400 + "]" * 400
    assert exact.loads(deep) == orjson.loads(deep)
    with pytest.raises(ValueError, match="depth"):
        exact.loads("[" * 2_000 + "]" * 2_000)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=50)
@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_what_is_written_comes_back_as_it_was(args: dict[str, Any]) -> None:
    (text,) = encode_all(dict, [args])
    assert exact.loads(text) == args
    assert text == encode(args)
