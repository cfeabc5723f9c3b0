"""One leads at a time; a deposed leader can neither act nor have its unfinished acts land later."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import AsyncConnection

from awa.config import Settings
from awa.db import run
from awa.db.pool import Pool
from awa.maintenance.duty import Duty
from awa.maintenance.keeping import run_bounded
from awa.maintenance.leader import Leader, Timing
from awa.maintenance.term import Term
from awa.operations.fence import LEASE_NAME, LeaseLost
from awa.storage.rescue import rescue
from awa.storage.runtimes import register

Connect = Callable[..., Awaitable[AsyncConnection[Any]]]


@pytest.fixture
def other(pool: Pool, settings: Settings) -> Leader:
    runtime_id = uuid4()
    return Leader(pool, lambda: runtime_id, Timing.of(settings))


async def expiry(conn: AsyncConnection[Any]) -> datetime:
    """When the lease runs out."""
    (found,) = await (await conn.execute("SELECT expires_at FROM awa.leases")).fetchall()
    moment = found[0]
    assert isinstance(moment, datetime)
    return moment


def anybody() -> dict[str, Any]:
    """Parameters of close_gate for a candidate whom nobody knows."""
    return {"name": LEASE_NAME, "holder": uuid4()}


async def declare_dead(conn: AsyncConnection[Any], runtime_id: UUID) -> None:
    """As a rescue does with a runtime that was silent too long."""
    await conn.execute(
        "UPDATE awa.runtimes SET heartbeat_at = now() - interval '1 hour' WHERE id = %s",
        [runtime_id],
    )
    assert (await rescue(conn, stale_after_s=60)).runtimes_declared_dead == 1


async def let_the_lease_run_out(conn: AsyncConnection[Any]) -> None:
    await conn.execute("UPDATE awa.leases SET expires_at = now() - interval '1 second'")


async def test_only_one_of_two_is_elected(term: Term, other: Leader) -> None:
    assert await other.stand() is None


async def test_two_that_stand_at_once_do_not_both_lead(candidate: Leader, other: Leader) -> None:
    terms = await asyncio.gather(*(leader.stand() for leader in (candidate, other) * 5))
    assert len({term.holder for term in terms if term}) == 1


async def test_a_lease_that_ran_out_goes_to_another_with_a_greater_fence(
    term: Term, other: Leader, conn: AsyncConnection[Any]
) -> None:
    await let_the_lease_run_out(conn)
    successor = await other.stand()
    assert successor is not None
    assert successor.fence > term.fence


async def test_a_lease_that_was_given_back_is_free_at_once(
    candidate: Leader, term: Term, other: Leader
) -> None:
    await candidate.give_back(term)
    assert await other.stand() is not None


async def test_renewing_keeps_the_lease_beyond_its_time(
    pool: Pool, other: Leader, conn: AsyncConnection[Any]
) -> None:
    runtime_id = uuid4()
    leader = Leader(
        pool,
        lambda: runtime_id,
        replace(Timing.of(Settings(lease_ttl_s=300)), renew_interval_s=0.01),
    )
    term = await leader.stand()
    assert term is not None
    first_valid_until_s = term.valid_until_s
    at_first = await expiry(conn)
    keeping = asyncio.create_task(leader.keep(term))
    async with asyncio.timeout(60):
        for _ in range(3):
            last = await expiry(conn)
            while await expiry(conn) == last:  # noqa: ASYNC110 -- nobody announces it
                await asyncio.sleep(0.01)
    assert await expiry(conn) > at_first
    assert term.valid_until_s > first_valid_until_s
    assert await other.stand() is None
    assert not term.is_over
    term.end()
    await keeping


async def test_a_lease_is_renewed_well_before_it_runs_out(settings: Settings) -> None:
    timing = Timing.of(settings)
    assert timing.renew_interval_s + timing.renew_again_s < timing.lease_ttl_s / 2
    assert timing.stand_interval_s <= timing.lease_ttl_s / 4


async def test_a_leader_that_finds_another_in_its_place_ends_its_term(
    candidate: Leader, term: Term, other: Leader, conn: AsyncConnection[Any]
) -> None:
    await let_the_lease_run_out(conn)
    successor = await other.stand()
    await candidate.renew(term)
    assert term.is_over
    assert successor is not None
    async with conn.transaction():
        await successor.enter(conn)


async def test_renewing_late_does_not_take_a_lease_that_was_another_s(
    candidate: Leader, term: Term, other: Leader, conn: AsyncConnection[Any]
) -> None:
    await let_the_lease_run_out(conn)
    assert await other.stand() is not None
    await let_the_lease_run_out(conn)
    await candidate.renew(term)
    assert term.is_over
    seen = await run.row(conn, "maintenance/lease_left", {"name": LEASE_NAME})
    assert seen is not None
    assert seen["holder"] != term.holder


async def test_a_deposed_leader_is_refused_at_the_gate(
    term: Term, other: Leader, conn: AsyncConnection[Any]
) -> None:
    await let_the_lease_run_out(conn)
    assert await other.stand() is not None
    with pytest.raises(LeaseLost):
        async with conn.transaction():
            await term.enter(conn)
    assert term.is_over


async def test_a_leader_whose_lease_ran_out_by_its_own_clock_does_not_even_ask(
    term: Term, conn: AsyncConnection[Any]
) -> None:
    term.valid_until_s = 0.0
    with pytest.raises(LeaseLost):
        await term.enter(conn)


async def test_nobody_takes_over_while_a_duty_of_the_old_leader_is_under_way(
    term: Term, other: Leader, conn: AsyncConnection[Any], connect: Connect
) -> None:
    slow = await connect()
    async with slow.transaction():
        await term.enter(slow)
        await let_the_lease_run_out(conn)
        assert await other.stand() is None
    assert await other.stand() is not None


async def test_a_duty_that_waited_for_a_take_over_learns_that_it_lost(
    term: Term, conn: AsyncConnection[Any], connect: Connect
) -> None:
    gate, duty = await connect(), await connect()
    async with gate.transaction():
        assert await run.value(gate, "maintenance/close_gate", anybody())

        async def act() -> None:
            async with duty.transaction():
                await term.enter(duty)

        acting = asyncio.create_task(act())
        await until_it_waits_for_a_lock(conn, duty.info.backend_pid)
        await gate.execute("UPDATE awa.leases SET holder = gen_random_uuid(), fence = fence + 1")
    with pytest.raises(LeaseLost):
        await acting


async def test_a_leader_that_was_declared_dead_does_nothing_more(
    term: Term, pool: Pool, conn: AsyncConnection[Any]
) -> None:
    async def careless(inside: AsyncConnection[Any], now: object) -> int:
        raise AssertionError("a duty of a dead leader has begun")

    await register(conn, term.holder, ["maintenance"], {})
    async with conn.transaction():
        await term.enter(conn)
    await declare_dead(conn, term.holder)
    with pytest.raises(LeaseLost):
        await run_bounded(Duty("careless", 1, 1, careless), term, pool)
    assert term.is_over


async def test_it_neither_renews_its_lease_nor_takes_it_again(
    candidate: Leader, term: Term, other: Leader, conn: AsyncConnection[Any]
) -> None:
    await register(conn, term.holder, ["maintenance"], {})
    await declare_dead(conn, term.holder)
    at_first = await expiry(conn)
    await candidate.renew(term)
    assert (term.is_over, await expiry(conn)) == (True, at_first)
    await candidate.give_back(term)
    assert await candidate.stand() is None
    successor = await other.stand()
    assert successor is not None
    assert successor.fence > term.fence


async def test_under_a_new_id_it_ends_its_term_and_stands_again(
    pool: Pool, settings: Settings, conn: AsyncConnection[Any]
) -> None:
    """Also when the old id's row is forgotten, so that the database has nothing against it."""
    ids = [uuid4()]
    leader = Leader(pool, lambda: ids[-1], Timing.of(settings))
    term = await leader.stand()
    assert term is not None
    ids.append(uuid4())
    await leader.renew(term)
    assert term.is_over
    await leader.give_back(term)
    again = await leader.stand()
    assert again is not None
    assert (again.holder, again.fence) == (ids[-1], term.fence + 1)


