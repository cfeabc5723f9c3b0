"""What a page carries for the server comes back as it left, or not at all."""

from awa.http.signing import SIGNED_MAX_CHARS, Sessions

KEY = "k" * 32
VALUE = {"jobs": 47_000, "nonce": "é"}


def test_a_signed_value_comes_back() -> None:
    sessions = Sessions(KEY)
    assert sessions.signed("plan", sessions.sign("plan", VALUE), 60) == VALUE


def test_servers_that_share_the_secret_share_the_values() -> None:
    assert Sessions(KEY).signed("plan", Sessions(KEY).sign("plan", VALUE), 60) == VALUE
    assert Sessions().signed("plan", Sessions().sign("plan", VALUE), 60) is None


def test_one_purpose_is_not_another() -> None:
    sessions = Sessions(KEY)
    assert sessions.signed("other", sessions.sign("plan", VALUE), 60) is None
    assert sessions.signed("plan", sessions.csrf_token("no session"), 60) is None


def test_a_value_grows_old() -> None:
    now = [1000.0]
    sessions = Sessions(KEY, clock=lambda: now[0])
    signed = sessions.sign("plan", VALUE)
    now[0] = 1059.0
    assert sessions.signed("plan", signed, 60) == VALUE
    now[0] = 1060.0
    assert sessions.signed("plan", signed, 60) is None


def test_what_was_tampered_with_is_nothing() -> None:
    sessions = Sessions(KEY)
    signed = sessions.sign("plan", VALUE)
    for wrong in (
        "",
        "x",
        signed[:-1],
        "a" + signed,
        signed.replace(".", ""),
        "x" * (SIGNED_MAX_CHARS + 1),
    ):
        assert sessions.signed("plan", wrong, 60) is None
