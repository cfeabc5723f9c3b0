"""Everything that goes wrong leaves in one shape: {"error": {"code", "message", "fields"}}.

`hint` (what to do) and `details` (such as the present state after a refused transition) stand beside
them when there is something to say. The table below is the only place that knows HTTP statuses.

A client learns what it needs and no more: of a database that cannot be reached, and of a mistake of
ours, the reason goes to the log under a short reference, since it may name hosts, users or statements.
"""

import logging
import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from awa.http.routes import methods_at
from awa.model.errors import AwaError, DatabaseError, FieldProblem
from awa.operations.failures import Failure, judge

log = logging.getLogger("awa.api")

RETRY_AFTER_S = 5
FIELDS_MAX = 50
TEXT_MAX_CHARS = 1_000

STATUS_OF_CODE: Mapping[str, int] = {
    "invalid": 422,
    "not_confirmed": 422,
    "unknown_job_kind": 422,
    "unauthorized": 401,
    "forbidden": 403,
    "read_only": 403,
    "not_found": 404,
    "conflict": 409,
    "unique_conflict": 409,
    "plan_drifted": 409,
    "plan_expired": 409,
    "too_many": 429,
    "too_slow": 503,
    "database": 503,
    "schema_not_migrated": 503,
}
# A failed statement that only says what the data or our own SQL is like: trying again later won't help.
_OUR_MISTAKES = frozenset({Failure.BAD_ROW, Failure.HOPELESS})
# What these say was written for whoever runs the server, not for whoever asks it.
_KEPT_TO_THE_LOG = {"database": "the database cannot answer now"}
_CODE_OF_STATUS = {
    400: "invalid",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
    414: "uri_too_long",
    415: "unsupported_media_type",
}


def install(app: FastAPI) -> None:
    """Make every error of the app come out in the one shape."""
    for kind in (AwaError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, _answer)


def answer_to(request: Request, error: Exception) -> Response:
    """The answer to whatever went wrong while a request was served."""
    match error:
        case AwaError():
            return of_awa_error(error)
        case RequestValidationError():
            fields = list(_fields_of(error.errors()))
            return problem(422, "invalid", _summary(fields), fields=fields)
        case HTTPException():
            return _of_http_error(request, error)
    return of_surprise(error)


def problem(
    status: int,
    code: str,
    message: str,
    *,
    fields: Sequence[FieldProblem] = (),
    hint: str | None = None,
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Build an error answer."""
    shown = [
        {"field": _short(one.field), "message": _short(one.message)} for one in fields[:FIELDS_MAX]
    ]
    error: dict[str, Any] = {"code": code, "message": _short(message), "fields": shown}
    if hint:
        error["hint"] = hint
    if details:
        error["details"] = dict(details)
    body = orjson.dumps({"error": error}, default=str)
    return Response(body, status, headers=dict(headers or {}), media_type="application/json")


def _short(text: str) -> str:
    """What a caller sent comes back to be recognised, not to be read in full."""
    return text if len(text) <= TEXT_MAX_CHARS else text[: TEXT_MAX_CHARS - 1] + "…"


def of_awa_error(error: AwaError) -> Response:
    """Translate an error of ours."""
    status = STATUS_OF_CODE.get(error.code)
    if status is None or (isinstance(error, DatabaseError) and judge(error) in _OUR_MISTAKES):
        return of_surprise(error)
    message, hint = error.message, error.hint
    if error.code in _KEPT_TO_THE_LOG and not (error.details or {}).get("retryable"):
        reference = _log_trouble(error)
        message, hint = (
            _KEPT_TO_THE_LOG[error.code],
            f"the server's log has the reason: {reference}",
        )
    return problem(
        status,
        error.code,
        message,
        fields=error.fields,
        hint=hint,
        details=error.details,
        headers=_headers_for(status, error.details or {}),
    )


def of_surprise(error: BaseException) -> Response:
    """Answer for a mistake of ours: the reason is in the log, the reference in both."""
    reference = _log_surprise(error)
    return problem(
        500,
        "internal",
        "something went wrong on the server",
        hint=f"the server's log has the reason: {reference}",
    )


async def _answer(request: Request, error: Exception) -> Response:
    return answer_to(request, error)


def _of_http_error(request: Request, error: HTTPException) -> Response:
    code = _CODE_OF_STATUS.get(error.status_code, "invalid")
    message = {
        404: f"there is nothing at {request.url.path}",
        405: f"{request.method} is not possible at {request.url.path}",
    }.get(error.status_code, str(error.detail))
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = ", ".join(methods_at(request.app, request.scope))
    return problem(error.status_code, code, message, headers=headers)


def _fields_of(errors: Iterable[Mapping[str, Any]]) -> Iterable[FieldProblem]:
    """Pydantic's errors in our words; the refused value itself is left out."""
    for error in errors:
        place = [str(part) for part in error["loc"]]
        # The first part says where it stood (body, query, path): no part of the field's name.
        name = ".".join(place[1:]) or place[0]
        yield FieldProblem(name, _told(error))


def _told(error: Mapping[str, Any]) -> str:
    context = error.get("ctx") or {}
    match error["type"]:
        case "extra_forbidden":
            return "is not known here"
        case "missing":
            return "is missing"
        case "dict_type" | "model_attributes_type":
            return "expected an object"
        case "string_type":
            return "expected a text"
        case "bool_type":
            return "expected true or false"
        case "int_type" | "int_parsing":
            return "expected a whole number"
        case "greater_than_equal":
            return f"must be at least {context['ge']}"
        case "less_than_equal":
            return f"must be at most {context['le']}"
        case "enum" | "literal_error":
            return f"expected {context['expected']}"
    return str(error["msg"]).removeprefix("Value error, ")


def _summary(fields: Sequence[FieldProblem]) -> str:
    if not fields:
        return "the request is not valid"
    first = f"{fields[0].field}: {fields[0].message}"
    return first if len(fields) == 1 else f"{first} (and {len(fields) - 1} more)"


def _headers_for(status: int, details: Mapping[str, Any]) -> dict[str, str]:
    if status == 401:
        return {"WWW-Authenticate": 'Bearer realm="awa"'}
    if status in {429, 503}:
        return {"Retry-After": str(math.ceil(details.get("retry_after_s", RETRY_AFTER_S)))}
    return {}


def _log_surprise(error: BaseException) -> str:
    reference = secrets.token_hex(4)
    log.error("unexpected error [%s]", reference, exc_info=error)
    return reference


def _log_trouble(error: AwaError) -> str:
    reference = secrets.token_hex(4)
    log.warning("%s [%s]: %s", error.code, reference, error.message)
    return reference
