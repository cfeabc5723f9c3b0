"""Who is let in, and who is turned away, before anything else of a request is read."""

from collections.abc import Mapping

import pytest
from fastapi import Request

from awa.http.access import Access, Right, needs, right_of
from awa.http.origin import is_loopback
from awa.http.tokens import Role, parse_tokens
from awa.model.errors import Forbidden, ReadOnly, Unauthorized

LOCAL = ("127.0.0.1", 50000)
REMOTE = ("192.0.2.7", 50000)
TOKENS = parse_tokens(
    [
        "grafana:viewer:viewer-token-0123456789",
        "deploy:operator:operator-token-0123456789",
        "root:admin:admin-token-0123456789",
    ]
)


def request(
    method: str = "POST",
    *,
    client: tuple[str, int] | None = LOCAL,
    token: str | None = None,
    host: str = "localhost:8080",
    headers: Mapping[str, str] | None = None,
) -> Request:
    raw = [(b"host", host.encode())]
    if token is not None:
        raw.append((b"authorization", f"Bearer {token}-token-0123456789".encode()))
    raw += [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    scope = {
        "type": "http",
        "method": method,
        "path": "/",
        "query_string": b"",
        "client": client,
        "headers": raw,
    }
    return Request(scope)


def test_without_tokens_this_machine_may_do_everything() -> None:
    actor = Access().admit(request(), Right.ADMIN)
    assert (actor.name, actor.role) == ("local", Role.ADMIN)


@pytest.mark.parametrize("client", [("::1", 1), ("127.8.9.1", 1), ("::ffff:127.0.0.1", 1), None])
def test_loopback_has_several_addresses(client: tuple[str, int] | None) -> None:
    Access().admit(request(client=client), Right.CHANGE)


def test_without_tokens_others_may_only_look() -> None:
    elsewhere = request(client=REMOTE, host="awa.internal")
    assert Access().admit(elsewhere, Right.PREVIEW).name == "anonymous"
    with pytest.raises(ReadOnly):
        Access().admit(elsewhere, Right.CHANGE)


@pytest.mark.parametrize("header", ["forwarded", "x-forwarded-for", "x-real-ip", "via"])
def test_a_proxy_on_this_machine_speaks_for_others(header: str) -> None:
    with pytest.raises(ReadOnly):
        Access().admit(request(headers={header: "127.0.0.1"}), Right.CHANGE)


def test_a_server_that_others_can_reach_writes_for_nobody_without_tokens() -> None:
    with pytest.raises(ReadOnly, match="read-only"):
        Access(local_writes=False).admit(request(), Right.CHANGE)


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:8080", "192.0.2.7", ""])
def test_a_name_that_was_pointed_at_this_machine_gets_nothing(host: str) -> None:
    with pytest.raises(Forbidden, match="Host"):
        Access().admit(request("GET", host=host), Right.READ)
    with pytest.raises(Forbidden, match="Host"):
        Access().admit(
            request("GET", host=host, headers={"x-forwarded-for": "192.0.2.1"}), Right.READ
        )


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST:1"])
def test_the_names_of_this_machine_are_fine(host: str) -> None:
    Access().admit(request("GET", host=host), Right.READ)


def test_a_further_host_name_can_be_allowed() -> None:
    access = Access(allowed_hosts=frozenset({"awa.example"}))
    access.admit(request("GET", host="awa.example:443"), Right.READ)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "http://localhost:3000"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
@pytest.mark.parametrize(
    ("method", "right"), [("GET", Right.READ), ("POST", Right.PREVIEW), ("POST", Right.CHANGE)]
)
def test_a_foreign_page_may_neither_send_nor_read(
    headers: dict[str, str], method: str, right: Right
) -> None:
    with pytest.raises(Forbidden, match="page from elsewhere"):
        Access().admit(request(method, headers=headers), right)


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_on_a_foreign_page_may_be_followed_and_nothing_else(site: str) -> None:
    link = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    Access().admit(request("GET", headers=link), Right.READ)
    for frame in ({**link, "sec-fetch-dest": "iframe"}, {**link, "sec-fetch-mode": "no-cors"}):
        with pytest.raises(Forbidden, match="page from elsewhere"):
            Access().admit(request("GET", headers=frame), Right.READ)
    with pytest.raises(Forbidden, match="page from elsewhere"):
        Access().admit(request("POST", headers=link), Right.CHANGE)


OWN_PAGE = {"origin": "http://localhost:8080", "sec-fetch-site": "same-origin"}


def test_an_own_page_may_if_it_sends_its_token() -> None:
    access = Access()
    with pytest.raises(Forbidden, match="token of the page"):
        access.admit(request(headers=OWN_PAGE), Right.CHANGE)
    token = access.csrf_token(access.caller(request(headers=OWN_PAGE)))
    access.admit(request(headers={**OWN_PAGE, "x-csrf-token": token}), Right.CHANGE)


def test_a_token_of_another_server_is_no_token() -> None:
    other = Access()
    token = other.csrf_token(other.caller(request()))
    with pytest.raises(Forbidden, match="token of the page"):
        Access().admit(request(headers={**OWN_PAGE, "x-csrf-token": token}), Right.CHANGE)


def test_a_browser_that_hides_where_it_comes_from_is_still_ours() -> None:
    """With a strict referrer policy the Origin of our own form is null; the browser's word decides."""
    Access().admit(
        request("GET", headers={"origin": "null", "sec-fetch-site": "same-origin"}), Right.READ
    )


def test_with_tokens_the_token_decides_and_not_the_origin() -> None:
    foreign = request(
        token="operator", client=REMOTE, host="awa.example", headers={"origin": "https://x.example"}
    )
    assert Access(TOKENS).admit(foreign, Right.CHANGE).name == "deploy"


@pytest.mark.parametrize(
    "right", [Right.READ, Right.PREVIEW, Right.CHANGE, Right.ANSWER, Right.ADMIN]
)
def test_with_tokens_nobody_comes_in_without(right: Right) -> None:
    with pytest.raises(Unauthorized):
        Access(TOKENS).admit(request(), right)
    with pytest.raises(Unauthorized):
        Access(TOKENS).admit(request(token="unknown"), right)
    with pytest.raises(Unauthorized):
        Access(TOKENS).admit(request(headers={"authorization": "Basic cm9vdDpyb290"}), right)


@pytest.mark.parametrize(
    ("token", "allowed"),
    [
        ("viewer", {Right.READ, Right.LEAVE, Right.PREVIEW}),
        ("operator", {Right.READ, Right.LEAVE, Right.PREVIEW, Right.CHANGE, Right.ANSWER}),
        (
            "admin",
            {Right.READ, Right.LEAVE, Right.PREVIEW, Right.CHANGE, Right.ANSWER, Right.ADMIN},
        ),
    ],
)
def test_a_role_may_what_its_row_says_and_nothing_else(token: str, allowed: set[Right]) -> None:
    for right in set(Right) - {Right.OPEN}:
        if right in allowed:
            Access(TOKENS).admit(request(token=token), right)
        else:
            with pytest.raises(Forbidden, match="role"):
                Access(TOKENS).admit(request(token=token), right)


def test_read_only_wins_over_every_role_and_leaves_preview() -> None:
    access = Access(TOKENS, read_only=True)
    for right in (Right.CHANGE, Right.ADMIN):
        with pytest.raises(ReadOnly):
            access.admit(request(token="admin"), right)
    access.admit(request(token="viewer"), Right.PREVIEW)


def test_an_endpoint_that_states_no_right_is_a_mistake() -> None:
    async def careless() -> None: ...

    with pytest.raises(TypeError, match="needs"):
        right_of(careless)

    assert right_of(needs(Right.CHANGE)(careless)) is Right.CHANGE


@pytest.mark.parametrize(
    "host", ["127.0.0.1.evil.example", "localhostx", "0.0.0.0", "10.0.0.1", "::"]
)
def test_what_only_looks_like_loopback_is_not(host: str) -> None:
    assert not is_loopback(host)
