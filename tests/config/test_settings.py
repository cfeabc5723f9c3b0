"""Settings come from the environment; a bad value says its variable, what was seen, and what is allowed."""

from dataclasses import fields

import pytest

import awa


def test_without_variables_the_defaults_stand() -> None:
    settings = awa.Settings.from_env({})
    assert settings == awa.Settings()
    assert (settings.batch_op_retention_days, settings.batch_chunk_ms) == (90, 100)
    assert settings.database_url is None


def test_variables_win_over_defaults_and_the_caller_over_variables() -> None:
    seen = {
        "AWA_BATCH_CHUNK_MS": "250",
        "AWA_POLL_MAX_MS": "2000",
        "DATABASE_URL": "postgresql:///b",
    }
    settings = awa.Settings.from_env(seen, poll_max_ms=500)
    assert (settings.batch_chunk_ms, settings.poll_max_ms) == (250, 500)
    assert settings.database_url == "postgresql:///b"
    both = {"AWA_DATABASE_URL": "postgresql:///a", "DATABASE_URL": "postgresql:///b"}
    assert awa.Settings.from_env(both).database_url == "postgresql:///a"


def test_an_empty_variable_is_none() -> None:
    assert awa.Settings.from_env({"AWA_BATCH_CHUNK_MS": ""}).batch_chunk_ms == 100


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("AWA_BATCH_OP_RETENTION_DAYS", "ninety", "not a number; allowed: 0.001 to 36500"),
        ("AWA_BATCH_OP_RETENTION_DAYS", "-1", "allowed: 0.001 to 36500"),
        ("AWA_BATCH_OP_RETENTION_DAYS", "nan", "not a number"),
        ("AWA_BATCH_CHUNK_MS", "1.5", "not a whole number; allowed: 5 to 10000"),
        ("AWA_BATCH_CHUNK_MS", "0", "allowed: 5 to 10000"),
        ("AWA_COMPLETED_RETENTION_HOURS", "inf", "allowed"),
        ("AWA_RUNTIME_STALE_S", "6", "two heartbeats"),
        ("AWA_POLL_MIN_MS", "5000", "AWA_POLL_MAX_MS"),
    ],
)
def test_a_bad_value_is_refused_by_its_variable(variable: str, value: str, told: str) -> None:
    with pytest.raises(awa.ValidationError) as refused:
        awa.Settings.from_env({variable: value})
    assert variable in refused.value.message
    assert told in refused.value.message
    assert value in refused.value.message


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(awa.ValidationError) as refused:
        awa.Settings.from_env({"AWA_BATCH_CHUNK_MS": "x", "AWA_POOL_MAX_SIZE": "y"})
    assert {p.field for p in refused.value.fields} == {"batch_chunk_ms", "pool_max_size"}


def test_every_setting_says_what_it_is_for() -> None:
    for setting in fields(awa.Settings):
        assert setting.metadata["env"]
        assert setting.metadata["about"]
