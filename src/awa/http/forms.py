"""What a page's form sends: names and texts, bounded and checked as strictly as a JSON body.

Only application/x-www-form-urlencoded is taken: nothing here uploads files.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl

from fastapi import Request
from starlette.exceptions import HTTPException

from awa.http.bodies import media_type, read_bounded
from awa.model.errors import invalid_field

FORM_MAX_BYTES = 1024 * 1024
FORM_MAX_FIELDS = 5_000
_FORM = "application/x-www-form-urlencoded"
_ANY_FORM = frozenset({_FORM, "multipart/form-data", "text/plain"})


class Form:
    """The fields of a form; a name may stand there several times."""

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        values: dict[str, list[str]] = {}
        for name, value in pairs:
            values.setdefault(name, []).append(value)
        self._values: Mapping[str, list[str]] = values

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def one(self, name: str) -> str:
        """The field's text; ValidationError if it is missing or given twice."""
        values = self.many(name)
        if len(values) != 1:
            raise invalid_field(name, "is given twice" if values else "is missing")
        return values[0]

    def get(self, name: str, default: str = "") -> str:
        """The field's text, or `default`; ValidationError if it is given twice."""
        return self.one(name) if name in self else default

    def many(self, name: str) -> list[str]:
        """All texts of that name, in the order of the form."""
        return list(self._values.get(name, ()))


def is_form(request: Request) -> bool:
    """Whether it has a body that a page can send without asking: any kind of form."""
    return media_type(request) in _ANY_FORM


async def read_form(request: Request) -> Form:
    """Read the form; a second call gives it again. Raises HTTPException 413 and 415, and ValidationError."""
    form = getattr(request.state, "form", None)
    if not isinstance(form, Form):
        form = request.state.form = await _read(request)
    return form


async def _read(request: Request) -> Form:
    if media_type(request) != _FORM:
        raise HTTPException(415, f"the body must be a form: Content-Type: {_FORM}")
    body = await read_bounded(request, FORM_MAX_BYTES)
    try:
        pairs = parse_qsl(
            body.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=FORM_MAX_FIELDS,
        )
    except UnicodeDecodeError:
        raise invalid_field("form", "is not UTF-8 text, percent-encoded") from None
    except ValueError:
        raise invalid_field("form", f"has more than {FORM_MAX_FIELDS} fields") from None
    for name, value in pairs:
        if "\0" in name or "\0" in value:
            raise invalid_field(name.replace("\0", "") or "form", "holds a NUL character")
    return Form(pairs)
