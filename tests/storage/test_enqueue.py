"""Enqueue: one job or many, from Python or from SQL, in the caller's transaction and with nothing left of it if it fails."""

from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.errors import InvalidParameterValue

from awa.model.errors import AwaError, ValidationError
from awa.storage.enqueue import CHUNK_BYTES, NewJob, enqueue, enqueue_many
from tests.conftest import Connect
from tests.storage.world import World

DEEP = '{"a": ' + "[" * 250 + "]" * 250 + "}"


async def test_one_job_waits_with_all_that_was_said_of_it(world: World) -> None:
    job = NewJob(
        "send_email",
        '{"to": "ada"}',
        priority=1,
        max_attempts=3,
        tags=["customer:acme", "mail"],
        metadata={"trace": "t1"},
    )
    row = await world.job(await enqueue(world.conn, "email", job))
    assert (row["kind"], row["queue"], row["state"]) == ("send_email", "email", "available")
    assert (row["priority"], row["attempt"], row["max_attempts"]) == (1, 0, 3)
    assert (row["args"], row["tags"]) == ({"to": "ada"}, ["customer:acme", "mail"])
    assert (row["metadata"], row["errors"]) == ({"trace": "t1"}, [])
    assert (
        row["attempted_at"] is row["finalized_at"] is row["runtime_id"] is row["progress"] is None
    )
    assert row["created_at"] <= row["ready_at"]


async def test_many_jobs_keep_their_order_and_their_own_details(world: World) -> None:
    given = [
        NewJob("a", "[1]", priority=4, tags=["x"]),
        NewJob("b", '"text"', max_attempts=1, metadata={"n": 2}),
        NewJob("c", "null", run_at=await world.now(later_s=60)),
    ]
    answered = await enqueue_many(world.conn, "mixed", given)
    assert [one.state for one in answered] == ["available", "available", "scheduled"]
    rows = [await world.job(one.job_id) for one in answered]
    assert [row["kind"] for row in rows] == ["a", "b", "c"]
    assert [row["args"] for row in rows] == [[1], "text", None]
    assert [row["tags"] for row in rows] == [["x"], [], []]
    assert [row["metadata"] for row in rows] == [{}, {"n": 2}, {}]
    assert rows[2]["run_at"] == given[2].run_at
    ids = [one.job_id for one in answered]
    assert ids == sorted(ids)


async def test_documents_come_back_as_they_were_written(world: World) -> None:
    document = '{"b": "\\u00e9\\"\\\\ {a,b} \U0001f600", "a": [1.0, 1e3, 12345678901234567890]}'
    await enqueue_many(
        world.conn, "default", [NewJob("k", document), NewJob("k", document.encode())]
    )
    assert [job.args for job in await world.claim()] == [document, document]


async def test_an_empty_set_adds_nothing(world: World) -> None:
    assert await enqueue_many(world.conn, "default", []) == []
    assert await world.audit() == {}


async def test_a_large_set_goes_in_parts_and_stays_in_order(world: World) -> None:
    big = '"' + "x" * (CHUNK_BYTES // 3) + '"'
    jobs = [NewJob("k", big) for _ in range(4)]
    ids = [one.job_id for one in await enqueue_many(world.conn, "default", jobs)]
    assert ids == sorted(set(ids))
    assert len(await world.audit()) == 4


async def test_a_job_with_a_time_to_come_is_scheduled(world: World) -> None:
    (job,) = await world.enqueue(run_at=await world.now(later_s=60))
    assert await world.state(job) == "scheduled"
    assert await world.claim_ids() == []


async def test_a_job_with_a_time_gone_by_waits_now_and_keeps_that_time(world: World) -> None:
    moment = await world.now(later_s=-3600)
    (job,) = await world.enqueue(run_at=moment)
    row = await world.job(job)
    assert (row["state"], row["run_at"]) == ("available", moment)


async def test_sql_alone_is_enough(world: World) -> None:
    (job,) = await world.fetch("SELECT awa.enqueue('k')")
    row = await world.job(job)
    assert (row["queue"], row["priority"], row["max_attempts"], row["args"]) == (
        "default",
        2,
        25,
        {},
    )
    (named,) = await world.fetch(
        "SELECT awa.enqueue('k', '{\"n\": 1}', queue => 'q', priority => 4, tags => '{a,b}',"
        " metadata => '{\"m\": true}', max_attempts => 2, run_at => now() + interval '1 h')"
    )
    row = await world.job(named)
    assert (row["queue"], row["state"], row["tags"], row["metadata"]) == (
        "q",
        "scheduled",
        ["a", "b"],
        {"m": True},
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("run_at => 'infinity'", "years 1 to 9999, not infinity"),
        ("run_at => '-infinity'", "years 1 to 9999"),
        ("run_at => '20000-01-01Z'", "years 1 to 9999"),
        ("tags => ARRAY['a', NULL]", "one of these is null"),
        ("metadata => '[1]'", "metadata is a JSON object, not array"),
        (f"metadata => '{DEEP}'", "nested more than 250 levels deep"),
    ],
)
async def test_sql_refuses_what_no_client_could_read_back(
    world: World, given: str, words: str
) -> None:
    with pytest.raises(InvalidParameterValue, match=words):
        await world.fetch(f"SELECT awa.enqueue('k', {given})")
    assert await world.audit() == {}


