"""What every route does before its endpoint runs: admit the request, then refuse what it can't read.

The order matters. Access comes first, so that a stranger learns nothing from how a body is refused.
Unknown query parameters and unknown body fields are mistakes and treated as such: a misspelt
`?stat=running` must not become a list of everything, a misspelt filter field no wider operation.
"""

from collections.abc import Callable, Coroutine
from typing import Any

import orjson
from fastapi import Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import AliasChoices, BaseModel
from starlette.exceptions import HTTPException

from awa.http.access import right_of
from awa.http.bodies import media_type, read_bounded
from awa.http.context import served
from awa.http.sessions import refuse_ended
from awa.model.errors import FieldProblem, ValidationError, invalid_fields
from awa.model.problems import unknown_field

BODY_MAX_BYTES = 4 * 1024 * 1024


class GuardedRoute(APIRoute):
    """A route whose endpoint says what it needs; router = APIRouter(route_class=GuardedRoute)."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        right = right_of(self.endpoint)
        known = _query_names(self.dependant)
        fields = _field_names(self)

        async def guarded(request: Request) -> Response:
            request.state.actor = served(request).access.admit(request, right)
            await refuse_ended(request, right)
            _refuse_unknown_query(request, known)
            if self.body_field is None:
                return await handle(request)
            bounded = _as_json(request)
            await bounded.read(fields)
            return await handle(bounded)

        return guarded


class _BoundedRequest(Request):
    """A request whose body is read before FastAPI asks for it: bounded, strict, in our own words."""

    async def read(self, fields: list[str]) -> None:
        """Read the body; raises unless it is empty or JSON without unknown fields and NUL characters."""
        body = await self.body()
        if not body.strip():
            self._body = b""  # FastAPI says what is missing
            return
        try:
            # orjson is strict where it should be: no NaN, no lone surrogates, no nesting without end.
            self._json = orjson.loads(body)
        except orjson.JSONDecodeError as problem:
            raise _refused("body", f"is not JSON: {problem}") from None
        _refuse_nul(self._json)
        _refuse_unknown_fields(self._json, fields)

    async def body(self) -> bytes:
        if not hasattr(self, "_body"):
            self._body = await read_bounded(self, BODY_MAX_BYTES)
        return self._body


def _refuse_unknown_query(request: Request, known: list[str]) -> None:
    pairs = request.query_params.multi_items()
    seen = [name for name, _ in pairs]
    problems = [_unknown(name, known) for name in dict.fromkeys(seen) if name not in known]
    problems += [FieldProblem(name, "is given twice") for name in known if seen.count(name) > 1]
    problems += [
        FieldProblem(name, "holds a NUL character") for name, value in pairs if "\0" in value
    ]
    if problems:
        raise invalid_fields("query", problems)


def _unknown(name: str, known: list[str]) -> FieldProblem:
    if not known:
        return FieldProblem(name, "this takes no query parameters")
    return unknown_field(name, known)


def _as_json(request: Request) -> _BoundedRequest:
    """A body is JSON, or says nothing of itself and is read as JSON; what a form sends is refused."""
    if media_type(request) not in {"", "application/json"}:
        raise HTTPException(415, "the body must be JSON: send Content-Type: application/json")
    headers = [pair for pair in request.scope["headers"] if pair[0] != b"content-type"]
    headers.append((b"content-type", b"application/json"))
    return _BoundedRequest({**request.scope, "headers": headers}, request.receive)


def _query_names(dependant: Dependant) -> list[str]:
    """The query parameters of a route, those of what it depends on included."""
    names = [parameter.alias for parameter in dependant.query_params]
    for below in dependant.dependencies:
        names += _query_names(below)
    return names


def _field_names(route: APIRoute) -> list[str]:
    """The fields of the route's body model, by the names that a caller may use."""
    if route.body_field is None:
        return []
    model = route.body_field.field_info.annotation
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise TypeError(f"{route.path}: a body is described by a model")
    names: list[str] = []
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        choices = alias.choices if isinstance(alias, AliasChoices) else [alias or name]
        names += [str(choice) for choice in choices]
    return names


def _refuse_unknown_fields(value: Any, known: list[str]) -> None:
    if not isinstance(value, dict):
        return  # the model says what it should have been
    unknown = [unknown_field(name, known) for name in value if name not in known]
    if unknown:
        raise invalid_fields("request", unknown)


def _refuse_nul(value: Any) -> None:
    """PostgreSQL's text holds every character but NUL; say so here, by name, before it does."""
    stack: list[tuple[str, Any]] = [("", value)]
    while stack:
        name, part = stack.pop()
        if isinstance(part, str) and "\0" in part:
            raise _refused(name or "body", "holds a NUL character")
        if isinstance(part, dict):
            if any("\0" in key for key in part):
                raise _refused(name or "body", "has a field name with a NUL character")
            stack += [(f"{name}.{key}" if name else key, below) for key, below in part.items()]
        elif isinstance(part, list):
            stack += [(f"{name}[{index}]", below) for index, below in enumerate(part)]


def _refused(field: str, message: str) -> ValidationError:
    return ValidationError(f"{field} {message}", fields=[FieldProblem(field, message)])
