"""What the helpers around the client offer is told: bridges, tests, frameworks."""

import inspect
from typing import Any

import pytest

from awa import bridge, testing
from awa.bridge.recognise import ASYNC, BLOCKING
from awa.contrib import starlette
from awa.contrib.django.backend import OPTIONS
from awa.testing import databases, fixtures
from awa.testing.enqueued import Asked
from tests.docs.pages import spans, text_of

BRIDGES = "docs/guide/bridges.md"
TESTING = "docs/guide/testing.md"
DJANGO = "docs/guide/django.md"
PYTHON = "docs/reference/python.md"


def test_every_name_is_in_the_reference() -> None:
    told = " ".join(spans(PYTHON))
    names = {*bridge.__all__, *testing.__all__, "lifespan", "client_of"}
    assert sorted(name for name in names if name not in told) == []


@pytest.mark.parametrize("function", [testing.drain, testing.run_job, starlette.lifespan])
def test_every_parameter_is_told(function: Any) -> None:
    page = BRIDGES if function is starlette.lifespan else TESTING
    signature = next(span for span in spans(page) if f"{function.__name__}(client" in span)
    assert [name for name in inspect.signature(function).parameters if name not in signature] == []


def test_what_jobs_are_asked_for_is_told() -> None:
    (signature,) = (span for span in spans(TESTING) if "assert_enqueued(where" in span)
    assert [name for name in Asked.__annotations__ if name not in signature] == []


def test_every_fixture_and_database_helper_is_told() -> None:
    told = spans(TESTING)
    given = {name for name in vars(fixtures) if name.startswith("awa_")}
    helpers = {
        name
        for name, value in vars(databases).items()
        if inspect.isfunction(value) and value.__module__ == databases.__name__
    }
    assert given
    assert (given | {name for name in helpers if not name.startswith("_")}) - told == set()
    assert databases.SERVER_VARIABLE in told


def test_every_library_is_told() -> None:
    page = text_of(BRIDGES)
    accepted = f"{ASYNC}, {BLOCKING}"
    for library in ("psycopg", "asyncpg", "psycopg2", "SQLAlchemy", "django"):
        assert library in accepted
        assert library in page


def test_the_options_of_the_backend_are_told() -> None:
    assert OPTIONS - spans(DJANGO) == set()
