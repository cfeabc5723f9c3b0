"""The OpenAPI page: what FastAPI can't know by itself, namely our error shape and how one gets in."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, Field

_MEANING = {
    401: "no token, or one that is not known here",
    403: "read-only, or the role does not allow it, or a foreign page asked",
    404: "there is no such thing",
    409: "the present state does not allow it",
    413: "the body is too long",
    415: "the body is not JSON",
    422: "the input is not valid; `fields` says where",
    429: "too many at once; Retry-After says when to try again",
    503: "the database cannot answer now, or its schema is not the one wanted",
}


class FieldError(BaseModel):
    """One field and what is wrong with it."""

    field: str
    message: str


class Error(BaseModel):
    """What went wrong."""

    code: str = Field(examples=["invalid"])
    message: str
    fields: list[FieldError]
    hint: str | None = Field(default=None, description="what to do about it")
    details: dict[str, Any] | None = Field(
        default=None, description='facts for a program, such as {"state": "completed"}'
    )


class Problem(BaseModel):
    """The one shape of every error."""

    error: Error


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors that a route can answer with, for its `responses`."""
    return {
        status: {"model": Problem, "description": _MEANING[status]} for status in sorted(statuses)
    }


def example(shown: Any) -> dict[int | str, dict[str, Any]]:
    """An example of the answer with status 200, for a route's `responses`, where no model has one."""
    return {200: {"content": {"application/json": {"example": shown}}}}


def describe(app: FastAPI) -> None:
    """Let the app give its OpenAPI page with the bearer token in it."""

    def page() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title,
                version=app.version,
                description="Durable batch operations on jobs. Unknown parameters and fields are refused.",
                routes=app.routes,
            )
            components = schema.setdefault("components", {})
            components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            # Either a token, or none where the server has none.
            schema["security"] = [{"token": []}, {}]
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = page  # type: ignore[method-assign]
