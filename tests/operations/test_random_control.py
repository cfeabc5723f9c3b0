"""Whoever steers whatever in whatever order: the books balance at every commit, and only allowed moves are made.

Two operations over the same jobs, leaders that come and go, workers that take jobs away, and an operator who pauses,
resumes, changes and cancels at random. What each deed must answer is told by the table of moves alone.
"""

import random
from datetime import UTC, datetime
from typing import Any

import pytest

from awa.db.pool import Pool
from awa.model.errors import Conflict
from awa.model.states import FINAL_OPERATION_STATES, OPERATION_MOVES, OperationState
from awa.operations import control, read, switch
from awa.operations.submit import submit
from tests.operations.kit import (
    LATER,
    Conn,
    Row,
    add_jobs,
    add_scheduled,
    check_sums,
    claim_jobs,
    new_runner,
    run_to_end,
    value,
)

DEEDS = ["step"] * 8 + ["pause", "pause", "resume", "resume", "resume"]
DEEDS += ["change", "hold", "release", "release", "claim", "leader", "cancel"]
LENGTH = 120
STANDING_STILL = FINAL_OPERATION_STATES | {OperationState.PAUSED}
COUNTS = ("state", "total_matched", "processed", "skipped", "errored", "cursor", "paused_from")


class Walk:
    """One random walk, and what it knows of the present."""

    def __init__(self, conn: Conn, pool: Pool, seed: int) -> None:
        self.conn, self.pool = conn, pool
        self.rng = random.Random(seed)
        self.held = False

    async def begin(self) -> None:
        """Jobs, two operations over them, and a leader."""
        await add_jobs(self.conn, 240, queue="a")
        await add_scheduled(self.conn, 60, queue="a")
        first = await submit(self.conn, "move_queue", {"queue": "a"}, {"queue": "b"})
        second = await submit(self.conn, "set_priority", {"kind": "work"}, {"priority": 1})
        self.ids = [first["id"], second["id"]]
        self.runner = await new_runner(self.conn, self.pool)

    async def look(self) -> list[Row]:
        """Both operations, their books checked."""
        return [await check_sums(self.conn, operation_id) for operation_id in self.ids]

    async def do(self, deed: str) -> None:
        """One deed, and whether it did what it had to."""
        before = await self.look()
        which = self.rng.randrange(2)
        match deed:
            case "step":
                await self._step(before)
            case "leader":
                self.runner = await new_runner(self.conn, self.pool)
            case "claim":
                await claim_jobs(self.conn, self.rng.choice("ab"), self.rng.randrange(1, 20))
            case "hold" | "release":
                await self._turn(hold=deed == "hold")
            case "change":
                await self._change(before[which])
            case _:
                await self._steer(deed, before[which])

    async def _step(self, before: list[Row]) -> None:
        """Held, paused and ended ones stand still; a cancelled one ends whatever holds the others."""
        await self.runner.step(now=datetime.now(UTC) + LATER)
        for old, new in zip(before, await self.look(), strict=True):
            stands = old["state"] in STANDING_STILL or (
                self.held and old["state"] != OperationState.CANCELLING
            )
            if stands:
                assert {name: new[name] for name in COUNTS} == {name: old[name] for name in COUNTS}
            moved = (OperationState(old["state"]), OperationState(new["state"]))
            assert moved[0] is moved[1] or moved in OPERATION_MOVES

    async def _turn(self, *, hold: bool) -> None:
        deed = switch.hold if hold else switch.release
        if hold is self.held:
            with pytest.raises(Conflict):
                await deed(self.conn)
            return
        await deed(self.conn)
        self.held = hold

    async def _change(self, before: Row) -> None:
        rate = self.rng.choice([None, 1, 30, 5_000])
        changes = {"max_rows_per_second": rate, "priority": self.rng.randrange(1, 5)}
        if before["state"] in {*FINAL_OPERATION_STATES, "cancelling"}:
            with pytest.raises(Conflict):
                await control.change(self.conn, before["id"], changes)
            return
        after = await control.change(self.conn, before["id"], changes)
        assert {name: after[name] for name in changes} == changes
        assert {name: after[name] for name in COUNTS} == {name: before[name] for name in COUNTS}

    async def _steer(self, deed: str, before: Row) -> None:
        wanted = _after(deed, before)
        act: Any = {"pause": control.pause, "resume": control.resume, "cancel": control.cancel}
        if wanted is None:
            with pytest.raises(Conflict) as refused:
                await act[deed](self.conn, before["id"])
            assert refused.value.details is not None
            assert refused.value.details["state"] == before["state"]
            return
        after = await act[deed](self.conn, before["id"])
        assert after["state"] == wanted
        kept = [name for name in COUNTS if name not in {"state", "paused_from"}]
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}

    async def end(self) -> list[Row]:
        """Nobody stands in the way any more."""
        if self.held:
            await self._turn(hold=False)
        for row in await self.look():
            if row["state"] == "paused":
                await control.resume(self.conn, row["id"])
        await run_to_end(await new_runner(self.conn, self.pool))
        return await self.look()


def _after(deed: str, before: Row) -> str | None:
    """The state that a deed leads to; None if it is refused."""
    state = before["state"]
    if deed == "resume":
        return str(before["paused_from"]) if state == "paused" else None
    if deed == "pause":
        return "paused" if state in {"pending", "scanning", "running"} else None
    if state in {"pending", "paused"}:
        return "cancelled"
    return "cancelling" if state in {"scanning", "running"} else None


@pytest.mark.parametrize("seed", range(6))
async def test_the_books_balance_whoever_steers(conn: Conn, pool: Pool, seed: int) -> None:
    walk = Walk(conn, pool, seed)
    await walk.begin()
    # Some walks cancel nothing, so that their operations come to their end.
    deeds = [deed for deed in DEEDS if deed != "cancel" or seed % 2]
    for _ in range(LENGTH):
        await walk.do(walk.rng.choice(deeds))
    ended = await walk.end()
    for row in ended:
        assert row["state"] in {"completed", "cancelled"}
        if row["state"] == "completed":
            assert row["pending"] == 0
        events = await read.events(conn, row["id"])
        moves = [(e["from_state"], e["to_state"]) for e in events[1:] if not e["changes"]]
        assert all(
            (OperationState(old), OperationState(new)) in OPERATION_MOVES for old, new in moves
        )
        assert [old for old, _ in moves[1:]] == [new for _, new in moves[:-1]], "no gap"
    # Each job is there once, wherever it went.
    assert await value(conn, "SELECT count(DISTINCT id) FROM awa.jobs") == 300
    assert await value(conn, "SELECT count(*) FROM awa.jobs") == 300
