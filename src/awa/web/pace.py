"""How fast an operation may go and which one comes first, as a form says it: when it is submitted, and while it goes on."""

from dataclasses import dataclass
from typing import Final

from awa.http.forms import Form
from awa.model.errors import invalid_field
from awa.model.limits import check_priority, check_rows_per_second

RATE_FIELD: Final = "max_rows_per_second"
PRIORITY_FIELD: Final = "priority"
_SEPARATORS: Final = str.maketrans("", "", ",\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}")


@dataclass(frozen=True, slots=True)
class Pace:
    """Rows a second, None without a limit, and the operation's own priority, None where nothing is said."""

    max_rows_per_second: int | None = None
    priority: int | None = None


def read_pace(form: Form) -> Pace:
    """What the form says; an empty rate is no limit. Raises ValidationError at the field."""
    rate = _whole(form, RATE_FIELD)
    priority = _whole(form, PRIORITY_FIELD)
    return Pace(
        None if rate is None else check_rows_per_second(rate, field=RATE_FIELD),
        None if priority is None else check_priority(priority),
    )


def _whole(form: Form, field: str) -> int | None:
    """A number as people write it, with separators; nothing is None."""
    text = form.get(field)
    digits = text.strip().translate(_SEPARATORS)
    if not digits:
        return None
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= 18):
        raise invalid_field(field, f"expected a whole number, got {text[:40]!r}")
    return int(digits)
