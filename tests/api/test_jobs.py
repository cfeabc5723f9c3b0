"""Jobs over HTTP: listed by any filter, shown with their story, enqueued, changed; what is refused says why."""

from typing import Any

import httpx
import pytest
from psycopg import AsyncConnection

from awa.config import Settings
from awa.model.filter import JobFilter
from awa.operations.reading import walk
from tests.api.conftest import TOKENS, Ask, error_of, fields_of
from tests.storage.world import World


@pytest.fixture
async def world(conn: AsyncConnection[Any]) -> World:
    return await World.on(conn)


async def ids(api: httpx.AsyncClient, **params: str | int) -> list[int]:
    answer = await api.get("/api/jobs", params=params)
    assert answer.status_code == 200, answer.text
    return [job["id"] for job in answer.json()["items"]]


async def test_jobs_are_listed_by_fields_by_json_and_by_a_typed_line(
    api: httpx.AsyncClient, world: World
) -> None:
    mail = await world.enqueue(2, "email", kind="mail", tags=["acme"], priority=1)
    sms = await world.enqueue(1, "email", kind="sms")
    (later,) = await world.enqueue(1, "other", run_at=await world.now(later_s=60))
    assert await ids(api) == [later, *sms, *mail[::-1]]
    assert await ids(api, kind="mail", priority=1) == mail[::-1]
    assert await ids(api, state="scheduled") == [later]
    assert await ids(api, kind_prefix="m") == mail[::-1]
    assert await ids(api, filter='{"tags_any": ["acme"], "queues": ["email"]}') == mail[::-1]
    assert await ids(api, q="queue:email -tag:acme") == sms
    assert await ids(api, queue="email", filter='{"kinds": ["sms"]}', q="state:available") == sms
    assert await ids(api, created_at_gte="2999-01-01T00:00:00Z") == []


async def test_every_field_of_the_filter_can_be_reached(api: httpx.AsyncClient) -> None:
    values: dict[str, str] = {
        "kind": '"a"',
        "kind_prefix": '"a"',
        "queue": '"a"',
        "tag": '"a"',
        "state": '"failed"',
        "priority": "1",
        "ids": "[1]",
        "error_contains": '"a"',
        "args_contains": "{}",
    }
    for name in JobFilter.model_fields:
        lists = name.startswith(("tags_", "kinds", "queues"))
        moment = name.endswith(("at_gte", "at_lt"))
        value = '["a"]' if lists else '"2026-01-01T00:00:00Z"' if moment else values.get(name, "1")
        answer = await api.get("/api/jobs", params={"filter": f'{{"{name}": {value}}}'})
        assert answer.status_code == 200, (name, answer.text)


