"""Wrong input is refused before anything is touched: the right exit code, one sentence, and the nearest right name."""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from tests.cli.conftest import Awa

MOVE = ("--op-kind", "move_queue", "--spec", '{"queue": "other"}')
RAISE = ("--op-kind", "set_priority", "--spec", '{"priority": 1}')
LONG = "q" * 201


@pytest.mark.parametrize("verb", [("preview",), ("submit", "--yes")])
@pytest.mark.parametrize(
    ("arguments", "field", "says"),
    [
        ((*MOVE, "--filter", '{"queu": "a"}'), "queu", "did you mean 'queue'"),
        ((*MOVE, "--filter", '{"queue": 7}'), "queue", "queue"),
        ((*MOVE, "--filter", '{"ids": ["7"]}'), "ids", "ids"),
        ((*MOVE, "--filter", '{"state": "sleeping"}'), "state", "expected one of"),
        (
            (*MOVE, "--filter", '{"state": "completed"}'),
            "state",
            "move_queue changes jobs that are",
        ),
        ((*MOVE, "--filter", '{"queue": ""}'), "queue", "must not be empty"),
        ((*MOVE, "--filter", f'{{"queue": "{LONG}"}}'), "queue", "200"),
        (
            (*MOVE, "--filter", '{"created_at_gte": "2026-06-01T00:00:00"}'),
            "created_at_gte",
            "offset",
        ),
        (
            (
                *MOVE,
                "--filter",
                '{"run_at_gte": "2026-06-02T00:00:00Z", "run_at_lt": "2026-06-01T00:00:00Z"}',
            ),
            "run_at",
            "reversed",
        ),
        ((*MOVE, "--filter", '{"queue": null}'), "queue", "must not be null"),
        ((*MOVE, "--filter", "[]"), "filter", "not a JSON object"),
        ((*MOVE, "--filter", "{queue: a}"), "filter", "not JSON"),
        (("--op-kind", "move_queu", "--spec", "{}"), "op_kind", "did you mean 'move_queue'"),
        (("--op-kind", "set_priority", "--spec", '{"priority": 0}'), "priority", "1"),
        (("--op-kind", "set_priority", "--spec", '{"priority": 5}'), "priority", "4"),
        (("--op-kind", "set_priority", "--spec", '{"priority": "1"}'), "priority", "priority"),
        (("--op-kind", "set_priority", "--spec", '{"prority": 1}'), "prority", "did you mean"),
        (("--op-kind", "move_queue", "--spec", '{"queue": ""}'), "queue", "empty"),
        (("--op-kind", "move_queue", "--spec", f'{{"queue": "{LONG}"}}'), "queue", "200"),
    ],
)
def test_of_a_batch_operation(
    bare: Awa, verb: tuple[str, ...], arguments: tuple[str, ...], field: str, says: str
) -> None:
    """No database is named: all of this is said without asking one."""
    ran = bare("--json", "batch-ops", *verb, *arguments)
    assert ran.code == 2, ran.err
    assert field in " ".join(problem["field"] for problem in ran.error["fields"])
    assert says in ran.error["message"]


def test_an_empty_filter_needs_all(awa: Awa, rows: Callable[[str], list[Any]]) -> None:
    ran = awa("batch-ops", "submit", *RAISE, "--yes")
    assert ran.code == 2
    assert "--all" in ran.err
    assert awa("batch-ops", "submit", *RAISE, "--yes", "--filter", '{"ids": []}').code == 2
    assert rows("SELECT FROM awa.batch_operations") == []
    assert awa("batch-ops", "submit", *RAISE, "--yes", "--all").code == 0


