"""The OpenAPI page: what FastAPI can't know by itself, namely our error shape and how one gets in."""

from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from awa.http.access import COOKIE
from awa.http.routes import all_routes

_MEANING = {
    401: "no token, or one that is not known here",
    403: "read-only, or the role does not allow it, or a foreign page asked",
    404: "there is no such thing",
    409: "the present state does not allow it",
    413: "the body is too long",
    414: "path and query are too long",
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
    """Let the app give its OpenAPI page, with the ways to get in, and with whole examples."""

    def page() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title,
                version=app.version,
                description="Jobs, queues and durable batch operations. Unknown parameters and fields are refused.",
                routes=app.routes,
            )
            _give_nulls_back(app, schema)
            schema["components"]["securitySchemes"] = {
                "token": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": COOKIE},
            }
            # One of them, or nothing where the server has no tokens.
            schema["security"] = [{"token": []}, {"session": []}, {}]
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = page  # type: ignore[method-assign]


def _give_nulls_back(app: FastAPI, schema: dict[str, Any]) -> None:
    """FastAPI drops every null of the page, and with it those of the examples, which are then no examples."""
    for model in _models(BaseModel):
        extra = model.model_config.get("json_schema_extra")
        shown = schema["components"]["schemas"].get(model.__name__)
        if shown is not None and isinstance(extra, dict) and "examples" in extra:
            shown["examples"] = extra["examples"]
    for route in all_routes(app):
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                answers = schema["paths"][route.path_format][method.lower()]["responses"]
                _put_examples(answers, route.responses)


def _put_examples(answers: dict[str, Any], declared: dict[int | str, dict[str, Any]]) -> None:
    for status, answer in declared.items():
        for media, content in answer.get("content", {}).items():
            if "example" in content:
                answers[str(status)]["content"][media]["example"] = content["example"]


def _models(base: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The models of this room, however deep."""
    for model in base.__subclasses__():
        if model.__module__.startswith("awa.api"):
            yield model
        yield from _models(model)