async def test_pages_go_on_to_the_end(
    api: httpx.AsyncClient, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(walk, "STRETCH_FIRST_ROWS", 3)
    monkeypatch.setattr(walk, "STRETCH_MOST_ROWS", 3)
    monkeypatch.setattr(walk, "WALK_BUDGET_S", 0.0)
    wanted = await world.enqueue(10, kind="rare")
    await world.enqueue(10)
    seen: list[int] = []
    params: dict[str, str | int] = {"kind": "rare", "limit": 2}
    for _ in range(20):
        page = (await api.get("/api/jobs", params=params)).json()
        seen += [job["id"] for job in page["items"]]
        if page["next_cursor"] is None:
            break
        params["cursor"] = page["next_cursor"]
    assert seen == wanted[::-1]


async def test_counts_say_what_kind_of_number_they_are(
    api: httpx.AsyncClient, world: World
) -> None:
    await world.enqueue(3, "email")
    counts = (await api.get("/api/jobs/counts", params={"queue": "email"})).json()
    assert counts["available"] == {"jobs": 3, "exact": True, "bound": "exact"}
    assert counts["completed"] == {"jobs": 0, "exact": False, "bound": "about"}


async def test_a_job_has_its_story_and_an_entity_tag(api: httpx.AsyncClient, world: World) -> None:
    (job_id,) = await world.enqueue(1, "email")
    answer = await api.get(f"/api/jobs/{job_id}")
    job = answer.json()
    assert (job["id"], job["state"], job["queue"]) == (job_id, "available", "email")
    assert [event["what"] for event in job["events"]] == ["enqueued"]
    assert job["actions"] == {
        "cancel": None,
        "retry": "it is waiting to be run already",
        "set_priority": None,
        "move": None,
    }
    again = await api.get(f"/api/jobs/{job_id}", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


async def test_secrets_are_hidden_everywhere_and_revealed_to_admins_only(
    ask: Ask, world: World
) -> None:
    (job_id,) = await world.enqueue(1, args_json='{"token": "t-1", "to": "ada"}')
    hidden = {"token": "•••", "to": "ada"}
    viewer = ask(tokens=TOKENS, token="viewer")
    operator = ask(tokens=TOKENS, token="operator")
    admin = ask(tokens=TOKENS, token="admin")
    assert (await viewer.get("/api/jobs")).json()["items"][0]["args"] == hidden
    for who in (viewer, operator, admin):
        job = (await who.get(f"/api/jobs/{job_id}")).json()
        assert (job["args"], job["masked"]) == (hidden, True)
    for who in (viewer, operator):
        error_of(await who.get(f"/api/jobs/{job_id}?reveal=true"), 403, "forbidden")
    shown = (await admin.get(f"/api/jobs/{job_id}?reveal=true")).json()
    assert (shown["args"], shown["masked"]) == ({"token": "t-1", "to": "ada"}, False)
    changed = await operator.patch(f"/api/jobs/{job_id}", json={"priority": 1})
    assert changed.json()["args"] == hidden


async def test_the_names_of_secrets_are_a_setting(ask: Ask, world: World) -> None:
    await world.enqueue(1, args_json='{"token": "t", "birthday": "b"}')
    for setting, shown in (
        ("birthday", {"token": "t", "birthday": "•••"}),
        ("+ birthday", {"token": "•••", "birthday": "•••"}),
        ("off", {"token": "t", "birthday": "b"}),
    ):
        api = ask(settings=Settings(masked_keys=setting))
        assert (await api.get("/api/jobs")).json()["items"][0]["args"] == shown


async def test_whatever_arguments_hold_can_be_shown(api: httpx.AsyncClient, world: World) -> None:
    deep = "[" * 900 + "]" * 900
    documents = ['{"n": 123456789012345678901234567890}', '{"n": 1e400}', deep, '"text"', "null"]
    for document in documents:
        (job_id,) = await world.enqueue(1, args_json=document)
        assert (await api.get(f"/api/jobs/{job_id}")).status_code == 200, document
    answer = await api.get("/api/jobs")
    assert answer.status_code == 200
    assert "123456789012345678901234567890" in answer.text


async def test_one_job_or_several_are_enqueued_in_the_order_given(
    api: httpx.AsyncClient, world: World
) -> None:
    new = {
        "kind": "mail",
        "args": {"to": "ada", "n": 2**70},
        "queue": "email",
        "priority": 1,
        "max_attempts": 3,
        "tags": ["acme"],
        "metadata": {"m": 1},
        "ordering_key": "k",
    }
    answer = await api.post("/api/jobs", json=new)
    assert answer.status_code == 201
    one = answer.json()
    assert {name: one[name] for name in new if name != "ordering_key"} == {
        name: value for name, value in new.items() if name != "ordering_key"
    }
    several = [
        {"kind": "a", "queue": "x"},
        {"kind": "b", "queue": "y"},
        {"kind": "c", "queue": "x", "run_at": "2999-01-01T00:00:00Z"},
        {"kind": "d"},
    ]
    answer = await api.post("/api/jobs", json={"jobs": several})
    items = answer.json()["items"]
    seen = [(job["kind"], job["queue"], job["state"]) for job in items]
    assert seen == [
        ("a", "x", "available"),
        ("b", "y", "available"),
        ("c", "x", "scheduled"),
        ("d", "default", "available"),
    ]
    assert await world.states([job["id"] for job in items]) == [state for _, _, state in seen]


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, {"kind"}),
        ({"kind": ""}, {"kind"}),
        ({"kind": "a", "priority": 9, "queue": " "}, {"priority", "queue"}),
        ({"kind": "a", "priority": "1"}, {"priority"}),
        ({"kind": "a", "args": []}, {"args"}),
        ({"kind": "a", "run_at": "2026-01-01T00:00:00"}, {"run_at"}),
        ({"kind": "a", "run_at": 5}, {"run_at"}),
        ({"kind": "a", "tags": "t"}, {"tags"}),
        ({"kind": "a", "quue": "x"}, {"quue"}),
        ({"jobs": []}, {"jobs"}),
        ({"jobs": [{"kind": "a"}] * 1_001}, {"jobs"}),
        ({"kind": "a", "jobs": [{"kind": "a"}]}, {"body"}),
        (
            {"jobs": [{"kind": "a"}, {"kind": "a", "priority": 7}, {}]},
            {"jobs[1].priority", "jobs[2].kind"},
        ),
        ([], {"body"}),
    ],
    ids=lambda value: ", ".join(sorted(value)) if isinstance(value, set) else str(value)[:60],
)
async def test_a_wrong_job_is_refused_and_nothing_is_enqueued(
    api: httpx.AsyncClient, world: World, body: Any, fields: set[str]
) -> None:
    assert fields_of(await api.post("/api/jobs", json=body)) == fields
    assert await world.audit() == {}


