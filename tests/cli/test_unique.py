"""Unique jobs on the command line."""

import asyncio
from pathlib import Path

import pytest
from psycopg import AsyncConnection

from tests.cli.conftest import Awa
from tests.storage.world import World

ENQUEUE = ("enqueue", "--kind", "sync", "--args", '{"account": 7, "full": false}')
AGAIN = ("enqueue", "--kind", "sync", "--args", '{"account": 7, "full": true}')


def test_a_taken_key_is_refused_with_its_holder(awa: Awa) -> None:
    job = awa("--json", *ENQUEUE, "--unique-by", "args.account").document["id"]
    refused = awa("--json", *AGAIN, "--unique-by", "args.account")
    assert (refused.code, refused.error["code"]) == (4, "unique_conflict")
    assert refused.error["details"]["job_id"] == job
    assert awa("--json", *AGAIN, "--unique-by", "args").document["enqueued"] == 1


def test_a_field_that_the_arguments_lack_is_refused_with_the_nearest(
    awa: Awa, tmp_path: Path
) -> None:
    refused = awa("--json", *ENQUEUE, "--unique-by", "args.acount")
    assert (refused.code, refused.error["code"]) == (2, "invalid")
    assert "did you mean 'account'?" in refused.err
    lines = tmp_path / "jobs.ndjson"
    lines.write_text('{"kind": "sync", "args": {}, "unique_opts": {"by_args": ["account"]}}')
    assert awa("enqueue", "--file", str(lines)).code == 2
    cancelled = awa("job", "cancel", *ENQUEUE[1:], "--unique-by", "args.acount")
    assert (cancelled.code, "did you mean 'account'?" in cancelled.err) == (2, True)


def test_a_refusal_speaks_of_options_of_the_command_line(awa: Awa) -> None:
    by = ("--unique-by", "args.account")
    job = awa("--json", *ENQUEUE, *by).document["id"]
    refused = awa(*AGAIN, *by)
    assert f"job {job} holds the unique key" in refused.err.replace("\n", " ")
    assert "--on-conflict ignore" in refused.err
    assert "of the list" not in refused.err
    twice = awa("--json", *ENQUEUE, "--repeat", "2", "--unique-by", "key=twice")
    assert (
        twice.error["message"] == "job number 2 of the input: a job before it holds its unique key."
    )
    assert "--on-conflict" in twice.error["hint"]
    replaced = awa("--json", *ENQUEUE, "--unique-by", "args.account", "--on-conflict", "replace")
    assert replaced.code == 0


def test_a_refused_file_names_the_place_in_all_of_it(awa: Awa, tmp_path: Path) -> None:
    lines = tmp_path / "jobs.ndjson"
    plain = ['{"kind": "a", "queue": "one"}', '{"kind": "a", "queue": "two"}'] * 300
    taken = '{"kind": "u", "queue": "two", "unique_opts": {"key": "k"}}'
    holder = awa("--json", "enqueue", "--kind", "u", "--unique-by", "key=k").document["id"]
    lines.write_text("\n".join([*plain, taken, *plain]))
    refused = awa("--json", "enqueue", "--file", str(lines))
    assert refused.code == 4
    assert (
        refused.error["message"]
        == f"job number 601 of the input: job {holder} holds its unique key."
    )
    assert refused.error["details"]["conflicts"] == [{"place": 600, "job_id": holder}]


@pytest.mark.parametrize(
    ("policy", "insertion", "words", "full"),
    [
        ("ignore", "ignored", "stays as it is", False),
        ("replace", "replaced", "was replaced", True),
    ],
)
def test_or_does_as_it_is_told(
    awa: Awa, policy: str, insertion: str, words: str, full: bool
) -> None:
    by = ("--unique-by", "args.account", "--unique-by", "queue")
    job = awa("--json", *ENQUEUE, *by).document["id"]
    done = awa("--json", *AGAIN, *by, "--on-conflict", policy).document
    assert (done["id"], done["insertion"], done["enqueued"]) == (job, insertion, 0)
    assert (
        f"Job {job} has the unique key and {words}."
        in awa(*AGAIN, *by, "--on-conflict", policy).out
    )
    assert awa("--json", "job", "show", str(job)).document["args"]["full"] is full


