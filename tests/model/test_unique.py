"""Unique options are checked before the database is touched, and come out as the database takes them."""

from typing import Any

import pytest

import awa
from awa.model.draft import check_options
from awa.model.unique import check_unique_opts


@pytest.mark.parametrize(
    ("given", "checked"),
    [
        ({}, {}),
        ({"by_args": True, "by_queue": None}, {"by_args": True}),
        ({"by_args": ("a", "b")}, {"by_args": ["a", "b"]}),
        ({"by_args": False, "by_queue": True}, {"by_args": False, "by_queue": True}),
        ({"by_period": 60}, {"by_period": 60}),
        ({"by_states": {"running", "available"}}, {"by_states": ["available", "running"]}),
        ({"states": [awa.JobState.RUNNING]}, {"by_states": ["running"]}),
        ({"key": "a", "by_args": False}, {"key": "a", "by_args": False}),
        ({"on_conflict": "replace"}, {"on_conflict": "replace"}),
        (
            awa.UniqueOpts(by_args=["a"], on_conflict="ignore"),
            {"by_args": ["a"], "on_conflict": "ignore"},
        ),
    ],
)
def test_what_is_right_comes_out_plain(given: Any, checked: dict[str, Any]) -> None:
    assert check_unique_opts(given) == checked


@pytest.mark.parametrize(
    ("given", "field", "told"),
    [
        ([], "unique_opts", "expected an object"),
        ({"by_arg": True}, "unique_opts.by_arg", "did you mean 'by_args'?"),
        ({"xyz": 1}, "unique_opts.xyz", "known: by_args"),
        ({"by_args": "a"}, "unique_opts.by_args", "names of fields"),
        ({"by_args": []}, "unique_opts.by_args", "names of fields"),
        ({"by_args": [1]}, "unique_opts.by_args", "names of fields"),
        ({"by_queue": 1}, "unique_opts.by_queue", "True or False"),
        ({"by_period": 0}, "unique_opts.by_period", "1"),
        ({"by_period": True}, "unique_opts.by_period", "whole number"),
        ({"by_states": []}, "unique_opts.by_states", "a list of states"),
        ({"by_states": "running"}, "unique_opts.by_states", "a list of states"),
        ({"by_states": ["runing"]}, "unique_opts.by_states", "did you mean 'running'?"),
        ({"states": ["x"]}, "unique_opts.states", "known: scheduled"),
        ({"by_states": ["running"], "states": ["running"]}, "unique_opts.states", "give one"),
        ({"key": ""}, "unique_opts.key", "1 to 500 characters"),
        ({"key": "a\0"}, "unique_opts.key", "NUL"),
        ({"key": "a", "by_args": True}, "unique_opts.key", "leave out by_args"),
        ({"on_conflict": "replce"}, "unique_opts.on_conflict", "did you mean 'replace'?"),
        ({"on_conflict": None, "by_queue": 1}, "unique_opts.by_queue", "True or False"),
    ],
)
def test_what_is_wrong_is_refused_by_its_name(given: Any, field: str, told: str) -> None:
    with pytest.raises(awa.ValidationError) as refused:
        check_unique_opts(given)
    found = {problem.field: problem.message for problem in refused.value.fields}
    assert told in found[field]


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(awa.ValidationError) as refused:
        check_options({"priority": 9, "unique_opts": {"by_queue": 1, "by_period": -1}})  # type: ignore[typeddict-item]
    assert {problem.field for problem in refused.value.fields} == {
        "priority",
        "unique_opts.by_queue",
        "unique_opts.by_period",
    }


def test_the_holder_is_in_the_error() -> None:
    conflict = awa.UniqueConflict("job 7 holds the unique key", job_id=7)
    assert (conflict.job_id, conflict.details) == (7, {"job_id": 7})
    assert isinstance(conflict, awa.Conflict)