async def test_a_duty_that_hangs_in_its_transaction_is_ended_by_the_server(
    term: Term, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("awa.operations.fence.IDLE_IN_TRANSACTION_MAX_MS", 50)
    sleeper, watcher = await connect(), await connect()
    with pytest.raises(psycopg.OperationalError):
        await enter_and_hang(sleeper, term)
    async with watcher.transaction():
        assert await run.value(watcher, "maintenance/close_gate", anybody())


async def test_a_deposed_leader_s_duty_is_not_even_begun(
    term: Term, pool: Pool, conn: AsyncConnection[Any]
) -> None:
    async def careless(inside: AsyncConnection[Any], now: object) -> int:
        await inside.execute("INSERT INTO awa.queue_meta (queue) VALUES ('touched')")
        return 1

    await conn.execute("UPDATE awa.leases SET fence = fence + 1")
    with pytest.raises(LeaseLost):
        await run_bounded(Duty("careless", 1, 1, careless), term, pool)
    found = await conn.execute("SELECT count(*) FROM awa.queue_meta")
    assert await found.fetchone() == (0,)


async def enter_and_hang(conn: AsyncConnection[Any], term: Term) -> None:
    async with asyncio.timeout(60), conn.transaction():
        await term.enter(conn)
        async for _ in conn.notifies():  # nothing comes but the end
            pass


async def until_it_waits_for_a_lock(conn: AsyncConnection[Any], pid: int) -> None:
    async with asyncio.timeout(60):
        while True:
            found = await conn.execute(
                "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s", (pid,)
            )
            if await found.fetchone() == ("Lock",):
                return
            await asyncio.sleep(0.01)
