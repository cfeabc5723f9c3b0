"""What a worker is told to work on is checked before anything begins."""

from typing import Any

import pytest

import awa
from awa.worker.options import QueueOptions, queue_options


def test_the_short_and_the_long_form_say_the_same() -> None:
    long = {"queue": "email", "max_workers": 50, "deadline_seconds": 30}
    assert queue_options([("email", 50)]) == [QueueOptions(queue="email", max_workers=50)]
    assert queue_options([long]) == [
        QueueOptions(queue="email", max_workers=50, deadline_seconds=30)
    ]
    assert queue_options(["email"]) == [QueueOptions(queue="email")]


@pytest.mark.parametrize(
    ("queues", "field", "told"),
    [
        ([("email", 0)], "queues[0].max_workers", "between 1 and"),
        ([("email", True)], "queues[0].max_workers", "whole number"),
        ([("", 5)], "queues[0].queue", "empty"),
        ([("x" * 201, 5)], "queues[0].queue", "200"),
        (["a", {"queue": "b", "max_worker": 3}], "queues[1].max_worker", "'max_workers'"),
        ([{"queue": "b", "rate_limit": 0}], "queues[0].rate_limit", "jobs per second"),
        ([{"queue": "b", "rate_limit": "3"}], "queues[0].rate_limit", "number"),
        ([{"queue": "b", "weight": 3}], "queues[0].weight", "share slots"),
        ([{"queue": "b", "min_workers": 3}], "queues[0].min_workers", "share slots"),
        ([{"max_workers": 3}], "queues[0].queue", "required"),
        ([{"queue": "b", "deadline_seconds": 0}], "queues[0].deadline_seconds", "above 0"),
        ([{"queue": "b", "deadline_seconds": "5"}], "queues[0].deadline_seconds", "number"),
        ([7], "queues[0].queue", "mapping"),
        ("email", "queues", "list"),
        (["a", ("a", 3)], "queues", "more than once"),
    ],
)
def test_what_makes_no_sense_is_refused_by_name(queues: Any, field: str, told: str) -> None:
    with pytest.raises(awa.ValidationError) as refused:
        queue_options(queues)
    (problem,) = refused.value.fields
    assert problem.field == field
    assert told in problem.message


@pytest.mark.parametrize(
    ("queues", "roles", "told"),
    [
        ([], ["worker"], "needs a queue"),
        (["a"], ["maintenance"], "not asked for"),
        (["a"], ["boss"], "boss"),
        (["a"], [], "roles"),
    ],
)
async def test_roles_and_queues_have_to_fit(
    client: awa.AsyncClient, queues: Any, roles: Any, told: str
) -> None:
    with pytest.raises(awa.ValidationError, match=told):
        await client.start(queues, roles=roles)