def test_a_preview_may_look_at_everything(awa: Awa) -> None:
    assert awa("batch-ops", "preview", *RAISE).code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--kind", "k", "--priority", "0"), "between 1 and 4"),
        (("--kind", "k", "--priority", "5"), "between 1 and 4"),
        (("--kind", "k", "--queue", ""), "must not be empty"),
        (("--kind", "k", "--queue", LONG), "at most 200"),
        (("--kind", ""), "must not be empty"),
        (("--kind", "k", "--args", "{"), "--args is not JSON"),
        (("--kind", "k", "--run-at", "2026-06-01T00:00:00"), "without a zone"),
        (("--kind", "k", "--run-at", "soon"), "not a time"),
        (("--kind", "k", "--max-attempts", "0"), "between 1 and"),
        (("--kind", "k", "--tag", ""), "must not be empty"),
        ((), "neither --kind nor --file was given.\nHint: Say --kind"),
        (("--file", "nowhere.ndjson"), "cannot be read: no such file"),
        (("--file", "x", "--args", "{}"), "for a single job"),
    ],
)
def test_of_an_enqueue(
    awa: Awa, rows: Callable[[str], list[Any]], arguments: tuple[str, ...], says: str
) -> None:
    ran = awa("enqueue", *arguments)
    assert ran.code == 2, ran.err
    assert says in ran.err
    assert rows("SELECT FROM awa.jobs") == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("job", "set-priority", "1", "0"),
        ("job", "set-priority", "1", "5"),
        ("job", "move", "1", ""),
        ("job", "move", "1", LONG),
        ("job", "show", "one"),
        ("job", "list", "--state", "sleeping"),
        ("job", "list", "--limit", "0"),
        ("queue", "pause", ""),
        ("queue", "drain", LONG, "--yes"),
        ("batch-ops", "show", "7"),
        ("batch-ops", "list", "--state", "sleeping"),
        ("batch-ops", "list", "--cursor", "nonsense"),
        ("batch-ops", "purge", "--yes"),
        ("batch-ops", "purge", "--yes", "--before", "2026-06-01T00:00:00"),
        ("batch-ops", "purge", "--yes", "--before", "2999-01-01"),
        ("serve", "--port", "70000"),
        ("serve", "--port", "0", "--root-path", "no path"),
        ("worker", "run", "nonsense"),
        ("worker", "run", "no.such.module:client"),
        ("worker", "run", "json:dumps"),
        ("worker", "run", "x:y", "--queue", "a=0"),
        ("worker", "run", "x:y", "--roles", "boss"),
        ("bench", "--jobs", "0"),
        ("demo", "--rounds", "0"),
        ("nonsense",),
        ("job",),
        (),
        ("job", "list", "--nonsense"),
    ],
)
def test_of_everything_else(awa: Awa, arguments: tuple[str, ...]) -> None:
    ran = awa(*arguments)
    assert ran.code == 2, ran.err
    assert ran.err.strip()


def test_a_mistyped_command_is_answered_with_the_nearest(awa: Awa) -> None:
    ran = awa("batch-op", "list")
    assert ran.code == 2
    assert "Did you mean 'batch-ops'?" in ran.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("job", "show", "999999999"),
        ("job", "cancel", "999999999"),
        ("job", "retry", "999999999"),
        ("job", "set-priority", "999999999", "1"),
        ("job", "move", "999999999", "other"),
        ("queue", "stats", "never-seen"),
        ("queue", "resume", "never-seen"),
        ("batch-ops", "show", str(uuid4())),
        ("batch-ops", "items", str(uuid4())),
        ("batch-ops", "watch", str(uuid4())),
        ("batch-ops", "cancel", str(uuid4())),
    ],
)
def test_what_is_not_there_exits_3(awa: Awa, arguments: tuple[str, ...]) -> None:
    ran = awa("--json", *arguments)
    assert ran.code == 3, ran.err
    assert ran.error["code"] == "not_found"


@pytest.mark.parametrize(
    "arguments",
    [
        ("batch-ops", "submit", *RAISE, "--all"),
        ("batch-ops", "purge", "--before", "2026-01-01"),
        ("queue", "drain", "default"),
    ],
)
def test_without_a_terminal_nothing_is_asked_and_nothing_is_done(
    awa: Awa, arguments: tuple[str, ...], rows: Callable[[str], list[Any]]
) -> None:
    awa("enqueue", "--kind", "k")
    ran = awa(*arguments)
    assert ran.code == 4
    assert "--yes" in ran.err
    assert rows("SELECT state FROM awa.jobs") == [("available",)]
    assert rows("SELECT FROM awa.batch_operations") == []


def test_the_second_cancel_of_a_job_is_refused(awa: Awa) -> None:
    awa("enqueue", "--kind", "k")
    job = str(awa("--json", "job", "list").document["items"][0]["id"])
    assert awa("job", "cancel", job).code == 0
    ran = awa("--json", "job", "cancel", job)
    assert ran.code == 4
    assert ran.error["code"] == "conflict"
    assert "cancelled" in ran.error["message"]


def test_the_second_cancel_of_an_operation_is_refused(awa: Awa) -> None:
    submitted = awa("--json", "batch-ops", "submit", *RAISE, "--all", "--yes").document["id"]
    assert awa("--json", "batch-ops", "cancel", submitted).document["state"] == "cancelled"
    ran = awa("--json", "batch-ops", "cancel", submitted)
    assert ran.code == 4
    assert ran.error["details"]["state"] == "cancelled"


def test_each_wrong_field_is_named_once(awa: Awa) -> None:
    ran = awa("batch-ops", "preview", *MOVE, "--filter", '{"queu": "a", "tagg": "b"}')
    assert ran.code == 2
    assert ran.err.count("did you mean 'queue'") == ran.err.count("did you mean 'tag'") == 1


def test_a_hint_begins_as_a_sentence_does(awa: Awa) -> None:
    ran = awa("job", "show", "424242")
    assert ran.code == 3
    assert "Hint: It may have been removed" in ran.err


def test_an_unknown_state_is_told_in_our_words(awa: Awa) -> None:
    told = awa("job", "list", "--state", "bogus").err
    assert "'bogus' is not one of" in told
    assert "Value error" not in told
