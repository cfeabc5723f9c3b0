"""Tokens and signatures of callbacks, and what may come with an answer."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID, uuid4

import pytest

from awa.model import callback
from awa.model.callback import Action, CallbackToken, Signer, check_callback_id
from awa.model.errors import ValidationError

SECRET, OTHER = "s" * 32, "o" * 32
ID = UUID("3b241101-e2bb-4255-8caf-4136c566a962")
LATER = 2_000_000_000


def signer(secret: str = SECRET, url: str | None = "https://jobs.example.org/awa/") -> Signer:
    made = Signer.of(secret, url)
    assert made is not None
    return made


def test_a_token_is_the_id_as_text() -> None:
    token = CallbackToken.make(ID, datetime.now(UTC))
    assert (token, token.id, f"{token}") == (str(ID), ID, str(ID))
    assert check_callback_id(token) == check_callback_id(ID) == check_callback_id(str(ID)) == ID


def test_a_url_says_one_action_until_a_time() -> None:
    expires_at = datetime(2026, 6, 1, tzinfo=UTC)
    url = urlsplit(CallbackToken.make(ID, expires_at, signer()).url("resume"))
    assert (url.scheme, url.netloc) == ("https", "jobs.example.org")
    assert url.path == f"/awa/api/callbacks/{ID}/resume"
    said = {name: value[0] for name, value in parse_qs(url.query).items()}
    assert said.keys() == {"expires", "signature"}
    assert int(said["expires"]) == (expires_at + timedelta(days=1)).timestamp()
    until_s = int(said["expires"])
    assert signer().accepts(ID, Action.RESUME, until_s, said["signature"], until_s - 1)


def test_the_header_says_the_same() -> None:
    token = CallbackToken.make(ID, datetime.now(UTC), signer())
    before_s = datetime.now(UTC).timestamp()
    until, _, signed = token.signature("fail", valid_seconds=60).partition(".")
    after_s = datetime.now(UTC).timestamp()
    assert signer().accepts(ID, Action.FAIL, int(until), signed, 0.0)
    assert before_s - 1 <= int(until) - 60 <= after_s + 1


@pytest.mark.parametrize(
    ("callback_id", "action", "until_s", "now_s"),
    [
        (uuid4(), Action.COMPLETE, LATER, 0.0),
        (ID, Action.FAIL, LATER, 0.0),
        (ID, Action.COMPLETE, LATER + 1, 0.0),
        (ID, Action.COMPLETE, LATER, LATER),
    ],
)
def test_a_signature_is_good_for_nothing_else(
    callback_id: UUID, action: Action, until_s: int, now_s: float
) -> None:
    signed = signer().signature(ID, Action.COMPLETE, LATER)
    assert signer().accepts(ID, Action.COMPLETE, LATER, signed, LATER - 0.5)
    assert not signer().accepts(callback_id, action, until_s, signed, now_s)


@pytest.mark.parametrize("presented", ["", "0" * 64, "ü" * 64, "\x00"])
def test_what_is_no_signature_is_refused(presented: str) -> None:
    assert not signer().accepts(ID, Action.COMPLETE, LATER, presented, 0.0)


def test_the_first_secret_signs_and_all_are_accepted() -> None:
    old = signer(OTHER).signature(ID, Action.COMPLETE, LATER)
    both = signer(f"{SECRET} {OTHER}")
    assert both.accepts(ID, Action.COMPLETE, LATER, old, 0.0)
    assert signer(SECRET).accepts(
        ID, Action.COMPLETE, LATER, both.signature(ID, Action.COMPLETE, LATER), 0.0
    )
    assert not signer(SECRET).accepts(ID, Action.COMPLETE, LATER, old, 0.0)


def test_secrets_are_long_and_said_to_nobody() -> None:
    assert Signer.of(None) is None
    assert Signer.of("  ") is None
    with pytest.raises(ValidationError, match=r"AWA_CALLBACK_SECRET.*at least 32") as refused:
        Signer.of("short-secret")
    assert "short-secret" not in str(refused.value)
    assert SECRET not in repr(signer())


@pytest.mark.parametrize("url", ["jobs.example.org", "ftp://x", "https://x/?a=1", "https://"])
def test_an_address_is_a_url(url: str) -> None:
    with pytest.raises(ValidationError, match="AWA_CALLBACK_URL"):
        signer(url=url)


def test_urls_want_a_secret_and_an_address() -> None:
    token = CallbackToken.make(ID, datetime.now(UTC))
    with pytest.raises(ValidationError, match="needs AWA_CALLBACK_SECRET"):
        token.url()
    with pytest.raises(ValidationError, match="needs AWA_CALLBACK_URL"):
        CallbackToken.make(ID, datetime.now(UTC), signer(url=None)).url()
    with pytest.raises(ValidationError, match="expected one of complete, fail"):
        CallbackToken.make(ID, datetime.now(UTC), signer()).url("explode")
    with pytest.raises(ValidationError, match="valid_seconds"):
        CallbackToken.make(ID, datetime.now(UTC), signer()).url(valid_seconds=0)


@pytest.mark.parametrize(
    "payload", [float("nan"), {"a": "\x00"}, object(), {1, 2}, "x" * callback.PAYLOAD_MAX_BYTES]
)
def test_a_payload_is_json_of_some_size(payload: Any) -> None:
    with pytest.raises(ValidationError, match="payload"):
        callback.check_payload(payload)


def test_an_error_is_a_sentence_or_has_one() -> None:
    assert callback.check_error(None) is None
    assert callback.check_error("no money") == {"error": "no money"}
    assert callback.check_error({"error": "no", "code": 51}) == {"error": "no", "code": 51}
    for wrong in ({}, {"code": 51}, {"error": 7}, ["no"], 7):
        with pytest.raises(ValidationError, match="expected a sentence"):
            callback.check_error(wrong)


@pytest.mark.parametrize("seconds", [0, -1, "5", True, None, float("nan"), 1e12])
def test_a_time_out_is_a_number_of_seconds(seconds: Any) -> None:
    with pytest.raises(ValidationError, match="timeout_seconds"):
        callback.check_timeout(seconds)
