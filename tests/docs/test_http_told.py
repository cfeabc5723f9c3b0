"""Every endpoint, field, status and error code of the HTTP API is told."""

import importlib
import inspect
import pkgutil
import re

from fastapi.routing import APIRoute

import awa
from awa.api.app import create_app
from awa.cli import exits
from awa.http import problems
from awa.http.access import right_of
from awa.http.routes import all_routes
from awa.model.errors import AwaError
from awa.model.operation import OPERATION_COLUMNS
from tests.docs.pages import spans, text_of
from tests.house.walk import SOURCE

PAGE = "docs/reference/http.md"
ERRORS = "docs/reference/errors.md"


def test_every_endpoint_is_told_with_the_role_that_it_needs() -> None:
    page = text_of(PAGE)
    roles = {
        "open": "nothing",
        "read": "viewer",
        "leave": "viewer",
        "preview": "viewer",
        "change": "operator",
        "answer": "operator",
        "admin": "admin",
    }
    wrong = []
    application = create_app("postgresql:///nowhere")
    routes = [route for route in all_routes(application) if isinstance(route, APIRoute)]
    assert {route.path for route in routes} >= {"/healthz", "/api/batch-ops/{id}"}
    for route in routes:
        for method in route.methods or ():
            row = re.search(
                rf"\| `{method} {re.escape(route.path_format)}` \|.*\| (\w+) \|$", page, re.M
            )
            role = roles[right_of(route.endpoint).value]
            if row is None or row[1] != role:
                wrong.append((method, route.path, role))
    assert wrong == []


def test_the_fields_of_requests_and_answers_are_told() -> None:
    page = text_of(PAGE)
    schemas = create_app("postgresql:///nowhere").openapi()["components"]["schemas"]
    fields = {
        name
        for schema in (
            "PreviewRequest",
            "SubmitRequest",
            "Operation",
            "OperationPage",
            "OperationChange",
            "Hold",
        )
        for name in schemas[schema]["properties"]
    } | {*OPERATION_COLUMNS}
    assert [name for name in sorted(fields) if not re.search(rf"\b{name}\b", page)] == []


def test_every_status_is_told() -> None:
    page = text_of(PAGE)
    described = create_app("postgresql:///nowhere").openapi()["paths"]
    statuses = {
        status
        for path in described.values()
        for method in path.values()
        for status in method["responses"]
    }
    statuses |= {str(status) for status in problems.STATUS_OF_CODE.values()}
    statuses = {status for status in statuses if not status.startswith("2")}
    assert [status for status in sorted(statuses) if f"\n| {status} |" not in page] == []


def test_every_error_code_is_told() -> None:
    kinds: list[type[AwaError]] = [AwaError, *_below_class(AwaError)]
    codes = {kind.code for kind in kinds}
    codes |= set(problems.STATUS_OF_CODE)
    complaints = (SOURCE / "cli/complaints.py").read_text()
    codes |= set(re.findall(r'Complaint\(\s*"(\w+)"', complaints))
    codes |= set(re.findall(r'\d+: "(\w+)"', inspect.getsource(problems)))
    codes |= set(re.findall(r'problem\(\s*\d+,\s*"(\w+)"', inspect.getsource(problems)))
    told = re.findall(r"^\| `(\w+)` \|", text_of(ERRORS), re.M)
    assert sorted(codes - set(told)) == []


def test_errors_are_told_with_their_status_and_exit_code() -> None:
    page = text_of(ERRORS)
    wrong = []
    for code, status in problems.STATUS_OF_CODE.items():
        kind = next(k for k in _below_class(AwaError) if k.code == code)
        row = f"| `{code}` | `{kind.__name__}` | {status} | {exits.exit_code(kind(''))} |"
        if row not in page:
            wrong.append(row)
    assert wrong == []


def test_every_sqlstate_of_ours_is_told() -> None:
    sources = "\n".join(path.read_text() for path in SOURCE.rglob("*.sql"))
    states = set(re.findall(r"ERRCODE = '(\w{5})'", sources))
    assert states
    assert states - spans(ERRORS) == set()


def _below_class(kind: type[AwaError]) -> list[type[AwaError]]:
    for module in pkgutil.walk_packages(awa.__path__, "awa."):
        if not module.name.endswith(("_worker", "__main__")):
            importlib.import_module(module.name)
    found: list[type[AwaError]] = []
    open_ = [kind]
    while open_:
        below = open_.pop().__subclasses__()
        found += below
        open_ += below
    return [k for k in found if k.__module__.startswith("awa.")]
