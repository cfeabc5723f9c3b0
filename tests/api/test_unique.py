"""Unique jobs over HTTP."""

import httpx
import pytest
from psycopg import AsyncConnection

from awa.operations import dead_letters
from tests.api.conftest import error_of
from tests.storage.world import World

NEW = {"kind": "sync", "args": {"account": 7}, "unique_opts": {"by_args": ["account"]}}


async def test_a_taken_key_is_a_conflict_with_the_holder(api: httpx.AsyncClient) -> None:
    answer = await api.post("/api/jobs", json=NEW)
    assert (answer.status_code, answer.json()["insertion"]) == (201, "inserted")
    error = error_of(await api.post("/api/jobs", json=NEW), 409, "unique_conflict")
    assert error["message"].endswith("holds the unique key")
    assert '"on_conflict": "ignore"' in error["hint"]
    assert error["details"]["job_id"] == answer.json()["id"]


@pytest.mark.parametrize(("policy", "insertion"), [("ignore", "ignored"), ("replace", "replaced")])
async def test_or_the_holder_is_answered(
    api: httpx.AsyncClient, policy: str, insertion: str
) -> None:
    job = (await api.post("/api/jobs", json=NEW)).json()
    opts = {**NEW["unique_opts"], "on_conflict": policy}  # type: ignore[dict-item]
    again = await api.post("/api/jobs", json={**NEW, "priority": 1, "unique_opts": opts})
    assert (again.status_code, again.json()["insertion"]) == (200, insertion)
    assert again.json()["id"] == job["id"]
    assert again.json()["priority"] == (1 if policy == "replace" else 2)


async def test_of_several_all_come_in_or_none(api: httpx.AsyncClient) -> None:
    other = {"kind": "sync", "args": {"account": 8}, "queue": "q"}
    error_of(await api.post("/api/jobs", json={"jobs": [other, NEW, NEW]}), 409, "unique_conflict")
    assert (await api.get("/api/jobs")).json()["items"] == []
    ignore = {**NEW, "unique_opts": {"on_conflict": "ignore"}}
    some = await api.post("/api/jobs", json={"jobs": [other, ignore, ignore]})
    assert some.status_code == 201
    told = [job["insertion"] for job in some.json()["items"]]
    assert told == ["inserted", "inserted", "ignored"]


@pytest.mark.parametrize(
    ("opts", "field"),
    [
        ({"by_arg": True}, "unique_opts.by_arg"),
        ({"by_args": 7}, "unique_opts.by_args"),
        ({"by_period": 0}, "unique_opts.by_period"),
        ({"by_states": ["x"]}, "unique_opts.by_states"),
        ({"on_conflict": "x"}, "unique_opts.on_conflict"),
    ],
)
async def test_wrong_options_are_refused_by_their_name(
    api: httpx.AsyncClient, opts: dict[str, object], field: str
) -> None:
    error = error_of(await api.post("/api/jobs", json={**NEW, "unique_opts": opts}), 422, "invalid")
    assert any(one["field"].startswith(field) for one in error["fields"])


async def test_a_field_that_the_arguments_lack_is_refused_with_the_nearest(
    api: httpx.AsyncClient,
) -> None:
    typo = {**NEW, "unique_opts": {"by_args": ["acount"]}}
    error = error_of(await api.post("/api/jobs", json=typo), 422, "invalid")
    (field,) = error["fields"]
    assert field["field"].endswith("unique_opts.by_args")
    assert "did you mean 'account'?" in field["message"]
    assert (await api.get("/api/jobs")).json()["items"] == []


async def test_a_job_tells_of_its_key(
    api: httpx.AsyncClient, conn: AsyncConnection[object]
) -> None:
    world = await World.on(conn)
    states = ["scheduled", "available"]
    job = await world.enqueue_unique(by_states=states)
    told = (await api.get(f"/api/jobs/{job}")).json()["unique"]
    assert told == {
        "by": ["kind", "arguments"],
        "states": states,
        "held": True,
        "holder": job,
        "told": "it holds its key, which keeps others out",
    }
    attempts = await world.claim()
    running = (await api.get(f"/api/jobs/{job}")).json()["unique"]
    assert running["told"] == "its key is not held while it is running"
    other = await world.enqueue_unique(by_states=states)
    await world.finish(attempts, "returned")
    lost = (await api.get(f"/api/jobs/{job}")).json()["unique"]
    assert (lost["held"], lost["holder"]) == (False, other)
    assert lost["told"] == f"it goes on without its key, which job {other} holds"
    await world.cancel([other])
    free = (await api.get(f"/api/jobs/{job}")).json()["unique"]
    assert (free["held"], free["holder"]) == (False, None)
    (plain,) = await world.enqueue()
    assert (await api.get(f"/api/jobs/{plain}")).json()["unique"] is None


async def test_what_an_operator_orders_is_refused_with_the_holder(
    api: httpx.AsyncClient, conn: AsyncConnection[object]
) -> None:
    world = await World.on(conn)
    await dead_letters.enable(conn, "default", True)
    job = await world.enqueue_unique()
    await world.finish(await world.claim(), "failed")
    other = await world.enqueue_unique()
    for path in (f"/api/jobs/{job}/retry", f"/api/dlq/{job}/retry"):
        error = error_of(await api.post(path), 409, "unique_conflict")
        assert error["details"] == {"job_id": other}
    answer = await api.post("/api/dlq/retry", json={"all": True})
    assert answer.json() == {"jobs": 0, "more": False, "kept": 1}
    moving = await world.enqueue_unique({"n": 1}, by_queue=True)
    there = await world.enqueue_unique({"n": 1}, "there", by_queue=True)
    error = error_of(
        await api.patch(f"/api/jobs/{moving}", json={"queue": "there"}), 409, "unique_conflict"
    )
    assert error["details"] == {"job_id": there}
