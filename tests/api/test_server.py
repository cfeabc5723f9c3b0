"""Health, metrics, capabilities, and the OpenAPI page that describes it all."""

from typing import Any

import httpx
import pytest

from awa.http.version import VERSION
from tests.api.conftest import MOVE, REMOTE, TOKENS, Ask

REQUESTS = {"PreviewRequest", "SubmitRequest", "OperationChange"}


async def test_it_is_alive_and_ready_and_asks_no_token_for_that(ask: Ask) -> None:
    api = ask(tokens=TOKENS, peer=REMOTE)
    assert (await api.get("/healthz")).json() == {"status": "ok"}
    assert (await api.get("/readyz")).json()["status"] == "ready"


async def test_metrics_count_what_the_database_holds(api: httpx.AsyncClient) -> None:
    await api.post("/api/batch-ops", json=MOVE)
    answer = await api.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert 'awa_batch_operations_active{state="pending"} 1.0' in answer.text


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, {"actor": "local", "role": "admin", "read_only": False}),
        ({"read_only": True}, {"actor": "local", "role": "admin", "read_only": True}),
        ({"peer": REMOTE}, {"actor": "anonymous", "role": "viewer", "read_only": True}),
        (
            {"tokens": TOKENS, "token": "viewer"},
            {"actor": "grafana", "role": "viewer", "read_only": False},
        ),
    ],
)
async def test_capabilities_say_who_asks_and_what_is_possible(
    ask: Ask, options: dict[str, Any], expected: dict[str, Any]
) -> None:
    found = (await ask(**options).get("/api/capabilities")).json()
    assert found.pop("version") == VERSION
    assert set(found.pop("op_kinds")) >= {"set_priority", "move_queue"}
    assert found == expected


async def test_the_page_describes_every_endpoint_with_its_errors_and_examples(
    api: httpx.AsyncClient,
) -> None:
    page = (await api.get("/api/openapi.json")).json()
    assert set(page["paths"]) >= {
        "/api/session",
        "/api/batch-ops",
        "/api/batch-ops/{id}",
        "/readyz",
    }
    for path, methods in page["paths"].items():
        for method, described in methods.items():
            assert described["summary"], (method, path)
            for status, answer in described["responses"].items():
                if status.startswith(("4", "5")):
                    schema = answer["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/Problem"}, (method, path)
    schemas = page["components"]["schemas"]
    assert set(schemas) >= REQUESTS
    for name in REQUESTS | {"Operation", "Preview"}:
        assert schemas[name]["examples"], name


async def test_the_examples_of_requests_are_accepted(api: httpx.AsyncClient) -> None:
    schemas = (await api.get("/api/openapi.json")).json()["components"]["schemas"]
    (preview,) = schemas["PreviewRequest"]["examples"]
    assert (await api.post("/api/batch-ops/preview", json=preview)).status_code == 200
    (submit,) = schemas["SubmitRequest"]["examples"]
    answer = await api.post("/api/batch-ops", json=submit)
    assert answer.status_code == 201, answer.text
    path = f"/api/batch-ops/{answer.json()['id']}"
    for change in schemas["OperationChange"]["examples"]:
        assert (await api.patch(path, json=change)).status_code == 200


async def test_a_missing_answer_of_the_page_would_show(api: httpx.AsyncClient) -> None:
    """Fields of an operation are documented one by one."""
    schemas = (await api.get("/api/openapi.json")).json()["components"]["schemas"]
    answer = await api.post("/api/batch-ops", json=MOVE)
    assert set(answer.json()) >= set(schemas["Operation"]["properties"])
