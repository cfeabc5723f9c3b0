"""One number of slots for several queues: each that has work gets its share by weight, what others don't need is lent.

A queue *wants* slots while it looks for work and after a claim that found all it asked for. The slots are divided among
those that want some, by weight, none below its `min_workers` or above its own `max_workers`. Whoever has less than its
share goes first, and of several such the one that had least so far; what is left over is anybody's. Nothing is taken away from a running job: a queue that lent slots
gets them back as they are freed. `min_workers` of them are never lent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from awa.worker.slots import Slots


class Shared:
    """The slots that the queues of one worker share."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.used = 0  # held, or asked for in a claim that is on its way
        self.queues: list[Slots] = []
        self.waiting: set[Slots] = set()

    def changed(self, slots: int) -> None:
        """So many more (or fewer) are used now."""
        self.used += slots
        if slots < 0 and self.waiting and self.used < self.total:
            for queue in list(self.waiting):
                queue.look()

    def begins_to_want(self, queue: Slots) -> None:
        """A queue that had nothing to do has something: it saved up nothing meanwhile."""
        others = [other.turn for other in self.queues if other.wants and other is not queue]
        queue.turn = max(queue.turn, min(others, default=0.0))

    def room(self, queue: Slots) -> int:
        """How many more slots the queue may use now."""
        free = self.total - self.used
        others = [other for other in self.queues if other is not queue]
        free -= sum(max(0, other.least - other.used) for other in others)
        if free <= 0:
            return 0
        wanting = [other for other in others if other.wants]
        # What the others hold, or keep for themselves, isn't there to be divided.
        kept = sum(max(other.used, other.least) for other in others if not other.wants)
        shares = divide(self.total - kept, [queue, *wanting])
        missing = sum(max(0.0, shares[other] - max(other.used, other.least)) for other in wanting)
        lent = int(free - missing)
        mine = shares[queue] - queue.used
        if mine <= 0:
            return max(0, lent)
        first = sum(other.used < shares[other] and other.turn < queue.turn for other in wanting)
        return min(free, max(int(first < free), lent, int(free * mine / (mine + missing))))


def divide(slots: float, queues: list[Slots]) -> dict[Slots, float]:
    """The slots by weight, within each queue's bounds."""
    shares: dict[Slots, float] = {}
    while left := [queue for queue in queues if queue not in shares]:
        unit = (slots - sum(shares.values())) / sum(queue.weight for queue in left)
        bounded = {q: float(q.limit) for q in left if unit * q.weight > q.limit} or {
            q: float(q.least) for q in left if unit * q.weight < q.least
        }
        shares |= bounded or {queue: unit * queue.weight for queue in left}
    return shares
