"""The last look before an operation is submitted: what would change, how long it takes, what comes of it."""

from dataclasses import dataclass
from typing import Any, Final

from awa.db.run import Connection
from awa.model.errors import NotFound
from awa.model.plan import Count as Planned
from awa.model.plan import PlanLimits
from awa.operations import switch
from awa.operations.preview import preview
from awa.operations.reading import jobs, queues, runtimes
from awa.operations.reading.bounds import bounded
from awa.operations.reading.counts import STATES, Count, total
from awa.web import deeds
from awa.web.wish import Wish

CHECK_MAX_MS: Final = 20_000
SLOW_HINT: Final = "Narrow the search by queue, state or priority and check again."
_UNTIL_STARTED: Final = "The jobs would wait there until a worker is started for it."


@dataclass(frozen=True, slots=True)
class Which:
    """How many jobs match a search, and how many of them an operation may change at all."""

    matched: Count
    eligible: Count
    rest: dict[str, Count]


@dataclass(frozen=True, slots=True)
class Check:
    """What the third step shows."""

    preview: dict[str, Any]
    changes: dict[str, Any]
    warnings: list[str]
    effects: list[str]

    @property
    def count(self) -> Planned:
        """What a plan is held against."""
        by = self.preview["breakdown"]
        return Planned(self.preview["total_matched"], self.already, by["queue"], by["state"])

    @property
    def already(self) -> int:
        """Eligible jobs that are at the target."""
        return int(self.preview["noop"])

    @property
    def jobs(self) -> int:
        """The number on the button: eligible jobs without those at the target."""
        return int(self.preview["total_matched"]) - self.already


async def count_which(conn: Connection, wish: Wish) -> Which | None:
    """Count as far as it is quick; None where the search could not be understood."""
    if wish.filter is None:
        return None
    eligible = _eligible_states(wish)
    if wish.filter.state is not None:
        matched = await jobs.count(conn, wish.filter)
        by_state = {wish.filter.state.value: matched}
    else:
        counted = await jobs.counts_by_state(conn, wish.filter)
        by_state = {state.value: counted[state] for state in STATES if state in counted}
    return Which(
        matched=total(by_state.values()),
        eligible=total(count for state, count in by_state.items() if state in eligible),
        rest={
            state: count
            for state, count in by_state.items()
            if state not in eligible and count.jobs
        },
    )


async def check(conn: Connection, wish: Wish, limits: PlanLimits) -> Check:
    """Count exactly what would change now, and look at where it would go. Raises TooSlow."""
    assert wish.filter is not None
    assert wish.op_kind is not None
    assert wish.spec is not None
    async with bounded(conn, "counting these jobs", SLOW_HINT, max_ms=CHECK_MAX_MS):
        seen = await preview(
            conn, wish.op_kind, wish.filter, wish.spec, plan_limits=limits, max_ms=CHECK_MAX_MS
        )
    changing = seen["total_matched"] - seen["noop"]
    return Check(
        preview=seen,
        changes=deeds.DEEDS[wish.op_kind].changes(wish.spec),
        warnings=await _warnings(conn, wish),
        effects=deeds.effects(wish.op_kind, wish.spec, changing),
    )


def _eligible_states(wish: Wish) -> frozenset[str]:
    chosen = [wish.op_kind] if wish.op_kind else list(deeds.DEEDS)
    return frozenset(state.value for name in chosen for state in deeds.kind_of(name).eligible)


async def _warnings(conn: Connection, wish: Wish) -> list[str]:
    said = []
    destination = (wish.spec or {}).get("queue")
    if destination is not None:
        said += await _about_queue(conn, destination)
    hold = await switch.present(conn)
    if hold["held"]:
        why = f" (“{hold['reason']}”)" if hold["reason"] else ""
        said.append(
            f"All operations are held by {hold['held_by']}{why}. "
            "This one can be submitted, and waits until they are released."
        )
    if await runtimes.leader(conn) is None:
        said.append(
            "No maintenance leader is alive, so nobody would carry the operation out. "
            "It would wait until a worker or awa maintenance run is started."
        )
    return said


async def _about_queue(conn: Connection, queue: str) -> list[str]:
    try:
        found = await queues.detail(conn, queue)
    except NotFound:
        return [f"The queue {queue} does not exist yet, and nobody works on it. {_UNTIL_STARTED}"]
    said = []
    if found["paused"]:
        by = f" by {found['paused_by']}" if found["paused_by"] else ""
        said.append(f"The queue {queue} is paused{by}. The jobs would wait until it is resumed.")
    if not found["workers"]:
        said.append(f"Nobody works on the queue {queue} at present. {_UNTIL_STARTED}")
    return said
