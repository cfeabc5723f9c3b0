"""Jobs that are unique and have a concurrency key: both count, whatever happens to them."""

from awa.storage.enqueue import NewJob, enqueue_many
from awa.storage.unique import enqueue_one
from tests.storage.world import World

REPLACE = {"by_args": False, "on_conflict": "replace"}


def new(n: int = 0, **details: object) -> NewJob:
    job = NewJob("k", f'{{"n": {n}}}', concurrency_key="tenant", unique_opts={})
    return job._replace(**details)  # type: ignore[arg-type]


async def test_a_set_of_unique_jobs_waits_for_its_key(world: World) -> None:
    inserted = await enqueue_many(world.conn, "default", [new(1), new(2), new(3)])
    first, second, third = (job.job_id for job in inserted)
    assert {job.state for job in inserted} == {"available"}
    for expected in (first, second, third):
        (job,) = await world.claim()
        assert job.job_id == expected
        await world.finish([job])
    assert await world.fetch("SELECT count(*) FROM awa.unique_keys") == (0,)
    assert await world.fetch("SELECT count(*) FROM awa.concurrency_admissions") == (0,)


async def test_a_parked_job_keeps_its_unique_key(world: World) -> None:
    await enqueue_one(world.conn, "default", new(1))
    parked = await enqueue_one(world.conn, "default", new(2))
    ignored = await enqueue_one(
        world.conn, "default", new(2, unique_opts={"on_conflict": "ignore"})
    )
    assert (ignored.job_id, ignored.insertion) == (parked.job_id, "ignored")
    await world.cancel([parked.job_id])
    again = await enqueue_one(world.conn, "default", new(2))
    assert again.insertion == "inserted"


async def test_a_parked_job_is_replaced_and_stays_parked(world: World) -> None:
    await world.enqueue_keyed(key="tenant")
    parked = await enqueue_one(world.conn, "default", new(1, unique_opts=REPLACE))
    replaced = await enqueue_one(world.conn, "default", new(2, unique_opts=REPLACE))
    assert (replaced.job_id, replaced.insertion) == (parked.job_id, "replaced")
    (job,) = await world.claim()
    assert job.job_id != parked.job_id
    await world.finish([job])
    (job,) = await world.claim()
    assert (job.job_id, job.args) == (parked.job_id, '{"n": 2}')


async def test_an_admitted_job_that_is_put_off_gives_its_place_away(world: World) -> None:
    first = await enqueue_one(world.conn, "default", new(1, unique_opts=REPLACE))
    (second,) = await world.enqueue_keyed(key="tenant")
    later = await world.now(later_s=60)
    await enqueue_one(world.conn, "default", new(2, unique_opts=REPLACE, run_at=later))
    assert await world.states([first.job_id]) == ["scheduled"]
    assert await world.claim_ids() == [second]
    assert await world.promote(await world.now(later_s=61)) == 1
    assert await world.states([first.job_id]) == ["available"]
    assert await world.claim_ids() == []


async def test_a_parked_job_that_is_put_off_is_scheduled(world: World) -> None:
    await world.enqueue_keyed(key="tenant")
    parked = await enqueue_one(world.conn, "default", new(1, unique_opts=REPLACE))
    later = await world.now(later_s=60)
    await enqueue_one(world.conn, "default", new(2, unique_opts=REPLACE, run_at=later))
    assert await world.states([parked.job_id]) == ["scheduled"]


async def test_sql_takes_both(world: World) -> None:
    call = "SELECT awa.enqueue('k', '{}', unique_opts => '{\"on_conflict\": \"ignore\"}', concurrency_key => 'k')"
    (first,) = await world.fetch(call)
    assert (await world.fetch(call)) == (first,)
    assert await world.fetch("SELECT key, job_id FROM awa.concurrency_admissions") == ("k", first)
