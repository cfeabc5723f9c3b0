"""Unique jobs: what is the same, and what an insert does when somebody holds the key."""

from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from awa.model.errors import DatabaseError, UniqueConflict, ValidationError
from awa.storage import unique
from awa.storage.enqueue import Inserted, NewJob, enqueue_many, enqueue_one
from tests.storage.world import World


async def conflict_of(world: World, *args: Any, **opts: Any) -> int | None:
    """The job that keeps such a job out; None if it came in."""
    try:
        await world.enqueue_unique(*args, **opts)
    except UniqueConflict as conflict:
        return conflict.job_id
    return None


@pytest.mark.parametrize(
    ("first", "second", "opts", "same"),
    [
        ({"a": 1}, {"a": 1}, {}, True),
        ({"a": 1}, {"a": 2}, {}, False),
        ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}, {}, True),
        ({"a": 1, "b": [1, 2]}, {"b": [2, 1], "a": 1}, {}, False),
        ({"a": 1}, {"a": 2}, {"by_args": False}, True),
        ({"a": 1, "b": 1}, {"a": 1, "b": 2}, {"by_args": ["a"]}, True),
        ({"a": 1, "b": 1}, {"a": 2, "b": 1}, {"by_args": ["a"]}, False),
        ({"a": 1, "b": 1}, {"a": 1, "b": 1}, {"by_args": ["b", "a"]}, True),
        ({"a": None, "b": 1}, {"a": None, "b": 2}, {"by_args": ["a"]}, True),
        ({"a": 1}, {"a": 2}, {"key": "invoice 7"}, True),
    ],
)
async def test_what_is_the_same(
    world: World, first: Any, second: Any, opts: dict[str, Any], same: bool
) -> None:
    job = await world.enqueue_unique(first, **opts)
    assert await conflict_of(world, second, **opts) == (job if same else None)
    await world.audit()


async def test_queues_count_when_told_to(world: World) -> None:
    job = await world.enqueue_unique(by_queue=True)
    assert await conflict_of(world, queue="other", by_queue=True) is None
    assert await conflict_of(world, by_queue=True) == job
    plain = await world.enqueue_unique()
    assert await conflict_of(world, queue="other") == plain


async def test_another_kind_is_another_key_but_for_own_ones(world: World) -> None:
    job = await world.enqueue_unique(key="mine")
    await world.enqueue_unique()
    other = NewJob("other", "{}", unique_opts={})
    assert (await enqueue_one(world.conn, "default", other)).insertion == "inserted"
    with pytest.raises(UniqueConflict) as told:
        await enqueue_one(world.conn, "default", other._replace(unique_opts={"key": "mine"}))
    assert told.value.job_id == job


async def test_periods_are_those_in_which_jobs_run(world: World) -> None:
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    job = await world.enqueue_unique(by_period=3600, run_at=noon)
    assert await conflict_of(world, by_period=3600, run_at=noon.replace(minute=59)) == job
    assert await conflict_of(world, by_period=3600, run_at=noon.replace(hour=13)) is None
    assert await conflict_of(world, by_period=60, run_at=noon) is None


async def test_a_period_holds_on_beyond_completion(world: World) -> None:
    job = await world.enqueue_unique(by_period=999_999_999)
    await world.finish(await world.claim())
    assert await conflict_of(world, by_period=999_999_999) == job
    assert await conflict_of(world) is None
    assert await world.state(job) == "completed"


async def test_options_count_among_themselves_only(world: World) -> None:
    """Not unique is not the same as anything."""
    await world.enqueue(2)
    await world.enqueue_unique()
    await world.enqueue(2)
    assert len(await world.audit()) == 5


async def test_ignore_answers_the_holder(world: World) -> None:
    job = await world.enqueue_unique()
    again = NewJob("k", "{}", unique_opts={"on_conflict": "ignore"})
    for done in (
        await enqueue_one(world.conn, "default", again),
        *await enqueue_many(world.conn, "default", [again, again]),
    ):
        assert (done.job_id, done.insertion) == (job, "ignored")
    assert list(await world.audit()) == [job]