async def test_a_set_with_a_time_that_no_client_could_read_back_is_refused(world: World) -> None:
    with pytest.raises(InvalidParameterValue, match="years 1 to 9999"):
        await world.fetch(
            "SELECT awa.enqueue_many('q', '{a,b}', '{\"{}\",\"{}\"}', '{1,1}', '{NULL,infinity}', '{1,1}',"
            " '{NULL,NULL}', '{NULL,NULL}', '{NULL,NULL}')"
        )
    assert await world.audit() == {}


async def test_a_set_with_metadata_that_no_worker_could_parse_is_refused(world: World) -> None:
    with pytest.raises(InvalidParameterValue, match="250 levels"):
        await world.fetch(
            "SELECT awa.enqueue_many('q', '{a}', '{\"{}\"}', '{1}', '{NULL}', '{1}', '{NULL}', ARRAY[%s]::jsonb[], '{NULL}')",
            DEEP,
        )
    assert await world.audit() == {}


async def test_a_rolled_back_enqueue_leaves_no_trace(world: World) -> None:
    async with world.rolled_back():
        await world.enqueue(3)
        await world.enqueue(run_at=await world.now(later_s=60))
        await world.fetch("SELECT awa.enqueue('k')")
    assert await world.audit() == {}
    assert await world.claim_ids() == []


async def test_a_job_is_seen_when_its_transaction_commits_not_before(
    world: World, connect: Connect
) -> None:
    other = await World.on(await connect())
    async with world.conn.transaction():
        (job,) = await world.enqueue()
        assert await other.audit() == {}
        assert await other.claim_ids() == []
    assert await other.claim_ids() == [job]


async def test_part_of_a_transaction_can_be_rolled_back(world: World) -> None:
    async with world.conn.transaction():
        (kept,) = await world.enqueue()
        async with world.rolled_back():
            await world.enqueue()
    assert list(await world.audit()) == [kept]


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ({"priority": 0}, "priority is 1 .first. to 4, not 0"),
        ({"priority": 5}, "priority is 1 .first. to 4, not 5"),
        ({"kind": ""}, "a kind has 1 to 200 characters, this one has 0"),
        ({"kind": "k" * 201}, "a kind has 1 to 200 characters, this one has 201"),
        ({"queue": ""}, "a queue name has 1 to 200 characters, this one has 0"),
        ({"queue": "q" * 201}, "a queue name has 1 to 200 characters, this one has 201"),
        ({"max_attempts": 0}, "max_attempts is 1 to 1000, not 0"),
        ({"max_attempts": 1001}, "max_attempts is 1 to 1000, not 1001"),
        ({"kind": "  "}, 'a kind must not be blank, or begin or end with white space: "  "'),
        ({"kind": "\u00a0k"}, "a kind must not be blank, or begin or end with white space"),
        ({"kind": "a\nb"}, r'a kind must not hold control characters: "a\\nb"'),
        ({"queue": "q "}, "a queue name must not be blank, or begin or end with white space"),
        ({"queue": "q\x7f"}, "a queue name must not hold control characters"),
        ({"tags": [f"t{n}" for n in range(101)]}, "a job has at most 100 tags, this one has 101"),
        ({"tags": ["fine", ""]}, "a tag has 1 to 200 characters"),
        ({"tags": ["t" * 201]}, "a tag has 1 to 200 characters"),
        ({"tags": [" t"]}, "a tag must not be blank, or begin or end with white space"),
    ],
)
async def test_a_job_that_cannot_be_is_refused_with_what_was_seen(
    world: World, details: dict[str, Any], said: str
) -> None:
    queue = details.pop("queue", "default")
    with pytest.raises(ValidationError, match=said):
        await world.enqueue(queue=queue, **details)
    with pytest.raises(ValidationError, match=said):
        await enqueue(world.conn, queue, NewJob(**{"kind": "k", "args_json": "{}"} | details))
    assert await world.audit() == {}


async def test_one_bad_job_refuses_the_whole_set(world: World) -> None:
    with pytest.raises(ValidationError):
        await enqueue_many(world.conn, "q", [NewJob("k", "{}"), NewJob("k", "{}", priority=9)])
    with pytest.raises(AwaError):
        await enqueue_many(world.conn, "q", [NewJob("k", "{}"), NewJob("k", "{not json")])
    assert await world.audit() == {}


async def test_jobs_with_one_ordering_key_share_a_shard(world: World) -> None:
    await world.fetch(
        "INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES ('q', 8) RETURNING 1"
    )
    await world.enqueue(20, queue="q", ordering_key="customer 7")
    await world.fetch("SELECT awa.enqueue('k', queue => 'q', ordering_key => 'customer 7')")
    assert await shards_of(world.conn) == 1


async def test_jobs_without_a_key_are_spread_over_the_shards(world: World) -> None:
    await world.fetch(
        "INSERT INTO awa.queue_meta (queue, enqueue_shards) VALUES ('q', 4) RETURNING 1"
    )
    await world.enqueue(200, queue="q")
    assert await shards_of(world.conn) == 4


async def test_names_may_be_anything_else(world: World) -> None:
    names = ["a b", "ключ", "…", "🦜" * 200, "a/b?c#d", "it's", 'say "x"']
    for name in names:
        await world.enqueue(queue=name, kind=name, tags=[name])
        await enqueue(world.conn, name, NewJob(name, "{}", tags=[name]))
    assert {place.queue for place in (await world.audit()).values()} == set(names)


async def shards_of(conn: AsyncConnection[Any]) -> int:
    """Over how many shards the jobs lie."""
    cursor = await conn.execute("SELECT DISTINCT enqueue_shard FROM awa.jobs")
    return len(await cursor.fetchall())
