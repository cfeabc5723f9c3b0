"""Restore: a dump that is brought into another cluster loses no job and runs none twice.

Real programs, a real second cluster, and ids that start low again: everything the engine had noted about transactions
means nothing there, and some of it means the opposite.
"""

import subprocess
from pathlib import Path

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg import errors as pg

from awa.db.migrate import migrate
from awa.dev.binaries import PostgresBinaries, find_binaries
from awa.dev.postgres import Server
from awa.model.errors import DatabaseError
from tests.storage.world import Place, World

TIMEOUT_S = 120
AGED_BY = 500
QUEUES = ("default", "other")


@pytest.fixture
def binaries(server_version: int, pg_binaries: PostgresBinaries | None) -> PostgresBinaries:
    """Programs of the version of the run's server."""
    found = pg_binaries or find_binaries()
    if found.major != server_version or not found.program("pg_dump").exists():
        pytest.skip("no pg_dump of the server's version is here")
    return found


@pytest.fixture
def young_url(own_server: Server, binaries: PostgresBinaries) -> str:
    """An empty database of a cluster in which few transactions have run."""
    assert own_server.binaries.major == binaries.major
    return own_server.url()


@pytest.fixture
async def aged(world: World) -> World:
    """A world whose transaction ids are far above those of a new cluster."""
    for _ in range(AGED_BY):
        await world.fetch("SELECT pg_current_xact_id()")
    return world


def carry_over(binaries: PostgresBinaries, source: str, target: str, dump: Path) -> None:
    """pg_dump here, pg_restore there."""
    pg_dump, pg_restore = str(binaries.program("pg_dump")), str(binaries.program("pg_restore"))
    for command in (
        [pg_dump, "--format=custom", f"--file={dump}", source],
        [pg_restore, "--exit-on-error", f"--dbname={target}", str(dump)],
    ):
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
        )
        assert done.returncode == 0, done.stderr


async def restored(url: str) -> World:
    """A world on the restored database, made safe."""
    conn = await AsyncConnection.connect(url, autocommit=True)
    await migrate(conn)
    return await World.on(conn)


@pytest.mark.lanes
async def test_no_job_is_lost_and_none_runs_twice(
    aged: World, young_url: str, binaries: PostgresBinaries, tmp_path: Path, database_url: str
) -> None:
    await scatter(aged, database_url)
    before = await aged.audit()
    carry_over(binaries, database_url, young_url, tmp_path / "dump")
    there = await restored(young_url)
    await all_waiting_are_served_once(there, before)
    await there.conn.close()


async def test_the_same_from_a_young_cluster_into_an_old_one(
    young_url: str, empty_database_url: str, binaries: PostgresBinaries, tmp_path: Path
) -> None:
    """Ids went forwards, so only the other cluster's name tells."""
    async with await AsyncConnection.connect(young_url, autocommit=True) as conn:
        await migrate(conn)
        here = await World.on(conn)
        await scatter(here, young_url)
        before = await here.audit()
    carry_over(binaries, young_url, empty_database_url, tmp_path / "dump")
    there = await restored(empty_database_url)
    await all_waiting_are_served_once(there, before)
    await there.conn.close()


@pytest.mark.lanes
async def test_the_same_within_one_cluster(
    world: World,
    binaries: PostgresBinaries,
    tmp_path: Path,
    database_url: str,
    empty_database_url: str,
) -> None:
    """Ids go on as they were, and nothing needs to be made safe."""
    await scatter(world, database_url)
    before = await world.audit()
    carry_over(binaries, database_url, empty_database_url, tmp_path / "dump")
    there = await restored(empty_database_url)
    assert await there.fetch("SELECT trusted_from FROM awa.ring") == (0,)
    await all_waiting_are_served_once(there, before)
    await there.conn.close()


@pytest.mark.lanes
async def test_life_goes_on_there(
    aged: World, young_url: str, binaries: PostgresBinaries, tmp_path: Path, database_url: str
) -> None:
    """New jobs, late ones, moves, attempts that were running, rotation and prune."""
    await scatter(aged, database_url)
    places = await aged.audit()
    running = [id_ for id_, place in places.items() if place.state == "running"]
    carry_over(binaries, database_url, young_url, tmp_path / "dump")
    there = await restored(young_url)
    other = await World.on(await AsyncConnection.connect(young_url, autocommit=True))
    async with other.conn.transaction():
        (late,) = await other.enqueue()
        (new,) = await there.enqueue()
        first = await there.claim_ids(limit=1)
        assert await there.move(first) == {}
    owed = [id_ for id_, place in places.items() if place.state == "available"][-1:]
    await there.move(owed, "third")
    assert (await there.rescue(stale_after_s=-1.0)).attempts_rescued == len(running) + 1
    await there.conn.execute("UPDATE awa.runtimes SET state = 'alive'")
    assert {late, new} <= set(await there.claim_ids())
    assert await there.claim_ids(queue="third") == owed
    assert await there.rotate() == "rotated"
    assert await there.prune() == "pruned"
    await there.audit()
    await other.conn.close()
    await there.conn.close()


