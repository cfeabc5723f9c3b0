"""What a page's form sends, and how a page lets a request in."""

from collections.abc import AsyncIterator
from urllib.parse import urlencode

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.routing import APIRoute

from awa.api import create_app
from awa.http.access import Right, admit_page
from awa.http.forms import FORM_MAX_BYTES, FORM_MAX_FIELDS, read_form
from awa.http.tokens import parse_tokens

TOKEN = "operator-token-0123456789"
TOKENS = parse_tokens([f"deploy:operator:{TOKEN}", "grafana:viewer:viewer-token-0123456789"])
PAGE = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
FORM = "application/x-www-form-urlencoded"

router = APIRouter(route_class=APIRoute)


@router.api_route("/page", methods=["GET", "POST"])
async def page(request: Request) -> Response:
    """Says who was let in, the CSRF token, and what its form says."""
    actor = await admit_page(request, Right.CHANGE if request.method == "POST" else Right.READ)
    said = (await read_form(request)).get("said") if request.method == "POST" else ""
    return PlainTextResponse(f"{actor.name}|{request.state.csrf_token}|{said}")


def client(app: FastAPI) -> httpx.AsyncClient:
    app.include_router(router)
    transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 5))
    return httpx.AsyncClient(transport=transport, base_url="http://localhost")


@pytest.fixture
async def local() -> AsyncIterator[httpx.AsyncClient]:
    async with client(create_app("postgresql:///nowhere")) as made:
        yield made


@pytest.fixture
async def browser() -> AsyncIterator[httpx.AsyncClient]:
    async with client(create_app("postgresql:///nowhere", tokens=TOKENS)) as made:
        await made.post("/api/session", json={"token": TOKEN})
        yield made


async def test_a_form_with_the_page_s_token_is_let_in(browser: httpx.AsyncClient) -> None:
    name, token, _ = (await browser.get("/page", headers=PAGE)).text.split("|")
    assert name == "deploy"
    said = "two words & ü =\r\n+"
    answer = await browser.post("/page", data={"said": said, "csrf_token": token}, headers=PAGE)
    assert answer.text.split("|", 2)[2] == said
    header = {**PAGE, "X-CSRF-Token": token}
    assert (await browser.post("/page", data={"said": "x"}, headers=header)).status_code == 200


@pytest.mark.parametrize("token", [None, "", "made-up"])
@pytest.mark.parametrize("headers", [{}, PAGE])
async def test_a_form_without_it_is_not(
    local: httpx.AsyncClient,
    browser: httpx.AsyncClient,
    token: str | None,
    headers: dict[str, str],
) -> None:
    fields = {"said": "x"} | ({} if token is None else {"csrf_token": token})
    for asked in (local, browser):
        answer = await asked.post("/page", data=fields, headers=headers)
        assert answer.status_code == 403
        assert answer.json()["error"]["details"] == {"reason": "csrf"}


async def test_a_stranger_s_form_is_not_read(browser: httpx.AsyncClient) -> None:
    browser.cookies.clear()
    answer = await browser.post("/page", content=b"%FF", headers={"Content-Type": FORM})
    assert answer.status_code == 401


async def posted(local: httpx.AsyncClient, body: bytes, media: str = FORM) -> httpx.Response:
    token = (await local.get("/page", headers=PAGE)).text.split("|")[1]
    headers = {**PAGE, "X-CSRF-Token": token, "Content-Type": media}
    return await local.post("/page", content=body, headers=headers)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"said=%FF", 422),
        (b"said=\xff", 422),
        (b"said=%00", 422),
        (b"sa%00id=1", 422),
        (b"said=1&said=2", 422),
        (urlencode([("a", 1)] * (FORM_MAX_FIELDS + 1)).encode(), 422),
        (b"said=" + b"x" * FORM_MAX_BYTES, 413),
        (b"", 200),
        (b"said", 200),
    ],
)
async def test_a_form_is_bounded_and_checked(
    local: httpx.AsyncClient, body: bytes, status: int
) -> None:
    assert (await posted(local, body)).status_code == status


@pytest.mark.parametrize("media", ["multipart/form-data; boundary=x", "text/plain", "text/html"])
async def test_nothing_else_is_taken_for_a_form(local: httpx.AsyncClient, media: str) -> None:
    assert (await posted(local, b"said=1", media)).status_code == 415
