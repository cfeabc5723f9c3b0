"""Isolation: each verb refuses a frozen snapshot, under which a claim or a move would silently double."""

import pytest
from psycopg import errors as pg

from tests.storage.world import World

ARRAYS = "ARRAY[1], ARRAY[1]::bigint[], ARRAY[1]::bigint[]"
WAITING = "ARRAY[1]::bigint[], ARRAY[1], ARRAY[1]::bigint[], ARRAY[0]::smallint[]"
VERBS = {
    "enqueue": "awa.enqueue('k')",
    "enqueue_many": "awa.enqueue_many('q', '{k}', '{null}', '{2}', '{null}', '{1}', null, null, null)",
    "claim": "awa.claim('default', 1, gen_random_uuid())",
    "finish": f"awa.finish(null, {ARRAYS}, ARRAY['failed'])",
    "complete": f"awa.complete(null, {ARRAYS})",
    "heartbeat": f"awa.heartbeat(gen_random_uuid(), null, {ARRAYS})",
    "rescue": "awa.rescue(30, 10)",
    "promote": "awa.promote(10)",
    "lock_waiting": "awa.lock_waiting(ARRAY[1]::bigint[])",
    "relocate": f"awa.relocate({WAITING}, 'q', 1)",
    "cancel_waiting": f"awa.cancel_waiting({WAITING})",
    "cancel_running": "awa.cancel_running(ARRAY[1]::bigint[])",
    "retry_jobs": "awa.retry_jobs(ARRAY[1]::bigint[])",
    "rotate": "awa.rotate(1, 1)",
    "prune_slot": "awa.prune_slot(0, 1, 1)",
    "recover_after_restore": "awa.recover_after_restore()",
}


async def isolate(world: World, level: str) -> None:
    """From now on each transaction of the session has this isolation level."""
    await world.fetch("SELECT set_config('default_transaction_isolation', %s, false)", level)


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
@pytest.mark.parametrize("verb", VERBS)
async def test_a_verb_refuses_a_frozen_snapshot(world: World, verb: str, level: str) -> None:
    await isolate(world, level)
    said = f"READ COMMITTED only, this transaction is {level.upper()}"
    with pytest.raises(pg.ActiveSqlTransaction, match=said):
        await world.conn.execute(f"SELECT * FROM {VERBS[verb]}".encode())


async def test_a_job_of_a_refused_enqueue_is_not_there(world: World) -> None:
    await isolate(world, "serializable")
    with pytest.raises(pg.ActiveSqlTransaction):
        await world.conn.execute(b"SELECT awa.enqueue('k')")
    assert await world.audit() == {}


async def test_read_uncommitted_is_read_committed_and_may_pass(world: World) -> None:
    await isolate(world, "read uncommitted")
    ids = await world.enqueue(2)
    assert await world.claim_ids() == ids


async def test_reading_is_allowed_at_every_level(world: World) -> None:
    (job,) = await world.enqueue()
    await isolate(world, "serializable")
    assert await world.state(job) == "available"
