"""Large changes are confirmed by typing how many they touch."""

from typing import Final

from awa.http.forms import Form

TYPED_ABOVE_JOBS: Final = 1_000
TYPED_FIELD: Final = "typed"
_SEPARATORS: Final = str.maketrans("", "", ",. \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}_'")


def must_be_typed(count: int) -> bool:
    """Whether a change of so many jobs asks for the number."""
    return count > TYPED_ABOVE_JOBS


def typed_enough(form: Form, count: int) -> bool:
    """Whether the number was typed where it has to be, with or without separators."""
    return not must_be_typed(count) or is_typed(form, count)


def is_typed(form: Form, count: int) -> bool:
    """Whether the number was typed, with or without separators."""
    return form.get(TYPED_FIELD).translate(_SEPARATORS) == str(count)
