"""Errors carry a code, a hint and the fields that are at fault."""

import pytest

from awa.model import errors
from awa.model.errors import (
    AwaError,
    Conflict,
    FieldProblem,
    UniqueConflict,
    invalid_field,
    invalid_fields,
)


def subclasses(of: type[AwaError]) -> list[type[AwaError]]:
    return [of, *(deep for sub in of.__subclasses__() for deep in subclasses(sub))]


def test_every_error_has_a_code_of_its_own() -> None:
    ours = [error for error in subclasses(AwaError) if error.__module__ == errors.__name__]
    codes = [error.code for error in ours]
    assert len(codes) == len(set(codes))


def test_the_hint_is_part_of_the_text_but_not_of_the_message() -> None:
    error = Conflict("it is running", hint="wait for it", details={"state": "running"})
    assert str(error) == "it is running (wait for it)"
    assert error.message == "it is running"
    assert error.details == {"state": "running"}


def test_a_unique_conflict_is_a_conflict() -> None:
    with pytest.raises(Conflict):
        raise UniqueConflict("job 7 holds the key")


def test_field_errors_name_their_fields() -> None:
    one = invalid_field("priority", "must be between 1 and 4, got 9")
    assert one.fields == (FieldProblem("priority", "must be between 1 and 4, got 9"),)
    several = invalid_fields("filter", [FieldProblem("a", "is odd"), FieldProblem("b", "is even")])
    assert several.message == "the filter is not valid: a: is odd; b: is even"
    assert several.code == errors.ValidationError.code == "invalid"
