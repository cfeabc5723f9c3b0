"""`awa callback`: a job that waits is answered from the command line, once."""

import asyncio
from collections.abc import Callable
from uuid import UUID, uuid4

import pytest
from psycopg import AsyncConnection

from tests.cli.conftest import Awa
from tests.storage.world import World

Waiting = Callable[[], tuple[int, UUID]]


@pytest.fixture
def waiting(database_url: str) -> Waiting:
    """Makes a job that waits for a callback."""

    async def make() -> tuple[int, UUID]:
        async with await AsyncConnection.connect(database_url, autocommit=True) as conn:
            return await (await World.on(conn)).waiting()

    return lambda: asyncio.run(make())


@pytest.mark.parametrize(
    ("arguments", "state", "told"),
    [
        (
            ["complete", "--payload", '{"paid": 7}', "--by", "the bank"],
            "completed",
            "is completed now",
        ),
        (["fail", "--error", "no money"], "failed", "is failed now"),
        (["fail"], "failed", "is failed now"),
        (["retry", "--error", "later"], "retryable", "is retryable now"),
        (["resume", "--payload", "[1, 2]"], "available", "is available now"),
        (["heartbeat", "--timeout", "90"], "waiting_external", "goes on waiting, until"),
    ],
)
def test_an_answer(
    *, awa: Awa, waiting: Waiting, arguments: list[str], state: str, told: str
) -> None:
    job_id, callback = waiting()
    verb, *options = arguments
    ran = awa("callback", verb, str(callback), *options)
    assert (ran.code, f"Job {job_id} {told}" in ran.out) == (0, True)
    assert awa("--json", "job", "show", str(job_id)).document["state"] == state


def test_an_answer_that_comes_too_late_is_refused(
    awa: Awa, waiting: Waiting, database_url: str
) -> None:
    job_id, callback = waiting()

    async def expire() -> None:
        async with await AsyncConnection.connect(database_url, autocommit=True) as conn:
            await (await World.on(conn)).expire(callback)

    asyncio.run(expire())
    late = awa("--json", "callback", "resume", str(callback))
    assert (late.code, late.error["details"]["reason"]) == (4, "late")
    assert "came too late: its time was over at" in late.error["message"]
    assert awa("--json", "job", "show", str(job_id)).document["state"] == "waiting_external"


def test_a_second_answer_is_refused_and_says_who_was_first(awa: Awa, waiting: Waiting) -> None:
    job_id, callback = waiting()
    awa("callback", "complete", str(callback), "--by", "the bank")
    late = awa("--json", "callback", "fail", str(callback))
    assert late.code == 4
    assert late.error["details"]["resolution"] == "complete"
    assert "by the bank at" in late.error["message"]
    shown = awa("--json", "callback", "show", str(callback)).document
    assert (shown["job_id"], shown["resolved_by"], shown["job_state"]) == (
        job_id, "the bank", "completed",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["show", str(uuid4())], 3),
        (["complete", str(uuid4())], 3),
        (["complete", "nonsense"], 2),
        (["complete", str(uuid4()), "--payload", "{"], 2),
        (["heartbeat", str(uuid4()), "--timeout", "-1"], 2),
    ],
)
def test_what_is_wrong_is_said_by_the_exit_code(awa: Awa, arguments: list[str], code: int) -> None:
    assert awa("callback", *arguments).code == code


def test_a_server_of_callbacks_that_could_let_nobody_in_does_not_start(awa: Awa) -> None:
    ran = awa("--json", "serve", "--callbacks-only", "--port", "0")
    assert (ran.code, "AWA_CALLBACK_SECRET" in ran.error["message"]) == (2, True)
    both = awa("--json", "serve", "--callbacks-only", "--read-only", "--port", "0")
    assert (both.code, "--read-only" in both.error["message"]) == (2, True)