async def test_jobs_are_cancelled_retried_reprioritised_and_moved(
    api: httpx.AsyncClient, world: World
) -> None:
    (job_id,) = await world.enqueue(1, "email")
    url = f"/api/jobs/{job_id}"
    assert (await api.patch(url, json={"priority": 1})).json()["priority"] == 1
    moved = (await api.patch(url, json={"queue": "fast", "priority": 3})).json()
    assert (moved["queue"], moved["priority"]) == ("fast", 3)
    cancelled = await api.post(f"{url}/cancel", json={"reason": "not wanted"})
    assert cancelled.json()["state"] == "cancelled"
    assert cancelled.json()["errors"][-1]["error"].startswith("not wanted")
    refused = error_of(await api.post(f"{url}/cancel"), 409, "conflict")
    assert refused["details"] == {"state": "cancelled"}
    error_of(await api.patch(url, json={"priority": 1}), 409, "conflict")
    assert (await api.post(f"{url}/retry")).json()["state"] == "available"
    error_of(await api.post(f"{url}/retry"), 409, "conflict")
    await world.claim(queue="fast")
    assert (await api.post(f"{url}/cancel")).json()["state"] == "cancelled"


@pytest.mark.parametrize("job_id", ["4711", "abc", "0", "-1", "1.0", "9" * 30, "%20"])
async def test_what_names_no_job_is_not_found(api: httpx.AsyncClient, job_id: str) -> None:
    error_of(await api.get(f"/api/jobs/{job_id}"), 404, "not_found")
    error_of(await api.post(f"/api/jobs/{job_id}/cancel"), 404, "not_found")
    error_of(await api.post(f"/api/jobs/{job_id}/retry"), 404, "not_found")
    error_of(await api.patch(f"/api/jobs/{job_id}", json={"priority": 1}), 404, "not_found")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("stat=running", "stat"),
        ("state=lost", "state"),
        ("priority=9", "priority"),
        ("priority=x", "priority"),
        ("attempt_gte=-1", "attempt_gte"),
        ("created_at_gte=yesterday", "created_at_gte"),
        ("created_at_gte=2026-01-01T00:00:00", "created_at_gte"),
        ("limit=0", "limit"),
        ("cursor=!", "cursor"),
        ("filter=[]", "filter"),
        ("filter={", "filter"),
        ('filter={"quue":"a"}', "quue"),
        ('queue=a&filter={"queue":"b"}', "queue"),
        ("queue=a&q=queue:b", "queue"),
        ("queue=a&queue=b", "queue"),
        ("q=quue:a", "q"),
        ("kind=%00", "kind"),
    ],
)
async def test_a_wrong_question_is_refused_with_the_field(
    api: httpx.AsyncClient, query: str, field: str
) -> None:
    for path in ("/api/jobs", "/api/jobs/counts"):
        if path == "/api/jobs" or not query.startswith(("limit", "cursor")):
            answer = await api.get(f"{path}?{query}")
            assert any(field in name for name in fields_of(answer)), answer.text


async def test_viewers_read_and_operators_change(ask: Ask, world: World) -> None:
    (job_id,) = await world.enqueue(1, "email")
    viewer = ask(tokens=TOKENS, token="viewer")
    assert (await viewer.get("/api/jobs")).status_code == 200
    changes: list[tuple[str, str, Any]] = [
        ("POST", "/api/jobs", {"kind": "a"}),
        ("POST", f"/api/jobs/{job_id}/cancel", None),
        ("POST", f"/api/jobs/{job_id}/retry", None),
        ("PATCH", f"/api/jobs/{job_id}", {"priority": 1}),
        ("POST", "/api/queues/email/pause", None),
        ("POST", "/api/queues/email/resume", None),
        ("POST", "/api/queues/email/drain", None),
    ]
    for method, url, body in changes:
        error_of(await viewer.request(method, url, json=body), 403, "forbidden")
        error_of(await ask(read_only=True).request(method, url, json=body), 403, "read_only")
        error_of(await ask(tokens=TOKENS).request(method, url, json=body), 401, "unauthorized")
    assert await world.state(job_id) == "available"


async def test_a_concurrency_key_is_taken_and_told(api: httpx.AsyncClient) -> None:
    new = {"kind": "k", "concurrency_key": "tenant-7", "concurrency_limit": 1}
    created = await api.post("/api/jobs", json={"jobs": [new, new]})
    first, second = (one["id"] for one in created.json()["items"])
    told = (await api.get(f"/api/jobs/{second}")).json()
    assert told["state"] == "available"
    assert told["concurrency"] == {"key": "tenant-7", "limit": 1, "used": 1, "admitted": False}
    assert (await api.get(f"/api/jobs/{first}")).json()["concurrency"]["admitted"] is True
    refused = await api.post("/api/jobs", json={**new, "concurrency_limit": 0})
    assert fields_of(refused) == {"concurrency_limit"}
