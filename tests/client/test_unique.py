"""Unique jobs from a program: what an insert says, whose words count, and cancelling by key."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import awa

BY_ACCOUNT: awa.UniqueOpts = {"by_args": ["account"]}


@dataclass
class Sync:
    account: int = 7
    full: bool = False


@dataclass
class Other:
    account: str = "seven"


async def other_handler(job: awa.Job[Other]) -> None: ...


async def test_an_insert_is_refused_with_the_holder(client: awa.AsyncClient) -> None:
    job = await client.insert(Sync(), unique_opts=BY_ACCOUNT)
    assert job.insertion == "inserted"
    with pytest.raises(awa.UniqueConflict) as told:
        await client.insert(Sync(full=True), unique_opts=BY_ACCOUNT)
    assert told.value.job_id == job.id
    assert [seen.id for seen in await client.list_jobs()] == [job.id]


async def test_a_refused_insert_leaves_the_programs_transaction_open(
    client: awa.AsyncClient,
) -> None:
    await client.insert(Sync(), unique_opts=BY_ACCOUNT)
    async with client.transaction() as tx:
        await tx.execute("CREATE TABLE accounts (id int)")
        for refused in (
            tx.insert(Sync(), unique_opts=BY_ACCOUNT),
            tx.insert_many([Sync(8), Sync()], unique_opts=BY_ACCOUNT),
        ):
            with pytest.raises(awa.UniqueConflict):
                await refused
        await tx.execute("INSERT INTO accounts VALUES (7)")
        await tx.insert(Sync(9), unique_opts=BY_ACCOUNT)
    seen = [job.args["account"] for job in await client.list_jobs()]
    assert seen == [9, 7]


async def test_a_deadlock_of_single_inserts_says_what_happened_and_what_to_do(
    client: awa.AsyncClient,
) -> None:
    """Two transactions take two keys in opposite order: PostgreSQL ends one, the other goes on."""
    both_have_one = asyncio.Barrier(2)

    async def take(first: int, second: int) -> None:
        async with client.transaction() as tx:
            await tx.insert(Sync(first), unique_opts=BY_ACCOUNT)
            await both_have_one.wait()
            await tx.insert(Sync(second), unique_opts=BY_ACCOUNT)

    ended = await asyncio.gather(take(1, 2), take(2, 1), return_exceptions=True)
    (told,) = (problem for problem in ended if isinstance(problem, awa.DatabaseError))
    assert told.details == {"retryable": True, "sqlstate": "40P01"}
    assert "waited for each other's locks" in told.message
    assert told.hint is not None
    assert "Run the whole transaction again" in told.hint
    assert "insert_many" in told.hint
    # The one that was ended left nothing, the other is there whole.
    assert {job.args["account"] for job in await client.list_jobs()} <= {1, 2}
    assert len(await client.list_jobs()) == 2


async def test_ignored_and_replaced_ones_are_answered_as_they_are(client: awa.AsyncClient) -> None:
    job = await client.insert(Sync(), queue="first", tags=["a"], unique_opts=BY_ACCOUNT)
    ignored = await client.insert(
        Sync(full=True), unique_opts={**BY_ACCOUNT, "on_conflict": "ignore"}
    )
    assert (ignored.id, ignored.insertion, ignored.queue) == (job.id, "ignored", "first")
    assert ignored.args == Sync()
    later = datetime.now(UTC) + timedelta(hours=1)
    replaced = await client.insert(
        Sync(full=True),
        priority=1,
        run_at=later,
        unique_opts={**BY_ACCOUNT, "on_conflict": "replace"},
    )
    assert (replaced.id, replaced.insertion, replaced.queue) == (job.id, "replaced", "first")
    assert (replaced.state, replaced.priority, replaced.run_at) == ("scheduled", 1, later)
    assert (replaced.args, replaced.tags) == (Sync(full=True), ("a",))
    seen = await client.get_job(job.id)
    assert seen.args == {"account": 7, "full": True}


async def test_a_holder_with_other_arguments_is_answered_with_those(
    client: awa.AsyncClient,
) -> None:
    """Its kind is another one, or its arguments are of an older form of the program."""
    own: awa.UniqueOpts = {"key": "own", "on_conflict": "ignore"}
    job = await client.insert(Other(), unique_opts=own)
    for args, kind in ((Sync(), None), (Sync(), "other")):
        ignored = await client.insert(args, kind=kind, unique_opts=own)
        assert (ignored.id, ignored.kind) == (job.id, "other")
        held: Any = ignored.args
        assert held == {"account": "seven"}


async def test_a_list_may_have_both_sorts(client: awa.AsyncClient) -> None:
    job = await client.insert(Sync(), unique_opts=BY_ACCOUNT)
    jobs = await client.insert_many(
        [
            awa.Draft(Sync(), unique_opts={**BY_ACCOUNT, "on_conflict": "ignore"}),
            Sync(),
            awa.Draft(Sync(8), unique_opts=BY_ACCOUNT),
        ]
    )
    assert [one.insertion for one in jobs] == ["ignored", "inserted", "inserted"]
    assert jobs[0].id == job.id
    assert jobs[2].args == Sync(8)
    with pytest.raises(awa.UniqueConflict) as told:
        await client.insert_many([Sync(9), Sync(8), Sync(9)], unique_opts=BY_ACCOUNT)
    assert told.value.details == {
        "job_id": jobs[2].id,
        "conflicts": [{"place": 1, "job_id": jobs[2].id}, {"place": 2, "job_id": None}],
    }
    assert len(await client.list_jobs()) == 3


async def test_a_task_says_it_for_its_jobs(client: awa.AsyncClient) -> None:
    @client.task(Sync, queue="sync", unique_opts=BY_ACCOUNT)
    async def sync(job: awa.Job[Sync]) -> None: ...

    job = await client.insert(Sync())
    for again in (
        client.insert(Sync(full=True)),
        client.insert_many([Sync(1), Sync()]),
        client.insert({"account": 7}, kind="sync"),
    ):
        with pytest.raises(awa.UniqueConflict) as told:
            await again
        assert told.value.job_id == job.id
    other = await client.insert(Sync(), unique_opts={"key": "another"})
    assert other.insertion == "inserted"
    wrong: Any = {"by_arg": True}
    with pytest.raises(awa.ValidationError, match="by_arg"):
        client.task(Other, unique_opts=wrong)(other_handler)


async def test_a_follow_up_cant_be_unique(client: awa.AsyncClient) -> None:
    from awa.model.task import Tasks
    from awa.worker.follow_ups import make_follow_up

    with pytest.raises(awa.ValidationError, match="a follow-up can't be unique"):
        make_follow_up(Sync(), {"unique_opts": BY_ACCOUNT}, Tasks())


async def test_a_job_is_cancelled_by_its_key(client: awa.AsyncClient) -> None:
    job = await client.insert(Sync(), unique_opts=BY_ACCOUNT)
    with pytest.raises(awa.NotFound, match="no job holds that unique key"):
        await client.cancel_by_unique_key(Sync(8), unique_opts=BY_ACCOUNT)
    with pytest.raises(awa.NotFound):
        await client.cancel_by_unique_key(Sync())
    cancelled = await client.cancel_by_unique_key(
        Sync(full=True), unique_opts=BY_ACCOUNT, reason="not needed"
    )
    assert (cancelled.id, cancelled.state) == (job.id, "cancelled")
    assert cancelled.errors[-1]["error"] == "not needed"
    with pytest.raises(awa.NotFound):
        await client.cancel_by_unique_key(Sync(), unique_opts=BY_ACCOUNT)


async def test_the_key_may_be_said_in_many_ways(client: awa.AsyncClient) -> None:
    @client.task(Sync, queue="sync", unique_opts={**BY_ACCOUNT, "by_queue": True})
    async def sync(job: awa.Job[Sync]) -> None: ...

    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    jobs: list[awa.Job[Any]] = [
        await client.insert(Sync()),
        await client.insert(Sync(), unique_opts={"key": "own"}),
        await client.insert({}, kind="alone", unique_opts={"by_args": False}),
        await client.insert(Sync(), run_at=noon, unique_opts={"by_period": 60}),
    ]
    cancelled = [
        await client.cancel_by_unique_key({"account": 7}, kind="sync"),
        await client.cancel_by_unique_key(key="own"),
        await client.cancel_by_unique_key(kind="alone", unique_opts={"by_args": False}),
        await client.cancel_by_unique_key(Sync(), run_at=noon, unique_opts={"by_period": 60}),
    ]
    assert [job.id for job in cancelled] == [job.id for job in jobs]
    wrong: list[tuple[Sync | None, dict[str, Any]]] = [
        (None, {}),
        (None, {"key": "a", "unique_opts": {"key": "a"}}),
        (Sync(), {"unique_opts": {"x": 1}}),
    ]
    for args, said in wrong:
        with pytest.raises(awa.ValidationError):
            await client.cancel_by_unique_key(args, **said)


async def test_a_holder_that_has_ended_cant_be_cancelled(client: awa.AsyncClient) -> None:
    opts: awa.UniqueOpts = {"by_states": ["available", "cancelled"]}
    job = await client.insert(Sync(), unique_opts=opts)
    await client.cancel(job.id)
    with pytest.raises(awa.Conflict, match="is cancelled"):
        await client.cancel_by_unique_key(Sync(), unique_opts=opts)


async def test_moves_and_retries_name_the_holder(client: awa.AsyncClient) -> None:
    opts: awa.UniqueOpts = {"by_queue": True}
    there = await client.insert(Sync(), queue="there", unique_opts=opts)
    here = await client.insert(Sync(), queue="here", unique_opts=opts)
    with pytest.raises(awa.UniqueConflict, match=f"job {there.id} holds") as told:
        await client.move_job(here.id, "there")
    assert told.value.job_id == there.id
    await client.cancel(here.id)
    again = await client.insert(Sync(), queue="here", unique_opts=opts)
    with pytest.raises(awa.UniqueConflict) as told:
        await client.retry(here.id)
    assert told.value.job_id == again.id
    assert (await client.get_job(here.id)).state == "cancelled"


def test_the_blocking_client_does_the_same(database_url: str) -> None:
    with awa.Client(database_url) as client:
        job = client.insert(Sync(), unique_opts=BY_ACCOUNT)
        with pytest.raises(awa.UniqueConflict) as told, client.transaction() as tx:
            tx.insert(Sync(), unique_opts=BY_ACCOUNT)
        assert told.value.job_id == job.id
        assert client.cancel_by_unique_key(Sync(), unique_opts=BY_ACCOUNT).id == job.id


@pytest.mark.parametrize(
    ("args", "field", "told"),
    [
        (Sync(), "acount", "'acount' is no field of Sync; did you mean 'account'?"),
        (Sync(), "xyz", "'xyz' is no field of Sync; known: account, full"),
        ({"account": 1}, "acount", "'acount' is no field of these arguments; did you mean"),
        ({}, "acount", "'acount' is no field of these arguments; known: none"),
    ],
)
async def test_a_field_that_the_arguments_lack_is_refused(
    client: awa.AsyncClient, args: object, field: str, told: str
) -> None:
    """Misspelt, it would make all jobs of the kind the same."""
    typo: awa.UniqueOpts = {"by_args": [field]}
    where = "unique_opts.by_args"
    with pytest.raises(awa.ValidationError) as refused:
        await client.insert(args, kind="sync", unique_opts=typo)
    assert [problem.field for problem in refused.value.fields] == [where]
    assert refused.value.fields[0].message.startswith(told)
    with pytest.raises(awa.ValidationError, match="job 1 of the list"):
        await client.insert_many([{field: 1}, args], kind="sync", unique_opts=typo)
    with pytest.raises(awa.ValidationError) as refused:
        await client.cancel_by_unique_key(args, kind="sync", unique_opts=typo)
    assert refused.value.fields[0].message.startswith(told)
    assert await client.list_jobs() == []


async def test_a_schedule_is_refused_so_before_it_is_written_down(client: awa.AsyncClient) -> None:
    with pytest.raises(awa.ValidationError, match="did you mean 'account'"):
        client.periodic(
            "nightly", "0 3 * * *", {"account": 7}, kind="sync", unique_opts={"by_args": ["acount"]}
        )
