"""What the demo does and how large, and the words that its processes share."""

from dataclasses import dataclass
from typing import Final

from awa.dev.deliveries import Trouble, deliveries, trouble

SECRET_VARIABLE: Final = "AWA_DEMO_SECRET"
LEDGER_VARIABLE: Final = "AWA_DEMO_LEDGER"
PACE_VARIABLE: Final = "AWA_DEMO_PACE_S"

QUEUE: Final = "webhooks"
OWN_QUEUE: Final = "hello-world"
BUSY_REPOSITORY: Final = "repo:Codertocat/Hello-World"
URGENT_SENDER: Final = "sender:github"

# Signs of life come often here, so that the audience need not wait long for the rescue.
HEARTBEAT_S: Final = 0.5
STALE_S: Final = 5.0


# The first worker alone would need so long for everything: slow enough that most jobs still wait
# when they are moved, whatever the size of the demo and the speed of the machine.
FIRST_WORKER_S: Final = 50.0
SECOND_WORKER_PACE_S: Final = 0.005


@dataclass(frozen=True, slots=True)
class Plan:
    """How large the demo is: 200 rounds through 255 deliveries are 51,000 jobs."""

    rounds: int = 200

    @property
    def total(self) -> int:
        return self.rounds * len(deliveries())

    @property
    def forged(self) -> int:
        return sum(trouble(number) is Trouble.FORGED for number in range(self.total))

    @property
    def width(self) -> int:
        """Jobs that a worker runs at a time, from each queue."""
        return min(max(self.total // 500, 5), 100)

    @property
    def first_pace_s(self) -> float:
        """How long each handler of the first worker waits, as if for a service of its own."""
        return self.width * FIRST_WORKER_S / self.total

    def matching(self, tag: str) -> int:
        """How many of the jobs carry a tag."""
        return self.rounds * sum(tag in delivery.tags for delivery in deliveries())
