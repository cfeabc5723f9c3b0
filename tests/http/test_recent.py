"""One answer for everyone who asks the same thing within a moment."""

import asyncio

import pytest

from awa.http.recent import KEYS_MAX, Recent


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


class Counted:
    """Counts how often it was asked, and answers when it is told to."""

    def __init__(self) -> None:
        self.asked = 0
        self.go = asyncio.Event()

    async def __call__(self) -> int:
        self.asked += 1
        await self.go.wait()
        return self.asked


async def test_all_who_ask_at_once_get_one_answer() -> None:
    recent, produce = Recent(), Counted()
    asking = [asyncio.create_task(recent.get("key", 1, produce)) for _ in range(30)]
    await asyncio.sleep(0)
    produce.go.set()
    assert await asyncio.gather(*asking) == [1] * 30


async def test_an_answer_grows_old_from_when_it_was_begun() -> None:
    clock = Clock()
    recent, produce = Recent(clock=clock), Counted()
    produce.go.set()
    assert await recent.get("key", 2, produce) == 1
    clock.now = 1.9
    assert await recent.get("key", 2, produce) == 1
    clock.now = 2.0
    assert await recent.get("key", 2, produce) == 2
    assert await recent.get("other", 2, produce) == 3


async def test_a_failure_is_everybody_s_who_waited_and_nobody_s_after() -> None:
    recent = Recent()

    async def fails() -> int:
        await asyncio.sleep(0)
        raise ValueError("no")

    asking = [asyncio.create_task(recent.get("key", 60, fails)) for _ in range(3)]
    results = await asyncio.gather(*asking, return_exceptions=True)
    assert [type(one) for one in results] == [ValueError] * 3

    async def works() -> int:
        return 5

    assert await recent.get("key", 60, works) == 5


async def test_who_came_first_may_leave() -> None:
    recent, produce = Recent(), Counted()
    first = asyncio.create_task(recent.get("key", 1, produce))
    await asyncio.sleep(0)
    second = asyncio.create_task(recent.get("key", 1, produce))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    produce.go.set()
    assert await second == 1


async def test_its_memory_is_bounded() -> None:
    recent = Recent(clock=Clock())

    async def works() -> int:
        return 1

    for number in range(KEYS_MAX + 50):
        await recent.get(number, 60, works)
    assert len(recent) <= KEYS_MAX
