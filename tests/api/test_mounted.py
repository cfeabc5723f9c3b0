"""Mounted into another application, or below a proxy's path: links, cookies and the pool respect where it is."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from awa.api import create_app
from awa.asgi import create_app as create_console
from awa.http.paths import BelowPath
from tests.api.conftest import LOCAL, MOVE, TOKENS

BASE = "http://localhost:8080/ops/awa"


@asynccontextmanager
async def asked(app: object) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app=app, client=LOCAL)  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport) as client:
        yield client


async def test_it_works_below_a_path_and_opens_its_pool_itself(database_url: str) -> None:
    awa = create_app(database_url)
    host = Starlette(routes=[Mount("/ops/awa", app=awa)])
    async with asked(host) as client:
        # All at once: the pool is opened once, whoever comes first.
        answers = await asyncio.gather(*(client.get(f"{BASE}/readyz") for _ in range(10)))
        assert [one.status_code for one in answers] == [200] * 10
        submitted = await client.post(f"{BASE}/api/batch-ops", json=MOVE)
        assert submitted.status_code == 201
        assert (await client.get("http://localhost:8080/healthz")).status_code == 404
    await awa.state.served.close()


async def test_its_host_may_open_and_close_it(database_url: str) -> None:
    awa = create_app(database_url)

    @asynccontextmanager
    async def lifespan(_host: Starlette) -> AsyncIterator[None]:
        async with awa.router.lifespan_context(awa):
            yield

    host = Starlette(routes=[Mount("/ops/awa", app=awa)], lifespan=lifespan)
    async with host.router.lifespan_context(host), asked(host) as client:
        pool = await awa.state.served.pool()
        assert (await client.get(f"{BASE}/readyz")).status_code == 200
    assert pool.closed


async def test_its_cookie_is_sent_to_it_alone(database_url: str) -> None:
    awa = create_app(database_url, tokens=TOKENS)
    async with asked(Starlette(routes=[Mount("/ops/awa", app=awa)])) as client:
        body = {"token": "operator-token-0123456789"}
        answer = await client.post(f"{BASE}/api/session", json=body)
        assert "; Path=/ops/awa;" in answer.headers["set-cookie"]
        assert (await client.get(f"{BASE}/api/session")).json()["actor"] == "deploy"
    await awa.state.served.close()


@pytest.mark.parametrize("asked_for", ["/ops/awa/api/session", "/api/session"])
async def test_a_proxy_may_take_its_path_away_or_leave_it(
    database_url: str, asked_for: str
) -> None:
    awa = create_app(database_url, tokens=TOKENS)
    async with asked(BelowPath(awa, "/ops/awa")) as client:
        body = {"token": "operator-token-0123456789"}
        answer = await client.post(f"http://localhost:8080{asked_for}", json=body)
        assert answer.status_code == 204
        assert "; Path=/ops/awa;" in answer.headers["set-cookie"]
        assert (await client.get("http://localhost:8080/ops/awaiting")).status_code == 404
    await awa.state.served.close()


async def test_the_console_below_a_path_leads_to_its_own_log_in_and_back(database_url: str) -> None:
    console = create_console(database_url, tokens=TOKENS)
    async with asked(Starlette(routes=[Mount("/ops/awa", app=console)])) as client:
        page = {"Accept": "text/html", "Sec-Fetch-Site": "none"}
        turned = await client.get(f"{BASE}/jobs?q=queue:email", headers=page)
        assert turned.status_code == 303
        location = turned.headers["location"]
        assert location.startswith("/ops/awa/login?next=%2Fops%2Fawa%2Fjobs")
        shown = await client.get(f"http://localhost:8080{location}", headers=page)
        assert shown.status_code == 200
        for link in re.findall(r'(?:href|src|action)="([^"#]+)"', shown.text):
            assert link.startswith(("/ops/awa/", "data:")), link
        asked_for = parse_qs(urlsplit(location).query)["next"][0]
        ours = {**page, "Sec-Fetch-Site": "same-origin", "Origin": "http://localhost:8080"}
        form = {"token": "operator-token-0123456789", "next": asked_for}
        entered = await client.post(f"{BASE}/login", data=form, headers=ours)
        assert (entered.status_code, entered.headers["location"]) == (303, asked_for)
        assert "; Path=/ops/awa;" in entered.headers["set-cookie"]
        there = await client.get(f"http://localhost:8080{asked_for}", headers=ours)
        assert there.status_code == 200
        foreign = {**page, "Sec-Fetch-Site": "cross-site"}
        assert (await client.post(f"{BASE}/login", data=form, headers=foreign)).status_code == 403
    await console.state.served.close()
