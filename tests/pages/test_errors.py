"""What goes wrong becomes a page that says what happened and what to do, with the right status."""

import pytest

from awa.asgi import create_app
from awa.model.errors import TooSlow
from awa.operations.reading import jobs, queues
from tests.pages.conftest import Visit, Visitor


async def test_a_job_that_is_not_there(console: Visitor) -> None:
    page = await console.get("/jobs/4711", status=404)
    assert page.one("h1").text == "Not found"
    assert page.says("There is no job 4711.")


async def test_an_id_that_is_none(console: Visitor) -> None:
    for word in ("abc", "-1", "9" * 40, "1e3", "%00"):
        await console.get(f"/jobs/{word}", status=404)


async def test_a_queue_that_is_not_there(console: Visitor) -> None:
    assert (await console.get("/queues/nowhere", status=404)).says("'nowhere'")


async def test_a_database_that_is_away(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("awa.api.app.CONNECTION_WAIT_S", 1.0)
    monkeypatch.setattr("awa.http.context.CONNECTION_WAIT_S", 1.0)
    app = create_app("postgresql://nobody:secret@127.0.0.1:1/none?connect_timeout=1")
    page = await visit(app=app).get("/queues", status=503)
    assert page.one("h1").text == "The database does not answer"
    assert page.one("a", class_="primary").attributes["href"] == "/queues"
    assert page.answer.headers["retry-after"]
    assert "secret" not in page.html
    await app.state.served.close()


async def test_a_database_without_the_schema(visit: Visit, empty_database_url: str) -> None:
    app = create_app(empty_database_url)
    page = await visit(app=app).get("/queues", status=503)
    assert page.says("awa migrate")
    await app.state.served.close()


async def test_what_takes_too_long_says_what_to_narrow(
    console: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def slow(*_: object, **__: object) -> None:
        raise TooSlow("this page of jobs would take longer than 2 s", hint="give a queue")

    monkeypatch.setattr(jobs, "look", slow)
    monkeypatch.setattr(queues, "page", slow)
    page = await console.get("/jobs", q="kind:rare", status=503)
    assert page.one("input", id="q").attributes["value"] == "kind:rare"
    told = [line.text for line in page.one(class_="notice").all("p")]
    assert told == ["This page of jobs would take longer than 2 s.", "Give a queue."]
    assert (await console.get("/queues", status=503)).says("This would take too long")


async def test_a_mistake_of_ours_names_a_reference_and_no_more(
    console: Visitor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the secret is hunter2")

    monkeypatch.setattr(queues, "page", broken)
    page = await console.get("/queues", status=500)
    assert "hunter2" not in page.html
    (record,) = [
        one for one in caplog.records if one.name == "awa.api" and one.levelname == "ERROR"
    ]
    assert record.args
    assert page.says(str(record.args[0] if isinstance(record.args, tuple) else ""))