async def test_a_refused_insert_leaves_the_transaction_as_it_was(world: World) -> None:
    job = await world.enqueue_unique()
    async with world.conn.transaction():
        (before,) = await world.enqueue()
        assert await conflict_of(world) == job
        (after,) = await world.enqueue()
    assert (await world.audit()).keys() == {job, before, after}


async def test_an_insert_that_is_rolled_back_holds_nothing(world: World) -> None:
    async with world.rolled_back():
        await world.enqueue_unique()
    assert await world.holder() is None
    await world.enqueue_unique()


async def test_keys_are_free_again_for_a_job_that_follows(world: World) -> None:
    first = await world.enqueue_unique()
    await world.finish(await world.claim())
    second = await world.enqueue_unique()
    assert await world.holder() == second
    await world.cancel([second])
    assert await world.holder() is None
    assert await world.states([first, second]) == ["completed", "cancelled"]


def with_opts(*given: dict[str, Any] | None, **job: Any) -> list[NewJob]:
    """Jobs with the same arguments."""
    return [NewJob("k", "{}", unique_opts=opts, **job) for opts in given]


async def outcomes(world: World, jobs: list[NewJob]) -> list[tuple[int, str]]:
    """What an insert of the set says."""
    return [
        (done.job_id, done.insertion) for done in await enqueue_many(world.conn, "default", jobs)
    ]


IGNORE, REPLACE = {"on_conflict": "ignore"}, {"on_conflict": "replace"}


async def test_a_set_goes_as_its_jobs_would_one_by_one(world: World) -> None:
    jobs = [
        *with_opts(IGNORE, None, IGNORE),
        NewJob("k", '{"a": 1}', unique_opts=IGNORE),
        NewJob("k", '{"a": 1}', unique_opts=IGNORE),
        *with_opts({**IGNORE, "key": "own"}),
    ]
    said = await outcomes(world, jobs)
    assert [insertion for _, insertion in said] == ["inserted"] * 2 + [
        "ignored",
        "inserted",
        "ignored",
        "inserted",
    ]
    assert said[2][0] == said[0][0]
    assert said[4][0] == said[3][0]
    assert (await world.audit()).keys() == {id_ for id_, _ in said}
    again = await outcomes(world, jobs)
    assert again[0] == (said[0][0], "ignored")
    assert again[1][1] == "inserted"


@pytest.mark.parametrize("policy", [{}, REPLACE])
async def test_a_set_with_a_refused_job_writes_nothing(
    world: World, policy: dict[str, str]
) -> None:
    """`policy` of the others: replacing goes another way."""
    job = await world.enqueue_unique()
    fresh = NewJob("k", '{"a": 1}', unique_opts=policy)
    with pytest.raises(UniqueConflict) as told:
        await enqueue_many(world.conn, "default", [fresh, *with_opts(None, {})])
    assert told.value.job_id == job
    assert told.value.details == {"job_id": job, "conflicts": [{"place": 2, "job_id": job}]}
    assert list(await world.audit()) == [job]
    assert await world.holder({"a": 1}) is None


@pytest.mark.parametrize("other", [{}, REPLACE])
async def test_two_of_one_set_conflict_with_each_other(world: World, other: dict[str, str]) -> None:
    with pytest.raises(UniqueConflict) as told:
        await enqueue_many(
            world.conn, "default", [*with_opts({}, {}), NewJob("o", "{}", unique_opts=other)]
        )
    assert told.value.details == {"job_id": None, "conflicts": [{"place": 1, "job_id": None}]}
    assert await world.audit() == {}
    assert await world.holder() is None


async def test_a_set_that_doesnt_hold_its_key_at_first_is_kept_out_by_who_does(
    world: World,
) -> None:
    running = {"by_states": ["running"], **IGNORE}
    job = await world.enqueue_unique()
    assert await outcomes(world, with_opts(running, running)) == [(job, "ignored")] * 2
    await world.cancel([job])
    both = await outcomes(world, with_opts(running, running))
    assert [insertion for _, insertion in both] == ["inserted", "inserted"]
    await world.audit()


async def test_too_large_a_set_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unique, "SET_MAX_JOBS", 2)
    with pytest.raises(ValidationError, match="at most 2 jobs"):
        await enqueue_many(world.conn, "default", with_opts(IGNORE, None, None))


