"""Every public name of the Python package, every metric, and what SQL offers is told."""

import importlib
import inspect
import pkgutil
import re
from datetime import UTC, datetime
from typing import Any

import pytest

import awa
from awa import events
from awa.config import Settings
from awa.maintenance.duties import duties
from awa.model import search
from awa.model.filter import JobFilter
from awa.model.job import JOB_COLUMNS
from awa.operations import kinds
from awa.operations.compile import CONDITIONS
from tests.docs.pages import spans, text_of
from tests.house.walk import SOURCE

PYTHON = "docs/reference/python.md"
SQL = "docs/reference/sql.md"
SEARCH = "docs/reference/search.md"
EVENTS = "docs/reference/events.md"
OPERATIONS = "docs/explain/batch-operations.md"


def test_every_metric_is_told() -> None:
    told = set(re.findall(r"^\| `(awa_\w+)` \| (\w+) \|", text_of(EVENTS), re.M))
    names = {name for name, _ in told}
    modules = [
        importlib.import_module(m.name)
        for m in pkgutil.iter_modules(events.__path__, "awa.events.")
    ]
    metrics = {name for module in modules if hasattr(module, "names") for name in module.names()}
    assert metrics
    assert metrics == names


def test_every_duty_is_told() -> None:
    assert {duty.name for duty in duties(Settings())} - spans(EVENTS) == set()


def test_every_public_name_is_told() -> None:
    named = set(re.findall(r"\w+", " ".join(spans(PYTHON))))
    assert sorted(set(awa.__all__) - named) == []


@pytest.mark.parametrize("kind", [awa.AsyncClient, awa.Client, awa.Transaction, awa.Job])
def test_every_method_is_told(kind: type[object]) -> None:
    named = set(re.findall(r"\w+", " ".join(spans(PYTHON))))
    internal = {"node_factory", "connect_listener"}
    public = {name for name in dir(kind) if not name.startswith("_")} - internal
    # What only a job that was read back has is told with the view awa.jobs.
    columns = set(JOB_COLUMNS) if kind is awa.Job else set()
    assert sorted(public - named - columns) == []


def test_options_and_parameters_are_told() -> None:
    page = text_of(PYTHON)
    options = set(awa.JobOptions.__annotations__)
    parameters = {
        name
        for method in (
            "__init__",
            "start",
            "shutdown",
            "submit_batch_operation",
            "list_jobs",
            "task",
        )
        for name in inspect.signature(getattr(awa.AsyncClient, method)).parameters
    } - {"self"}
    assert [n for n in sorted(options | parameters) if not re.search(rf"\b{n}\b", page)] == []


def test_every_field_of_a_filter_is_told_with_its_cost() -> None:
    page = text_of(OPERATIONS)
    rows = re.findall(r"^\| (`.*?) \| .* \| (index|scan).* \|$", page, re.M)
    told = {name: cost for names, cost in rows for name in re.findall(r"`(\w+)`", names)}
    assert set(told) == set(JobFilter.model_fields)
    assert {n: c for n, c in told.items() if c != CONDITIONS[n].cost} == {}


def test_every_word_of_a_search_is_told_with_its_fields() -> None:
    rows = re.findall(r"^\| `(-?\w+)` \| (.*?) \| .* \| (.*?) \|$", text_of(SEARCH), re.M)
    told = {word: re.findall(r"`(\w+)`", fields) for word, _, fields in rows}
    assert list(told) == [word.name for word in search.WORDS]
    assert {field for fields in told.values() for field in fields} == set(JobFilter.model_fields)
    for _, examples, _ in rows:
        for example in re.findall(r"`([^`]+)`", examples):
            search.parse(example, now=datetime.now(UTC))


def test_every_kind_of_operation_is_told() -> None:
    assert set(kinds.names()) - spans(OPERATIONS) == set()


def test_every_reason_is_told() -> None:
    sources = "\n".join(
        (SOURCE / name).read_text()
        for name in ("sql/functions/lanes/430_explain_not_waiting.sql", "sql/operations/change.sql")
    )
    reasons = set(re.findall(r"THEN '(\w+)'|ELSE '(\w+)' END|'skipped', '(\w+)'", sources))
    given = {name for names in reasons for name in names if name} - {"locked"}
    assert given
    assert given | {"noop", "changed", "failed"} <= spans(OPERATIONS)


async def test_the_columns_of_the_view_are_told(conn: Any) -> None:
    cursor = await conn.execute("SELECT * FROM awa.waiting_jobs LIMIT 0")
    columns = {column.name for column in cursor.description}
    assert columns - spans(SQL) == set()


async def test_the_verbs_are_told(conn: Any) -> None:
    doors = "\n".join(path.read_text() for path in (SOURCE / "sql").glob("[!fvm]*/*.sql"))
    called = set(re.findall(r"\bawa\.(\w+)\(", doors))
    cursor = await conn.execute(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'awa'::regnamespace"
    )
    functions = {name for (name,) in await cursor.fetchall()}
    told = set(re.findall(r"awa\.(\w+)", text_of(SQL)))
    internal = {
        "open_attempts",
        "notify_if_idle",
        "enqueue_and_wake",
        "args_contain",
        "lane_for",
        "note_chunk",
        "completed_kept",
        "slot_bytes",
        "closure_lengths",
        "activity_started",
        "activity_ended",
        "job_stations",
        "dead_between",
        "lane_depth",
    }
    assert called & functions
    assert sorted((called & functions) - told - internal) == []
    assert sorted(name for name in told - functions if f"awa.{name}(" in doors) == []


async def test_the_parameters_of_public_functions_are_told(conn: Any) -> None:
    page = text_of(SQL)
    cursor = await conn.execute(
        "SELECT proname, proargnames FROM pg_proc WHERE pronamespace = 'awa'::regnamespace"
        " AND proname IN ('enqueue', 'submit_batch_operation')"
    )
    for name, parameters in await cursor.fetchall():
        assert f"awa.{name}({', '.join(parameters)})" in page
