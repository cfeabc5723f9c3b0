"""An idle queue is woken by producers; a busy one leaves them alone and looks by itself."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, cast

import psycopg
import pytest

from awa.db.listener import Listener
from awa.worker.wake import BUSY_AFTER_CLAIMS, IDLE_AFTER_NAPS, Wake


class Session:
    """Stands for the listener's session: remembers what was said in it."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.broken = False
        self.locked_by_others = False
        self.meanwhile: Callable[[], None] | None = None
        self.lost = asyncio.Event()

    async def execute(
        self, statement: str, params: Mapping[str, Any] | None = None
    ) -> list[dict[str, Any]]:
        if self.meanwhile is not None:
            self.meanwhile()
        if self.broken:
            raise psycopg.OperationalError("gone")
        self.said.append(statement.removeprefix("worker/"))
        return [{"marked": not self.locked_by_others}]


@pytest.fixture
def session() -> Session:
    return Session()


@pytest.fixture
def wake(session: Session) -> Wake:
    wake = Wake("q", poll_min_s=0.001, poll_max_s=0.008)
    wake.listen(cast("Listener", session))
    return wake


async def empty_claim(wake: Wake) -> None:
    wake.looking()
    await wake.sleep()


async def until_idle(wake: Wake) -> None:
    for _ in range(IDLE_AFTER_NAPS + 1):
        await empty_claim(wake)
    assert wake.idle


async def test_a_queue_goes_idle_after_a_few_naps_and_looks_once_more(
    wake: Wake, session: Session
) -> None:
    for _ in range(IDLE_AFTER_NAPS):
        await empty_claim(wake)
        assert session.said == []
    await empty_claim(wake)  # returns at once: what came before the lock told nobody
    assert session.said == ["mark_idle"]


async def test_a_notification_ends_the_sleep(wake: Wake) -> None:
    await until_idle(wake)
    wake._poll_min_s = wake._poll_s = wake._poll_max_s = 3600.0
    wake.looking()
    sleeping = asyncio.create_task(wake.sleep())
    await asyncio.sleep(0)
    assert not sleeping.done()
    wake.notify()
    async with asyncio.timeout(60):
        await sleeping


async def test_a_notification_during_a_claim_is_not_lost(wake: Wake) -> None:
    await until_idle(wake)
    wake._poll_s = 3600.0
    wake.looking()
    wake.notify()
    async with asyncio.timeout(60):
        await wake.sleep()


async def test_moderate_load_keeps_a_queue_idle(wake: Wake, session: Session) -> None:
    """A job now and then, with a wait in between, changes nothing about who wakes whom."""
    await until_idle(wake)
    for _ in range(3 * BUSY_AFTER_CLAIMS):
        wake.looking()
        wake.found()
        await wake.sleep()
    assert session.said == ["mark_idle"]


async def test_work_without_a_pause_makes_a_queue_busy(wake: Wake, session: Session) -> None:
    await until_idle(wake)
    for _ in range(BUSY_AFTER_CLAIMS):
        wake.looking()
        wake.found()
        wake.notify()
        await wake.sleep()
    assert session.said == ["mark_idle", "mark_busy"]
    assert not wake.idle


async def test_full_claims_make_a_queue_busy(wake: Wake, session: Session) -> None:
    await until_idle(wake)
    for _ in range(BUSY_AFTER_CLAIMS):
        wake.looking()
        wake.found()
        await wake.stay_busy()
    assert session.said == ["mark_idle", "mark_busy"]


async def test_without_a_listener_looks_get_rarer_up_to_a_bound(wake: Wake) -> None:
    wake.listen(None)
    waits = []
    for _ in range(6):
        await empty_claim(wake)
        waits.append(wake._poll_s)
    assert waits[-1] == wake._poll_max_s
    wake.found()
    assert wake._poll_s == wake._poll_min_s


async def test_a_broken_session_means_polling(wake: Wake, session: Session) -> None:
    session.broken = True
    for _ in range(IDLE_AFTER_NAPS + 2):
        await empty_claim(wake)
    assert not wake.idle
    assert session.lost.is_set()


async def test_a_lock_in_other_hands_means_polling_and_asking_again(
    wake: Wake, session: Session
) -> None:
    session.locked_by_others = True
    for _ in range(IDLE_AFTER_NAPS + 5):
        await empty_claim(wake)
    assert not wake.idle
    assert wake._poll_s == wake._poll_max_s
    session.locked_by_others = False
    await empty_claim(wake)
    assert wake.idle


@pytest.mark.parametrize("broken", [True, False])
async def test_a_session_that_goes_while_it_is_asked_marks_nothing(
    wake: Wake, session: Session, broken: bool
) -> None:
    """Another queue found out first, and this one was told before its own call came back."""
    session.broken = broken
    session.meanwhile = lambda: wake.listen(None)
    for _ in range(IDLE_AFTER_NAPS + 2):
        await empty_claim(wake)
    assert not wake.idle