async def replace(world: World, **job: Any) -> Inserted:
    """Another job with the same key, that takes the place of the first."""
    new = NewJob("k", '{"new": 1}', unique_opts={"by_args": False, **REPLACE}, **job)
    return await enqueue_one(world.conn, "default", new)


async def test_replace_gives_a_ready_job_other_arguments_and_priority(world: World) -> None:
    job = await world.enqueue_unique(by_args=False)
    done = await replace(world, priority=1)
    assert (done.job_id, done.insertion) == (job, "replaced")
    assert (await world.audit())[job].priority == 1
    (claimed,) = await world.claim()
    assert (claimed.job_id, claimed.args, claimed.priority) == (job, '{"new": 1}', 1)
    assert await world.holder(by_args=False) == job


async def test_replace_puts_off_and_brings_forward(world: World) -> None:
    job = await world.enqueue_unique(by_args=False)
    later = await world.now(later_s=60)
    for run_at, state in ((later, "scheduled"), (later, "scheduled"), (None, "available")):
        assert (await replace(world, run_at=run_at)).job_id == job
        assert await world.state(job) == state
    row = await world.job(job)
    assert row["args"] == {"new": 1}
    assert await world.claim_ids() == [job]


async def test_replace_keeps_the_attempts_of_a_job_that_is_tried_again(world: World) -> None:
    job = await world.enqueue_unique(by_args=False)
    await world.finish(await world.claim(), "retried", delay_s=60.0, error={"error": "boom"})
    await replace(world)
    (claimed,) = await world.claim()
    assert (claimed.job_id, claimed.attempt, claimed.args) == (job, 2, '{"new": 1}')
    assert [error["error"] for error in claimed.errors or ()] == ["boom"]


@pytest.mark.parametrize("ended", [False, True])
async def test_what_runs_or_has_ended_is_not_replaced(world: World, ended: bool) -> None:
    states = ["available", "running", "completed"]
    job = await world.enqueue_unique(by_args=False, by_states=states)
    claimed = await world.claim()
    if ended:
        await world.finish(claimed)
    with pytest.raises(UniqueConflict) as told:
        await replace(world)
    assert told.value.job_id == job
    assert (await world.job(job))["args"] == {}


async def test_replace_lets_the_key_go_where_the_new_state_doesnt_hold_it(world: World) -> None:
    job = await world.enqueue_unique(by_args=False, by_states=["available"])
    await replace(world, run_at=await world.now(later_s=60))
    assert await world.state(job) == "scheduled"
    assert await world.holder(by_args=False) is None


async def test_the_last_of_a_set_replaces_those_before(world: World) -> None:
    opts = {"key": "own", **REPLACE}
    jobs = [NewJob("k", f'{{"n": {n}}}', unique_opts=opts) for n in range(3)]
    said = await outcomes(world, jobs)
    assert [insertion for _, insertion in said] == ["inserted", "replaced", "replaced"]
    assert len({id_ for id_, _ in said}) == 1
    (claimed,) = await world.claim()
    assert claimed.args == '{"n": 2}'


async def test_a_dispatch_order_and_a_route_outlive_a_replacement(world: World) -> None:
    key = {"key": "own", **REPLACE}
    await enqueue_one(world.conn, "default", NewJob("k", "{}", unique_opts=key, ordering_key="o"))
    before = await world.fetch("SELECT route_shard, route_key FROM awa.ready_entries")
    await enqueue_one(world.conn, "default", NewJob("k", "{}", unique_opts=key))
    rows = await world.conn.execute("SELECT DISTINCT route_shard, route_key FROM awa.ready_entries")
    assert await rows.fetchall() == [before]
    assert before != (None, None)


async def test_sql_answers_an_id_or_fails(world: World) -> None:
    ask = "SELECT awa.enqueue('k', '{}', unique_opts => %s)"
    (job,) = await world.fetch(ask, "{}")
    assert await world.fetch(ask, '{"on_conflict": "ignore"}') == (job,)
    assert await world.fetch(ask, '{"on_conflict": "replace"}') == (job,)
    with pytest.raises(Exception, match=f"job {job} holds the unique key") as told:
        await world.fetch(ask, '{"by_args": true}')
    assert getattr(told.value, "sqlstate", None) == "23505"