@pytest.mark.lanes
async def test_a_slot_that_was_over_is_emptied_there(
    aged: World, young_url: str, binaries: PostgresBinaries, tmp_path: Path, database_url: str
) -> None:
    """The transaction that retired it lies in the future there, or means another one."""
    jobs = await aged.enqueue(2)
    assert await aged.rotate() == "rotated"
    assert await aged.prune_step() == "more"
    carry_over(binaries, database_url, young_url, tmp_path / "dump")
    there = await restored(young_url)
    assert await there.prune() == "pruned"
    assert await there.claim_ids() == jobs
    await there.audit()
    await there.conn.close()


@pytest.mark.lanes
async def test_a_claim_there_refuses_until_the_store_was_made_safe(
    aged: World, young_url: str, binaries: PostgresBinaries, tmp_path: Path, database_url: str
) -> None:
    """It can tell by an id that went backwards; to serve by ids that mean nothing would lose jobs."""
    await aged.enqueue(3)
    assert await aged.rotate() == "rotated"
    carry_over(binaries, database_url, young_url, tmp_path / "dump")
    async with await AsyncConnection.connect(young_url, autocommit=True) as conn:
        there = await World.on(conn)
        with pytest.raises(DatabaseError, match="went backwards") as refusal:
            await there.claim()
        assert refusal.value.hint == "Run: awa migrate"
        assert await migrate(conn) == []
        assert len(await there.claim()) == 3


async def test_made_safe_once_there_is_nothing_more_to_do(
    aged: World, young_url: str, binaries: PostgresBinaries, tmp_path: Path, database_url: str
) -> None:
    await aged.enqueue(3)
    carry_over(binaries, database_url, young_url, tmp_path / "dump")
    there = await restored(young_url)
    assert await there.fetch("SELECT awa.recover_after_restore()") == (False,)
    assert await there.fetch("SELECT awa.was_restored()") == (False,)
    await there.conn.close()


async def test_in_its_own_cluster_a_store_is_never_taken_for_restored(world: World) -> None:
    await world.enqueue()
    assert await world.fetch("SELECT awa.was_restored()") == (False,)
    assert await world.fetch("SELECT awa.recover_after_restore()") == (False,)
    assert await world.fetch("SELECT trusted_from FROM awa.ring") == (0,)


async def test_a_role_that_may_not_read_the_control_file_can_still_work(world: World) -> None:
    """What the check needs, an ordinary role may do."""
    await world.enqueue()
    async with world.rolled_back():
        await world.conn.execute("CREATE ROLE ordinary")
        await world.conn.execute("GRANT USAGE ON SCHEMA awa TO ordinary")
        await world.conn.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA awa TO ordinary"
        )
        await world.conn.execute("GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA awa TO ordinary")
        await world.conn.execute("SET LOCAL ROLE ordinary")
        try:
            assert await world.fetch("SELECT awa.was_restored()") == (False,)
        except pg.InsufficientPrivilege as refused:
            pytest.fail(f"an ordinary role cannot: {refused}")


async def all_waiting_are_served_once(there: World, before: dict[int, Place]) -> None:
    """Everything is where it was, and what waits is served, each once."""
    assert await there.audit() == before
    served = [
        id_ for _ in range(3) for queue in QUEUES for id_ in await there.claim_ids(queue=queue)
    ]
    assert sorted(served) == sorted(i for i, place in before.items() if place.state == "available")
    await there.audit()


async def scatter(world: World, url: str) -> None:
    """Jobs in every place and under every cloud: owed, late, running, deferred, ended, behind tombstones, in two slots."""
    async with await AsyncConnection.connect(url, autocommit=True) as conn:
        other = await World.on(conn)
        ids = await world.enqueue(20)
        await world.enqueue(3, run_at=await world.now(later_s=3600))
        jobs = await world.claim(limit=6)
        await world.finish(jobs[:1])
        await world.finish(jobs[1:2], "failed")
        await world.finish(jobs[2:3], "retried", delay_s=3600.0)
        await world.finish(jobs[3:4], "returned")
        await world.move(ids[6:8], "other")
        await world.cancel(ids[8:9])
        async with other.rolled_back():
            await other.lock(ids[10:12])
            await world.claim(limit=4)
        assert await world.rotate() == "rotated"
        async with other.conn.transaction():
            await other.enqueue(3)
            await world.enqueue(2)
            await world.claim(limit=9)
        await world.enqueue(4)


def test_the_ids_of_a_new_cluster_are_low(young_url: str) -> None:
    """Otherwise the tests of this file would prove nothing."""
    with psycopg.connect(young_url) as conn:
        (txid,) = conn.execute("SELECT pg_current_xact_id()::text::bigint").fetchone() or (None,)
    assert txid is not None
    assert txid < 1_500
