"""The OpenAPI page shows an example of everything that goes in and comes out, and the examples are true to it."""

from typing import Any

import jsonschema_rs
import pytest

from awa.api import create_app

PAGE = create_app("postgresql:///nowhere").openapi()
OPERATIONS = [
    pytest.param(described, id=f"{method.upper()} {path}")
    for path, methods in PAGE["paths"].items()
    for method, described in methods.items()
]


def resolved(schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = PAGE["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    return schema


def examples_of(content: dict[str, Any]) -> list[Any]:
    """The examples of a body: beside its schema, or in it."""
    shown = [content["example"]] if "example" in content else []
    shown += [one["value"] for one in content.get("examples", {}).values()]
    schema = resolved(content.get("schema", {}))
    for one in schema.get("anyOf", [schema]):
        shown += resolved(one).get("examples", ())
    return shown


def check(content: dict[str, Any]) -> None:
    shown = examples_of(content)
    assert shown
    for example in shown:
        whole = {**content.get("schema", {}), "components": PAGE["components"]}
        faults = [
            one.message for one in jsonschema_rs.Draft202012Validator(whole).iter_errors(example)
        ]
        assert faults == []


@pytest.mark.parametrize("described", OPERATIONS)
def test_what_comes_out_is_shown(described: dict[str, Any]) -> None:
    (status,) = [
        one for one in described["responses"] if one.startswith("20") and one != "204"
    ] or ["204"]
    for content in described["responses"][status].get("content", {}).values():
        check(content)
    if status != "204":
        assert described["responses"][status]["content"]


@pytest.mark.parametrize("described", OPERATIONS)
def test_what_goes_in_is_shown(described: dict[str, Any]) -> None:
    for parameter in described.get("parameters", ()):
        if parameter["in"] == "path" or parameter.get("required"):
            shown = parameter["schema"].get("examples") or parameter.get("examples")
            assert shown or "example" in parameter, parameter["name"]
    if "requestBody" in described:
        for content in described["requestBody"]["content"].values():
            check(content)


@pytest.mark.parametrize("described", OPERATIONS)
def test_every_route_is_explained(described: dict[str, Any]) -> None:
    assert described["summary"]
    assert described["description"]
