"""Where one is sent after a log-in, and what a path to be served below may be."""

import pytest
from fastapi import Request

from awa.http.paths import checked_root_path, local_path, route_path, safe_next
from awa.model.errors import ValidationError


def request(root_path: str = "", path: str = "/login") -> Request:
    return Request({"type": "http", "method": "GET", "path": path, "root_path": root_path})


@pytest.mark.parametrize("path", ["/", "/jobs", "/jobs?q=queue%3Aemail&cursor=x", "/queues/a%20b"])
def test_a_path_of_ours_is_where_one_goes(path: str) -> None:
    assert safe_next(request(), path) == path
    assert safe_next(request("/ops/awa"), f"/ops/awa{path}") == f"/ops/awa{path}"


@pytest.mark.parametrize(
    "elsewhere",
    [
        None,
        "",
        "jobs",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "\n//evil.example",
        "https://evil.example/jobs",
        "javascript:alert(1)",
        "http:/jobs",
        "//[broken",
        "/ops/awa/../../elsewhere",
        "/" + "x" * 5_000,
    ],
)
def test_anything_else_leads_home(elsewhere: str | None) -> None:
    assert safe_next(request(), elsewhere) == "/"
    assert safe_next(request("/ops/awa"), elsewhere) == "/ops/awa/"


@pytest.mark.parametrize("outside", ["/jobs", "/ops/awaiting", "/ops", "/ops/awa"])
def test_outside_of_where_we_are_mounted_is_elsewhere(outside: str) -> None:
    assert safe_next(request("/ops/awa"), outside) == "/ops/awa/"


def test_paths_below_a_mount() -> None:
    assert local_path(request("/ops/awa"), "/jobs") == "/ops/awa/jobs"
    assert route_path(request("/ops/awa", "/ops/awa/healthz").scope) == "/healthz"
    assert route_path(request("/ops/awa", "/ops/awaiting").scope) == "/ops/awaiting"
    assert route_path(request("", "/healthz").scope) == "/healthz"


def test_a_root_path_is_a_plain_path() -> None:
    assert checked_root_path("") == checked_root_path("/") == ""
    assert checked_root_path("/ops/awa/") == "/ops/awa"
    for wrong in ("ops", "//ops", "/ops//awa", "/a b", "/../x", "/ops/.", "/a;b", 'x"', "/ops?x"):
        with pytest.raises(ValidationError, match="root_path"):
            checked_root_path(wrong)