def test_a_file_says_how_many_were_there_already(awa: Awa, tmp_path: Path) -> None:
    lines = tmp_path / "jobs.ndjson"
    lines.write_text(
        '{"kind": "a", "unique_opts": {"on_conflict": "ignore"}}\n{"kind": "b"}\n'
        '{"kind": "a", "unique_opts": {"on_conflict": "ignore"}}\n'
    )
    first = awa("--json", "enqueue", "--file", str(lines)).document
    assert (first["enqueued"], first["ignored"]) == (2, 1)
    assert "Enqueued 1 job in" in (again := awa("enqueue", "--file", str(lines))).out
    assert "2 jobs ignored" in again.out


def test_show_says_what_the_key_is_and_who_has_it(awa: Awa, database_url: str) -> None:
    job = awa("--json", *ENQUEUE, "--unique-by", "args.account").document["id"]
    told = awa("--json", "job", "show", str(job)).document["unique"]
    assert (told["by"], told["held"], told["holder"]) == (["kind", "some arguments"], True, job)
    assert "it holds its key" in awa("job", "show", str(job)).out
    plain = awa("--json", *ENQUEUE).document["id"]
    assert awa("--json", "job", "show", str(plain)).document["unique"] is None


@pytest.mark.parametrize(
    "by",
    [
        ("args.account",),
        ("args",),
        ("kind",),
        ("queue", "args"),
        ("period=3600",),
        ("key=sync of 7",),
        ("key=sync of 7", "queue"),
    ],
)
def test_a_job_is_cancelled_by_its_key(awa: Awa, by: tuple[str, ...]) -> None:
    words = [part for word in by for part in ("--unique-by", word)]
    job = awa("--json", *ENQUEUE, *words).document["id"]
    cancel = ("job", "cancel", "--kind", "sync", "--args", '{"account": 7, "full": false}')
    assert awa("--json", *cancel, *words).document["id"] == job
    assert awa("--json", *cancel, *words).code == 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("job", "cancel"), "say which job"),
        (("job", "cancel", "7", "--unique-by", "args"), "say which job"),
        ((*ENQUEUE, "--unique-by", "argument"), "expected args, args.FIELD, kind"),
        ((*ENQUEUE, "--unique-by", "args."), "expected args, args.FIELD, kind"),
        ((*ENQUEUE, "--unique-by", "period=soon"), "expected args, args.FIELD, kind"),
        ((*ENQUEUE, "--unique-by", "args", "--on-conflict", "relace"), "did you mean 'replace'?"),
        ((*ENQUEUE, "--unique-by", "args", "--unique-state", "runing"), "did you mean 'running'?"),
        ((*ENQUEUE, "--on-conflict", "ignore"), "--on-conflict is for unique jobs"),
        ((*ENQUEUE, "--unique-state", "running"), "--unique-state is for unique jobs"),
    ],
)
def test_wrong_words_are_refused(awa: Awa, words: tuple[str, ...], told: str) -> None:
    refused = awa("--json", *words)
    assert refused.code == 2
    assert told in refused.error["message"]


def test_dead_letters_that_stay_are_told(awa: Awa, database_url: str) -> None:
    async def furnish() -> int:
        async with await AsyncConnection.connect(database_url, autocommit=True) as conn:
            world = await World.on(conn)
            await conn.execute(
                "INSERT INTO awa.queue_meta (queue, dlq_enabled) VALUES ('default', true)"
            )
            await world.enqueue_unique()
            await world.enqueue()
            await world.finish(await world.claim(), "failed")
            return await world.enqueue_unique()

    asyncio.run(furnish())
    done = awa("--json", "dlq", "retry", "--all", "--yes").document
    assert done == {"retried": 1, "kept": 1}
    words = awa("dlq", "retry", "--all", "--yes").out
    assert "Retried 0 dead letters. 1 stay: other jobs have their unique keys." in words
