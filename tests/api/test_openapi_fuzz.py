"""Whatever is asked of any route, as its own description has it: no mistake of ours, no answer that isn't described.

The requests are made from the OpenAPI page, both as it says and against it, the same ones in each run. They go to a
real server over a database with jobs and operations in it, whose ids are used as often as invented ones.
"""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from awa.api import create_app
from awa.api.serve import serve_until
from awa.http import sse
from awa.model.cron import make_schedule
from awa.operations import cron
from awa.operations.submit import submit
from awa.storage import dead_letters
from tests.storage.world import World

EXAMPLES_PER_ROUTE = 12
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
SCHEMA = schemathesis.openapi.from_dict(create_app("postgresql:///nowhere").openapi())
ROUTES = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]
# The checker's own list of refusals doesn't know the one for what is too long to be read at all.
REFUSALS = SCHEMA.config.checks.negative_data_rejection
REFUSALS.expected_statuses = [*REFUSALS.expected_statuses, "414"]
SETTINGS = settings(
    max_examples=EXAMPLES_PER_ROUTE,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def address(database_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server over this test's database, in a thread of its own; its live streams end at once."""
    monkeypatch.setattr(sse, "STREAM_MAX_S", 0.0)
    started: dict[str, Any] = {}
    up = threading.Event()

    async def serve() -> None:
        started["loop"], started["stop"] = asyncio.get_running_loop(), asyncio.Event()

        def announce(url: str) -> None:
            started["url"] = url
            up.set()

        app = create_app(database_url)
        await serve_until(app, started["stop"], port=0, announce=announce)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert up.wait(60)
    yield started["url"]
    started["loop"].call_soon_threadsafe(started["stop"].set)
    thread.join(60)
    assert not thread.is_alive()


@pytest.fixture
def known(database_url: str) -> dict[str, list[str]]:
    """Names and ids that there are, by what a path calls them."""
    return asyncio.run(furnish(database_url))


async def furnish(url: str) -> dict[str, list[str]]:
    """Something of everything: jobs that wait and that are dead, a callback, a schedule, an operation."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as conn:
        world = await World.on(conn)
        await dead_letters.enable(conn, "email", True)
        (dead,) = await world.enqueue(queue="email", max_attempts=1)
        await world.finish(await world.claim(queue="email"), "failed")
        waiting, callback = await world.waiting()
        (job,) = await world.enqueue(queue="email", kind="work")
        nightly = make_schedule("nightly", "0 3 * * *", {}, options={"kind": "work"})
        await cron.declare(conn, "shop", [nightly])
        operation = await submit(conn, "set_priority", {"queue": "email"}, {"priority": 1})
    return {
        "id": [str(one) for one in (operation["id"], job, dead, waiting)],
        "queue": ["email"],
        "name": ["nightly"],
        "callback_id": [str(callback)],
    }


def test_the_page_is_understood_as_a_whole() -> None:
    paths = create_app("postgresql:///nowhere").openapi()["paths"]
    assert len(ROUTES) == sum(len(methods) for methods in paths.values())


# The server's thread may draw a random number while a request is made up, which Hypothesis takes for the strategy's doing.
@pytest.mark.filterwarnings(
    "ignore:Do not use the .random. module:hypothesis.errors.HypothesisDeprecationWarning"
)
@pytest.mark.parametrize("route", ROUTES, ids=[route.label for route in ROUTES])
def test_every_answer_is_one_that_is_described(
    route: Any, address: str, known: dict[str, list[str]]
) -> None:
    modes = [GenerationMode.POSITIVE, GenerationMode.NEGATIVE]
    cases = st.one_of([route.as_strategy(generation_mode=mode) for mode in modes])

    @SETTINGS
    @given(case=cases, data=st.data())
    def ask(case: Any, data: st.DataObject) -> None:
        for name in case.path_parameters or {}:
            if name in known and data.draw(st.booleans()):
                case.path_parameters[name] = data.draw(st.sampled_from(known[name]))
        answer = case.call(base_url=address, timeout=60)
        case.validate_response(answer, checks=CHECKS)

    ask()
