"""Each command does what it says, in words for people and as JSON for programs."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from awa.db.migrate import render_sql
from tests.cli.conftest import Awa

Rows = Callable[[str], list[tuple[Any, ...]]]


def add(awa: Awa, *options: str) -> str:
    """Enqueue one job; its id."""
    return str(awa("--json", "enqueue", "--kind", "send", *options).document["id"])


def test_enqueue_one_job_with_everything_said(awa: Awa, rows: Rows) -> None:
    ran = awa(
        "--json", "enqueue", "--kind", "send", "--args", '{"to": "ada"}', "--queue", "mail",
        "--priority", "1", "--run-at", "2999-01-01T00:00:00+02:00", "--max-attempts", "3",
        "--tag", "a", "--tag", "b",
    )  # fmt: skip
    assert ran.code == 0
    assert ran.document["state"] == "scheduled"
    found = rows("SELECT kind, args, queue, priority, max_attempts, tags, run_at FROM awa.jobs")
    assert found[0][:6] == ("send", {"to": "ada"}, "mail", 1, 3, ["a", "b"])
    assert found[0][6].isoformat().startswith("2998-12-31T22:00")


@pytest.mark.parametrize("packed", [True, False])
def test_enqueue_a_file_several_times(awa: Awa, rows: Rows, tmp_path: Path, packed: bool) -> None:
    lines = b'{"kind": "a", "tags": ["x"], "args": {"n": 1}}\n\n{"kind": "b", "queue": "q", "priority": 1}\n'
    path = tmp_path / "jobs"
    path.write_bytes(gzip.compress(lines) if packed else lines)
    ran = awa("--json", "enqueue", "--file", str(path), "--repeat", "3", "--priority", "4")
    assert ran.document["enqueued"] == 6
    found = rows(
        "SELECT kind, queue, priority, tags::text, count(*) FROM awa.jobs GROUP BY 1,2,3,4"
    )
    assert sorted(found) == [("a", "default", 4, "{x}", 3), ("b", "q", 1, "{}", 3)]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"kind": "a", "prority": 1}', "did you mean 'priority'"),
        ('{"kind": "a", "priority": 9}', "between 1 and 4"),
        ('{"args": {}}', "kind: is required"),
        ('{"kind": "a", "args": [1]}', "expected a JSON object"),
        ('{"kind": "a", "args": {"x": NaN}}', "not JSON"),
        ("[]", "not a JSON object"),
        ("{", "not JSON"),
        ('{"kind": "a", "run_at": "2026-01-01T00:00:00"}', "without a zone"),
        ('{"kind": "a", "tags": "x"}', "a list of texts"),
        ('{"kind": "a", "metadata": [1]}', "metadata"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_goes_in(
    awa: Awa, rows: Rows, tmp_path: Path, line: str, says: str
) -> None:
    path = tmp_path / "jobs.ndjson"
    path.write_text('{"kind": "a"}\n' * 700 + line + "\n")
    ran = awa("enqueue", "--file", str(path))
    assert ran.code == 2
    assert "line 701" in ran.err
    assert says in ran.err
    assert rows("SELECT FROM awa.jobs") == []


def test_jobs_are_listed_by_page_and_shown_whole(awa: Awa) -> None:
    ids = [add(awa, "--tag", "t", "--args", '{"n": 1}') for _ in range(3)]
    page = awa("--json", "job", "list", "--tag", "t", "--limit", "2").document
    assert [str(job["id"]) for job in page["items"]] == [ids[2], ids[1]]
    more = awa("--json", "job", "list", "--before-id", str(page["next_before_id"])).document
    assert [str(job["id"]) for job in more["items"]] == [ids[0]]
    assert awa("--json", "job", "show", ids[0]).document["args"] == {"n": 1}
    table = awa("job", "list").out
    assert table.splitlines()[0].split()[:3] == ["ID", "KIND", "QUEUE"]
    page_words = awa("job", "show", ids[0]).out
    assert "arguments" in page_words
    assert "1,0" not in page_words.splitlines()[0]


def test_one_job_is_changed_at_a_time(awa: Awa) -> None:
    job = add(awa)
    assert awa("--json", "job", "set-priority", job, "1").document["priority"] == 1
    moved = awa("--json", "job", "move", job, "other", "--priority", "3").document
    assert (moved["queue"], moved["priority"]) == ("other", 3)
    assert awa("job", "cancel", job).out == f"Job {job} is cancelled.\n"
    assert awa("--json", "job", "retry", job).document["state"] == "available"


def test_a_queue_that_nobody_knows_can_be_paused_but_not_drained(awa: Awa) -> None:
    drained = awa("queue", "drain", "maill", "--yes")
    assert (drained.code, "no queue 'maill'" in drained.err) == (3, True)
    paused = awa("queue", "pause", "maill")
    assert (paused.code, "Nothing has ever been put into it" in paused.out) == (0, True)
    add(awa, "--queue", "mail")
    assert awa("queue", "pause", "mail").out == "The queue mail is paused.\n"
    assert awa("queue", "drain", "mail", "--yes").code == 0
    assert awa("queue", "drain", "mail", "--yes").code == 0  # empty, but known


def test_queues_are_paused_resumed_counted_and_drained(awa: Awa) -> None:
    for _ in range(3):
        add(awa, "--queue", "mail")
    assert awa("queue", "pause", "mail", "--by", "ann").code == 0
    assert "paused by ann" in awa("queue", "list").out
    assert awa("--json", "queue", "stats", "mail").document["available"] == 3
    listed, stats = (awa("--json", "queue", verb).document["items"] for verb in ("list", "stats"))
    assert [(row["queue"], row["available"]) for row in stats] == [
        (row["queue"], row["available"]) for row in listed
    ]
    assert awa("queue", "resume", "mail").code == 0
    assert "paused" not in awa("queue", "list").out.splitlines()[1]
    assert awa("--json", "queue", "drain", "mail", "--yes").document["cancelled"] == 3
    (row,) = awa("--json", "queue", "list").document["items"]
    assert (row["queue"], row["available"], row["cancelled"]) == ("mail", 0, 3)


def test_migrate_says_what_it_did_and_does_nothing_twice(
    bare: Awa, empty_database_url: str
) -> None:
    def awa(*arguments: str) -> Any:
        return bare("--json", "--database-url", empty_database_url, *arguments).document

    pending = awa("migrate", "--pending")["pending"]
    assert pending
    assert awa("migrate", "--pending")["pending"] == pending
    assert awa("migrate")["applied"] == pending
    assert awa("migrate")["applied"] == []
    assert awa("migrate", "--pending")["pending"] == []
    assert awa("job", "list")["items"] == []


def test_migrate_prints_its_sql_without_a_database(bare: Awa) -> None:
    assert bare("migrate", "--sql").out == render_sql()


def test_enqueue_one_job_many_times_over(awa: Awa, rows: Rows) -> None:
    ran = awa("--json", "enqueue", "--kind", "send", "--repeat", "1200")
    assert (ran.code, ran.document["enqueued"], ran.document["available"]) == (0, 1200, 1200)
    assert rows("SELECT kind, count(*) FROM awa.jobs GROUP BY kind") == [("send", 1200)]


def test_doctor_finds_what_is_wrong_and_says_what_helps(awa: Awa) -> None:
    add(awa, "--queue", "mail")
    ran = awa("doctor")
    assert ran.code == 0
    assert "No worker is running" in ran.out
    assert "awa worker run" in ran.out
    assert "queue mail" in ran.out


def test_doctor_shows_any_name_as_it_is_and_quotes_it_where_it_will_be_typed(awa: Awa) -> None:
    for queue in ("x[/red]", "two words", "q" * 200, "-dash"):
        add(awa, f"--queue={queue}")
    assert awa("queue", "pause", "--", "-dash").code == 0
    ran = awa("doctor")
    assert ran.code == 0, ran.err
    assert "queue x[/red]" in ran.out
    assert "--queue 'two words'" in ran.out
    assert "awa queue resume -- -dash" in ran.out


def test_doctor_fails_on_a_schema_that_is_not_there(bare: Awa, empty_database_url: str) -> None:
    ran = bare("--json", "--database-url", empty_database_url, "doctor")
    assert ran.code == 1
    assert ran.document["ok"] is False
    (failed,) = [f for f in ran.document["findings"] if f["verdict"] == "failed"]
    assert (failed["check"], failed["hint"]) == ("schema", "Run: awa migrate")


def test_bench_counts_what_it_did(awa: Awa, rows: Rows) -> None:
    ran = awa("--json", "bench", "--jobs", "300")
    assert ran.code == 0, ran.err
    assert [(phase["jobs"], phase["rate_per_s"] > 0) for phase in ran.document["items"]] == [
        (300, True),
        (300, True),
    ]
    assert rows("SELECT state, count(*) FROM awa.jobs GROUP BY 1") == [("completed", 300)]


def test_help_of_every_command_fits_and_names_the_global_options(bare: Awa) -> None:
    assert "--embedded" in bare("--help").out
    for command in ("demo", "dev", "migrate", "doctor", "serve", "bench", "enqueue", "worker",
                    "maintenance", "job", "queue", "batch-ops"):  # fmt: skip
        ran = bare(command, "--help")
        assert (ran.code, ran.err) == (0, "")


def test_errors_are_one_sentence_and_a_hint_or_one_json_object(awa: Awa) -> None:
    words = awa("job", "show", "77").err.splitlines()
    assert words[0].startswith("Error: ")
    assert words[1].startswith("Hint: ")
    assert set(orjson.loads(awa("job", "show", "77", "--json").err)["error"]) >= {
        "code",
        "message",
        "fields",
    }


def test_limits_of_a_queue_are_set_seen_and_taken_away(awa: Awa) -> None:
    add(awa, "--queue", "mail")
    assert awa("queue", "limit", "mail").out == "The queue mail has no limit.\n"
    said = awa("queue", "limit", "mail", "--max-running", "5", "--rate", "100/min")
    assert said.out == "The queue mail runs at most 5 jobs at once and begins at most 100/min.\n"
    assert awa("--json", "queue", "limit", "mail").document == {
        "queue": "mail",
        "max_running": 5,
        "rate_limit": 100,
        "rate_period_s": 60.0,
    }
    assert "5 at once, 100/min" in awa("queue", "list").out
    assert awa("queue", "limit", "mail", "--max-running", "off", "--rate", "off").out == (
        "The queue mail has no limit.\n"
    )
    assert awa("queue", "limit", "maill").code == 3
    for wrong in (("--max-running", "many"), ("--max-running", "0"), ("--rate", "fast")):
        assert awa("queue", "limit", "mail", *wrong).code == 2


def test_a_job_is_enqueued_with_a_concurrency_key(awa: Awa, rows: Rows) -> None:
    add(awa, "--concurrency-key", "tenant-7", "--concurrency-limit", "2")
    assert rows("SELECT key, place FROM awa.concurrency_admissions") == [("tenant-7", 1)]
    assert awa("enqueue", "--kind", "send", "--concurrency-limit", "2").code == 2
