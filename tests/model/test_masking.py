"""Secrets are hidden by the name of their field, at any depth, and nothing else is."""

from typing import Any

import pytest

from awa.model.masking import CUT, DEFAULT_MASK, DEPTH_MAX, MASKED, NO_MASK, Mask

HIDDEN = "card cards card_number creditCard api_key apiKey API-KEY x_api_keys apikey Authorization passwordHash accessKeyId JWT"
SHOWN = "discarded tokenize to amount cardinal keys secretary n"


@pytest.mark.parametrize("name", HIDDEN.split())
def test_a_name_that_says_secret_hides_its_value(name: str) -> None:
    assert DEFAULT_MASK.value({name: {"x": [1]}}) == ({name: MASKED}, True)


@pytest.mark.parametrize("name", SHOWN.split())
def test_other_names_hide_nothing(name: str) -> None:
    assert DEFAULT_MASK.value({name: "v"}) == ({name: "v"}, False)


def test_secrets_are_found_at_any_depth_and_what_was_given_stays() -> None:
    given = {"a": [{"b": {"password": "p", "n": 1}}, "token"], "secret": None}
    shown, hidden = DEFAULT_MASK.value(given)
    assert shown == {"a": [{"b": {"password": MASKED, "n": 1}}, "token"], "secret": None}
    assert hidden
    assert given["a"] == [{"b": {"password": "p", "n": 1}}, "token"]


def test_a_document_that_could_not_be_parsed_is_hidden_whole() -> None:
    assert DEFAULT_MASK.value('{"password": …') == (MASKED, True)
    assert DEFAULT_MASK.value("a text") == ("a text", False)


def test_a_very_deep_document_is_cut_and_not_a_mistake_of_ours() -> None:
    deep: Any = {"password": "p"}
    for _ in range(5_000):
        deep = [deep]
    shown, hidden = NO_MASK.value(deep)
    for _ in range(DEPTH_MAX):
        (shown,) = shown
    assert (shown, hidden) == (CUT, False)


def test_the_list_can_be_replaced_added_to_and_turned_off() -> None:
    assert Mask.of("birthday, PIN").hides("pin_code")
    assert not Mask.of("birthday, PIN").hides("password")
    assert Mask.of("+ birthday").hides("password")
    assert Mask.of("+ birthday").hides("birth_day")
    assert not Mask.of("off").hides("password")
    assert Mask.of("").hides("password")


def test_a_row_s_arguments_and_metadata_are_masked_and_its_queue_is_not() -> None:
    row = {"queue": "token", "args": {"token": "t"}, "metadata": {"cookie": "c"}, "tags": ["token"]}
    shown, hidden = DEFAULT_MASK.row(row)
    assert shown == {**row, "args": {"token": MASKED}, "metadata": {"cookie": MASKED}}
    assert hidden
