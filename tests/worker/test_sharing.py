"""Queues that share slots: by weight when all are busy, lent when some are not, given back as they are freed."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import pytest

import awa
from awa.worker.options import QueueOptions, queue_options
from awa.worker.sharing import Shared, divide
from awa.worker.slots import Slots


@dataclass
class Work:
    how: str = "slow"


def take(slots: Slots, jobs: int) -> int:
    """A claim: as many as there is room for, at most."""
    slots.wants = True
    got = min(slots.room, jobs)
    slots.take(got)
    slots.wants = got < jobs
    return got


def test_a_queue_that_is_alone_with_its_work_has_all_slots() -> None:
    shared = Shared(10)
    busy, _idle = Slots(10, shared), Slots(10, shared)
    assert take(busy, 50) == 10


def test_a_queue_gets_its_share_back_as_slots_are_freed() -> None:
    shared = Shared(10)
    first, second = Slots(10, shared), Slots(10, shared, weight=4)
    take(first, 50)
    assert take(second, 50) == 0
    for _ in range(8):
        first.free()
        assert take(first, 50) == 0
        assert take(second, 50) == 1
    assert (first.held, second.held) == (2, 8)
    # From here on each keeps what it has.
    first.free()
    assert take(second, 50) == 0
    assert take(first, 50) == 1


def test_what_a_queue_does_not_need_is_anybodys() -> None:
    shared = Shared(12)
    small, *busy = (Slots(12, shared) for _ in range(3))
    assert take(small, 1) == 1
    while any(take(queue, 99) for queue in busy):
        pass
    assert sum(queue.held for queue in busy) == 11


def test_three_busy_queues_share_by_weight() -> None:
    shared = Shared(12)
    queues = [Slots(12, shared, weight=weight) for weight in (1, 2, 3)]
    for queue in queues:
        queue.wants = True
    while any(take(queue, 99) for queue in queues):
        pass
    assert [queue.held for queue in queues] == [2, 4, 6]


def test_more_queues_than_slots_take_turns() -> None:
    shared = Shared(2)
    queues = [Slots(2, shared) for _ in range(5)]
    for queue in queues:
        queue.wants = True
    served = [0] * 5
    for _ in range(40):
        for number, queue in enumerate(queues):
            if take(queue, 99):
                served[number] += 1
        for queue in queues:
            if queue.held:
                queue.free()
                break
    assert min(served) > 0


def test_the_least_is_never_lent() -> None:
    shared = Shared(10)
    greedy, calm = Slots(10, shared), Slots(10, shared, least=3)
    assert take(greedy, 99) == 7
    assert take(calm, 99) == 3


def test_nobody_has_more_than_its_own_bound() -> None:
    shared = Shared(10)
    bounded, other = Slots(2, shared, weight=100), Slots(10, shared)
    bounded.wants = other.wants = True
    assert take(bounded, 99) == 2
    assert take(other, 99) == 8


def test_what_a_claim_asked_for_is_nobody_elses_until_it_is_back() -> None:
    shared = Shared(10)
    first, second = Slots(10, shared), Slots(10, shared)
    first.ask(10)
    assert second.room == 0
    first.take(3)
    first.ask(0)
    assert second.room == 7


def test_the_shares_add_up() -> None:
    shared = Shared(10)
    one, two, three = Slots(1, shared), Slots(10, shared, least=5), Slots(10, shared, weight=2)
    shares = divide(10, [one, two, three])
    assert shares == {one: 1.0, two: 5.0, three: 4.0}


async def test_a_freed_slot_wakes_who_waits_for_it() -> None:
    shared = Shared(2)
    holder, waiter = Slots(2, shared), Slots(2, shared)
    take(holder, 9)
    waiting = asyncio.create_task(waiter.wait_for_room(backlog=True))
    await asyncio.sleep(0)
    assert not waiting.done()
    holder.free()
    async with asyncio.timeout(60):
        await waiting
    assert waiter.room == 1
    assert not shared.waiting


@pytest.mark.parametrize(
    ("queues", "field", "told"),
    [
        ([{"queue": "a", "min_workers": 6}, {"queue": "b", "min_workers": 5}], "queues", "11"),
        ([{"queue": "a", "weight": 0}], "queues[0].weight", "between 1"),
        ([{"queue": "a", "max_workers": 2, "min_workers": 3}], "queues[0].min_workers", "and 2"),
    ],
)
def test_shares_that_make_no_sense(queues: list[object], field: str, told: str) -> None:
    with pytest.raises(awa.ValidationError) as refused:
        queue_options(queues, 10)  # type: ignore[arg-type]
    (problem,) = refused.value.fields
    assert problem.field == field
    assert told in problem.message


def test_without_a_bound_of_its_own_a_queue_may_use_all_slots() -> None:
    assert queue_options(["a", ("b", 200), {"queue": "c", "weight": 2}], 100) == [
        QueueOptions(queue="a", max_workers=100),
        QueueOptions(queue="b", max_workers=100),
        QueueOptions(queue="c", max_workers=100, weight=2),
    ]


async def test_handlers_of_all_queues_together_keep_to_the_slots(
    client: awa.AsyncClient, eventually: Callable[[Callable[[], Awaitable[bool]]], Awaitable[bool]]
) -> None:
    """Two backlogs, three slots to one: while both last, they run three to one and eight in all."""
    running: Counter[str] = Counter()
    most: Counter[str] = Counter()
    done: list[str] = []
    go = asyncio.Event()

    @client.task(Work)
    async def handle(job: awa.Job[Work]) -> None:
        running[job.queue] += 1
        most["all"] = max(most["all"], running.total())
        if done.count("light") < 20:
            most[job.queue] = max(most[job.queue], running[job.queue])
        if len(done) < 4:
            await go.wait()
        await asyncio.sleep(0)
        running[job.queue] -= 1
        done.append(job.queue)

    for queue in ("heavy", "light"):
        await client.insert_many([Work()] * 60, queue=queue)
    await client.start(
        [{"queue": "heavy", "weight": 3}, {"queue": "light"}], max_workers=8, roles=["worker"]
    )

    async def both_wait() -> bool:
        return running.total() == 8

    await eventually(both_wait)
    go.set()

    async def all_done() -> bool:
        return len(done) == 120

    await eventually(all_done)
    assert most["all"] == 8