@pytest.mark.parametrize(
    ("opts", "told"),
    [
        ("[]", "unique_opts is a JSON object, not array"),
        ('{"by_arg": true}', "unknown field 'by_arg'"),
        ('{"by_args": 1}', "by_args is true, false or a list"),
        ('{"by_args": []}', "by_args is true, false or a list"),
        ('{"by_args": [1]}', "by_args is true, false or a list"),
        ('{"by_queue": 1}', "by_queue is true or false"),
        ('{"by_period": 0}', "whole number of seconds"),
        ('{"by_period": 1.5}', "whole number of seconds"),
        ('{"by_period": "60"}', "whole number of seconds"),
        ('{"by_states": ["waiting"]}', "a list of states"),
        ('{"by_states": []}', "a list of states"),
        ('{"key": ""}', "1 to 500 characters"),
        ('{"key": "a", "by_args": true}', "stands for kind and arguments"),
        ('{"on_conflict": "fail"}', "reject, replace or ignore"),
    ],
)
async def test_wrong_options_are_refused(world: World, opts: str, told: str) -> None:
    with pytest.raises(Exception, match=told) as refused:
        await world.fetch("SELECT awa.enqueue('k', '{}', unique_opts => %s)", opts)
    assert getattr(refused.value, "sqlstate", None) == "22023"
    with pytest.raises(Exception, match=told):
        await world.fetch("SELECT awa.unique_holder('k', '{}', 'default', %s)", opts)


async def test_arguments_that_cant_be_compared_are_refused(world: World) -> None:
    new = NewJob("k", '{"a": "\\u0000"}', unique_opts={})
    with pytest.raises(ValidationError, match="can't be compared"):
        await enqueue_one(world.conn, "default", new)
    with pytest.raises(ValidationError, match="no object"):
        await enqueue_one(world.conn, "default", NewJob("k", "[]", unique_opts={"by_args": ["a"]}))
    assert await world.audit() == {}


@pytest.mark.parametrize(
    ("args", "field", "hint"),
    [
        ('{"account": 7, "full": true}', "acount", "Did you mean 'account'?"),
        ('{"account": 7, "full": true}', "xyz", "They have full, account."),
        ('{"orderId": 7}', "order_id", "Did you mean 'orderId'?"),
        ('{"it\'s": 7}', "its", "Did you mean 'it''s'?"),
        ('{"a": {"b": 1}}', "b", "They have a."),
        ("{}", "a", "They have no fields."),
    ],
)
@pytest.mark.parametrize(
    "ask",
    [
        "SELECT awa.enqueue('k', %s, unique_opts => %s)",
        "SELECT * FROM awa.enqueue_unique('k', %s, 'q', 2, NULL, 5, NULL, NULL, NULL, %s)",
        "SELECT awa.unique_holder('k', %s, 'default', %s)",
    ],
)
async def test_a_field_that_the_arguments_lack_is_refused_with_the_nearest(
    world: World, ask: str, args: str, field: str, hint: str
) -> None:
    """Misspelt, it would make all jobs of the kind the same."""
    with pytest.raises(psycopg.Error, match="which these arguments lack") as told:
        await world.fetch(ask, args, f'{{"by_args": ["{field}"]}}')
    assert (told.value.sqlstate, told.value.diag.message_hint) == ("22023", hint)


async def test_so_it_is_in_a_set_of_which_nothing_is_inserted(world: World) -> None:
    jobs = [NewJob("k", f'{{"{name}": 1}}', unique_opts={"by_args": ["a"]}) for name in ("a", "b")]
    with pytest.raises(ValidationError, match="by_args names the field 'a'"):
        await enqueue_many(world.conn, "default", jobs)
    assert await world.audit() == {}


async def test_an_isolation_level_that_would_miss_holders_is_refused(world: World) -> None:
    await world.conn.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    with pytest.raises(DatabaseError, match="READ COMMITTED"):
        await world.enqueue_unique()
    await world.conn.execute("ROLLBACK")
