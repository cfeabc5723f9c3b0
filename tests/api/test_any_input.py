"""Whatever a program sends: an answer of the documented kinds, never a mistake of ours."""

from typing import Any

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from awa.model.filter import JobFilter
from tests.api.conftest import MOVE

SETTINGS = settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=20)
    | st.sampled_from(["available", "running", "2026-06-01T00:00:00Z", "9999-12-31T23:59:59-14:00"])
)
JSON = st.recursive(
    SCALARS,
    lambda below: (
        st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=8), below, max_size=4)
    ),
    max_leaves=8,
)
FILTERS = st.dictionaries(st.sampled_from(sorted(JobFilter.model_fields)), JSON, max_size=3)
SPECS = st.dictionaries(st.sampled_from(["queue", "priority", "other"]), JSON, max_size=3)
BODIES = st.fixed_dictionaries(
    {},
    optional={
        "op_kind": st.sampled_from(["move_queue", "set_priority"]) | JSON,
        "filter": FILTERS | JSON,
        "spec": SPECS | st.just(MOVE["spec"]) | JSON,
        "all": st.booleans() | JSON,
        "reason": JSON,
        "idempotency_key": JSON,
    },
)


@SETTINGS
@given(body=BODIES | JSON)
async def test_any_body_is_taken_or_refused(api: httpx.AsyncClient, body: Any) -> None:
    assert (await api.post("/api/batch-ops/preview", json=body)).status_code in {200, 422}
    assert (await api.post("/api/batch-ops", json=body)).status_code in {201, 409, 422}


@SETTINGS
@given(
    query=st.dictionaries(
        st.sampled_from(["state", "limit", "cursor", "other"]),
        st.text(st.characters(codec="utf-8"), max_size=30) | st.integers().map(str),
        max_size=3,
    )
)
async def test_any_query_is_taken_or_refused(api: httpx.AsyncClient, query: Any) -> None:
    assert (await api.get("/api/batch-ops", params=query)).status_code in {200, 422}
