"""`awa dlq`: dead letters are seen, retried and purged, and only those that were counted."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from psycopg import AsyncConnection

from awa.cli import dlq
from awa.operations import dead_letters
from tests.cli.conftest import Awa
from tests.storage.world import World

Rows = Callable[[str], list[tuple[Any, ...]]]


@pytest.fixture
def letters(database_url: str) -> Callable[[str, int], None]:
    """Makes dead letters of the queue `mail`."""

    async def make(error: str, jobs: int) -> None:
        async with await AsyncConnection.connect(database_url, autocommit=True) as conn:
            world = await World.on(conn)
            await dead_letters.enable(conn, "mail", True)
            await world.enqueue(jobs, queue="mail", kind="send")
            claimed = await world.claim(queue="mail")
            await world.finish(claimed, "failed", error={"error": error, "kind": "E"})

    return lambda error, jobs: asyncio.run(make(error, jobs))


def test_a_queue_is_switched_on_and_off(awa: Awa) -> None:
    assert awa("--json", "dlq", "keep", "mail").document == {"queue": "mail", "dlq_enabled": True}
    off = awa("--json", "dlq", "keep", "mail", "--off")
    assert off.document == {"queue": "mail", "dlq_enabled": False}


def test_depth_and_list_tell_what_there_is(awa: Awa, letters: Callable[[str, int], None]) -> None:
    letters("mailbox is full", 3)
    depth = awa("--json", "dlq", "depth").document
    assert [(row["queue"], row["depth"]) for row in depth["queues"]] == [("mail", 3)]
    assert [(row["error"], row["depth"]) for row in depth["causes"]] == [("mailbox is full", 3)]
    first = awa("--json", "dlq", "list", "--limit", "2").document
    rest = awa("--json", "dlq", "list", "--cursor", first["next_cursor"]).document
    assert len(first["items"] + rest["items"]) == 3
    assert "mailbox is full" in awa("dlq", "list").out


def test_one_is_retried_once(awa: Awa, letters: Callable[[str, int], None]) -> None:
    letters("no", 1)
    (row,) = awa("--json", "dlq", "list").document["items"]
    again = awa("--json", "dlq", "retry", str(row["id"]), "--to-queue", "later").document
    assert (again["state"], again["queue"]) == ("available", "later")
    twice = awa("--json", "dlq", "retry", str(row["id"]))
    assert (twice.code, twice.error["code"]) == (4, "conflict")


def test_everything_has_to_be_said_and_confirmed(
    awa: Awa, letters: Callable[[str, int], None]
) -> None:
    letters("no", 2)
    for deed in ("retry", "purge"):
        assert awa("dlq", deed).code == 4
        assert awa("dlq", deed, "--all").code == 4
    assert awa("--json", "dlq", "purge", "--all", "--yes").document == {"purged": 2}


def test_what_comes_after_the_count_is_left_alone(
    awa: Awa, letters: Callable[[str, int], None], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two are named in the question, so two are deleted, though a third came while it was answered."""
    letters("no", 2)
    asked: list[str] = []

    def think(_out: object, question: str) -> None:
        asked.append(question)
        _in_another_thread(lambda: letters("no", 1))

    monkeypatch.setattr(dlq, "confirm", think)
    assert awa("--json", "dlq", "purge", "--queue", "mail").document == {"purged": 2}
    assert asked == ["Delete for good 2 dead letters?"]
    assert rows("SELECT count(*) FROM awa.dlq_entries") == [(1,)]


def _in_another_thread(deed: Callable[[], None]) -> None:
    """A loop of its own: one runs in this thread already."""
    thread = threading.Thread(target=deed)
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    "choice", [("--queue", "mail"), ("--reason", "terminal_error"), ("--all",), ("--kind", "send")]
)
def test_an_id_and_a_choice_are_not_both_given(
    awa: Awa, letters: Callable[[str, int], None], choice: tuple[str, ...]
) -> None:
    """Whoever says --queue with an ID may well mean where it should go."""
    letters("no", 1)
    (row,) = awa("--json", "dlq", "list").document["items"]
    both = awa("--json", "dlq", "retry", str(row["id"]), *choice)
    assert (both.code, both.error["code"]) == (2, "invalid")
    assert "--to-queue" in both.error["hint"]
    assert len(awa("--json", "dlq", "list").document["items"]) == 1


def test_letters_are_chosen_by_reason(awa: Awa, letters: Callable[[str, int], None]) -> None:
    letters("no", 2)
    listed = awa("--json", "dlq", "list", "--reason", "terminal_error").document
    assert len(listed["items"]) == 2
    assert awa("--json", "dlq", "purge", "--reason", "callback_failed", "--yes").document == {
        "purged": 0
    }
    unknown = awa("--json", "dlq", "purge", "--reason", "terminal", "--yes")
    assert unknown.code == 2
    assert "attempts_exhausted, terminal_error, callback_failed" in unknown.error["message"]
    purged = awa("--json", "dlq", "purge", "--reason", "terminal_error", "--yes").document
    assert purged == {"purged": 2}
