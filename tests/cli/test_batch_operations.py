"""An operator previews, submits, watches, looks closer, and clears up."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest

from tests.cli.conftest import Awa, Program, Start

MOVE = (
    "--op-kind", "move_queue", "--filter", '{"tag": "slow"}', "--spec", '{"queue": "other"}',
)  # fmt: skip


@pytest.fixture
def backlog(awa: Awa) -> None:
    """Five jobs, three of them tagged."""
    for tag in ("slow", "slow", "slow", "fast", "fast"):
        awa("enqueue", "--kind", "send", "--tag", tag)


@pytest.mark.usefixtures("backlog")
def test_a_preview_counts_and_changes_nothing(awa: Awa, rows: Callable[[str], list[Any]]) -> None:
    seen = awa("--json", "batch-ops", "preview", *MOVE).document
    assert seen["total_matched"] == 3
    assert len(seen["sample"]) == 3
    words = awa("batch-ops", "preview", *MOVE).out
    assert "3 jobs would go to the queue other" in words
    assert "default: 3" in words
    assert rows("SELECT DISTINCT queue FROM awa.jobs") == [("default",)]


@pytest.mark.usefixtures("backlog", "leader")
def test_submit_and_watch_to_the_end(awa: Awa, rows: Callable[[str], list[Any]]) -> None:
    ran = awa("batch-ops", "submit", *MOVE, "--yes", "--watch", "--reason", "they hold up the rest")
    assert ran.code == 0, ran.err
    assert "3 jobs would go to the queue other" in ran.out
    assert "they hold up the rest" in ran.out
    assert "3 + 0 + 0 = 3" in ran.out
    assert rows("SELECT count(*) FROM awa.jobs WHERE queue = 'other'") == [(3,)]


@pytest.mark.usefixtures("backlog")
def test_watch_follows_an_operation_that_starts_later(
    awa: Awa, start: Start, request: pytest.FixtureRequest
) -> None:
    submitted = awa("--json", "batch-ops", "submit", *MOVE, "--yes").document
    watching = start("--json", "batch-ops", "watch", submitted["id"])
    assert orjson.loads(watching.line())["progress"]["state"] == "pending"
    request.getfixturevalue("leader")
    ran = watching.end()
    assert ran.code == 0
    assert ran.document["state"] == "completed"
    assert ran.document["processed"] == 3


@pytest.mark.usefixtures("backlog", "leader")
def test_afterwards_every_job_and_every_step_can_be_seen(awa: Awa) -> None:
    done = awa("--json", "batch-ops", "submit", *MOVE, "--yes", "--watch").document
    (listed,) = awa("--json", "batch-ops", "list", "--state", "completed").document["items"]
    assert listed["id"] == done["id"]
    items = awa("--json", "batch-ops", "items", done["id"], "--limit", "2").document
    assert [item["state"] for item in items["items"]] == ["processed", "processed"]
    rest = awa("--json", "batch-ops", "items", done["id"], "--cursor", items["next_cursor"])
    assert len(rest.document["items"]) == 1
    shown = awa("--json", "batch-ops", "show", done["id"]).document
    assert [event["to_state"] for event in shown["events"]] == [
        "pending", "scanning", "running", "completed",
    ]  # fmt: skip
    assert "completed by" in awa("batch-ops", "show", done["id"]).out


@pytest.mark.usefixtures("backlog", "leader")
def test_purge_deletes_what_has_ended_and_nothing_else(awa: Awa) -> None:
    awa("batch-ops", "submit", *MOVE, "--yes", "--watch")
    early = awa("--json", "batch-ops", "purge", "--yes", "--before", "2020-01-01").document
    assert early["purged"] == 0
    now = awa("--json", "batch-ops", "list").document["items"][0]["updated_at"]
    assert awa("--json", "batch-ops", "purge", "--yes", "--before", now).code == 0
    # Ended at or after that moment: still there. A little later it may go.
    later = awa("--json", "batch-ops", "purge", "--yes", "--before", _just_now()).document
    assert later["purged"] + len(awa("--json", "batch-ops", "list").document["items"]) <= 1


def _just_now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).isoformat()


@pytest.mark.usefixtures("backlog")
def test_a_filter_may_come_from_a_file(awa: Awa, tmp_path: Any) -> None:
    (tmp_path / "slow.json").write_text('{"tag": "slow"}')
    seen = awa(
        "--json", "batch-ops", "preview", "--op-kind", "set_priority", "--spec", '{"priority": 1}',
        "--filter", f"@{tmp_path}/slow.json",
    )  # fmt: skip
    assert seen.document["total_matched"] == 3


def test_the_leader_is_there(leader: Program) -> None:
    leader.process.terminate()
    ran = leader.end()
    assert ran.code == 0
    assert ran.document["stopped"]["handed_back"] == 0
