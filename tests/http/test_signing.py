"""Sessions and CSRF tokens as signed values: whose they are, how long, and what nobody can read or make."""

import base64
import json
import zlib

import pytest

from awa.http.signing import SESSION_MAX_AGE_S, Sessions, checked_secret, secret_from_environment
from awa.http.tokens import TokenTable, hash_token, parse_tokens
from awa.model.errors import ValidationError

SECRET = "0123456789abcdef0123456789abcdef"
TOKEN = "operator-token-0123456789"
TOKENS = parse_tokens(
    [f"deploy:operator:{TOKEN}", "root:admin:admin-token-0123456789"], source="test"
)


class Clock:
    now = 1_750_000_000.0

    def __call__(self) -> float:
        return self.now


def begun(sessions: Sessions, token: str = TOKEN) -> str:
    holder = TOKENS.find_token(token)
    assert holder is not None
    return sessions.begin(holder)


def test_a_session_is_its_holders_until_its_time_is_over() -> None:
    clock = Clock()
    sessions = Sessions(clock=clock)
    cookie = begun(sessions)
    session = sessions.read(cookie, TOKENS)
    assert session is not None
    assert session.actor_name == "deploy"
    assert (session.expires_at - session.issued_at).total_seconds() == SESSION_MAX_AGE_S
    clock.now += SESSION_MAX_AGE_S - 1
    assert sessions.read(cookie, TOKENS) == session
    clock.now += 1
    assert sessions.read(cookie, TOKENS) is None


def test_a_session_ends_with_its_token() -> None:
    sessions = Sessions()
    cookie = begun(sessions)
    others = TokenTable(tuple(one for one in TOKENS.tokens if one.actor.name != "deploy"))
    assert sessions.read(cookie, others) is None
    renewed = parse_tokens(["deploy:operator:another-token-0123456789"])
    assert sessions.read(cookie, renewed) is None


def test_a_role_is_looked_up_anew() -> None:
    sessions = Sessions()
    cookie = begun(sessions)
    lowered = sessions.read(cookie, parse_tokens([f"deploy:viewer:{TOKEN}"]))
    assert lowered is not None
    assert lowered.actor.role.name == "VIEWER"


def test_a_token_that_was_given_to_another_is_another_session() -> None:
    sessions = Sessions()
    assert sessions.read(begun(sessions), parse_tokens([f"other:operator:{TOKEN}"])) is None


def test_the_cookie_holds_nothing_secret() -> None:
    cookie = begun(Sessions(SECRET))
    payload = cookie.removeprefix(".").partition(".")[0]
    plain = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    # The dot says that it is compressed, which it is if that makes it shorter.
    told = json.loads(zlib.decompress(plain) if cookie.startswith(".") else plain)
    assert set(told) == {"id", "name", "token", "at"}
    for secret in (TOKEN, hash_token(TOKEN).hex(), hash_token(TOKEN).hex()[:32], SECRET):
        assert secret not in json.dumps(told)


@pytest.mark.parametrize("spoilt", ["", "x", "a.b", "é", "A" * 100_000, ".", "e30.e30"])
def test_what_we_did_not_make_is_no_session(spoilt: str) -> None:
    sessions = Sessions()
    assert sessions.read(spoilt, TOKENS) is None
    assert not sessions.csrf_fits(spoilt, "me")


def test_one_changed_character_is_noticed() -> None:
    sessions = Sessions()
    cookie = begun(sessions)
    for at in range(0, len(cookie) - 1, 7):
        other = "B" if cookie[at] == "A" else "A"
        assert sessions.read(cookie[:at] + other + cookie[at + 1 :], TOKENS) is None


def test_servers_with_one_secret_take_each_others_sessions_and_no_one_elses() -> None:
    cookie = begun(Sessions(SECRET))
    assert Sessions(SECRET).read(cookie, TOKENS) is not None
    assert Sessions(SECRET[::-1]).read(cookie, TOKENS) is None
    assert Sessions().read(begun(Sessions()), TOKENS) is None


def test_a_csrf_token_fits_its_own_session_only_and_for_as_long() -> None:
    clock = Clock()
    sessions = Sessions(clock=clock)
    token = sessions.csrf_token("mine")
    assert sessions.csrf_fits(token, "mine")
    assert not sessions.csrf_fits(token, "another's")
    clock.now += SESSION_MAX_AGE_S
    assert not sessions.csrf_fits(token, "mine")


def test_a_cookie_is_no_csrf_token_and_the_other_way_round() -> None:
    sessions = Sessions()
    assert not sessions.csrf_fits(begun(sessions), "deploy")
    assert sessions.read(sessions.csrf_token("deploy"), TOKENS) is None


def test_ended_sessions_are_forgotten_once_they_are_too_old_anyway() -> None:
    clock = Clock()
    sessions = Sessions(clock=clock)
    first = begun(sessions)
    session = sessions.read(first, TOKENS)
    assert session is not None
    sessions.end(session)
    assert sessions.read(first, TOKENS) is None
    clock.now += SESSION_MAX_AGE_S + 1
    second = sessions.read(begun(sessions), TOKENS)
    assert second is not None
    sessions.end(second)
    assert len(sessions._ended) == 1


@pytest.mark.parametrize("secret", ["", "short", "x" * 31, " " * 40])
def test_a_short_secret_is_refused_and_not_repeated(secret: str) -> None:
    with pytest.raises(ValidationError, match="AWA_SESSION_SECRET: must have at least 32") as told:
        checked_secret(secret)
    assert "x" * 31 not in str(told.value)


def test_the_secret_comes_from_the_environment() -> None:
    assert secret_from_environment({}) is None
    assert secret_from_environment({"AWA_SESSION_SECRET": SECRET}) == SECRET
    with pytest.raises(ValidationError):
        secret_from_environment({"AWA_SESSION_SECRET": "too short"})
