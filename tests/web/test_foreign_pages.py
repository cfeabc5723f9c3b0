"""What a real browser does for a page that isn't ours: nothing that the console would let it.

Names are pointed at this machine, as `evil.test` could be by whoever owns it. Over plain http a browser says of
`localhost` which site asks (Sec-Fetch-Site) and of `console.test` it doesn't, so both ways of telling are met.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import pytest
from playwright.async_api import Page, async_playwright, expect

from tests.web.browser import ARGUMENTS, chromium
from tests.web.site import TOKENS, site_of

FOREIGN_PAGE = """\
<!doctype html><title>busy</title>
<img src="BASE/api/batch-ops?limit=1">
<iframe name="frame" src="BASE/jobs"></iframe>
<form method="post" target="frame" action="BASE/operations/new"><input name="op_kind" value="set_priority"></form>
<script>
const ask = (path, options) => fetch("BASE" + path, {credentials: "include", ...options}).catch(() => null);
const post = {method: "POST", mode: "no-cors", body: "{}"};
const stream = new EventSource("BASE/api/stats/events", {withCredentials: true});
(async () => {
  const seen = await ask("/api/session");
  await ask("/api/jobs?limit=1", {mode: "no-cors"});
  await ask("/api/batch-ops", post);
  await ask("/api/batch-ops", {...post, headers: {"Content-Type": "application/json"}, mode: "cors"});
  await ask("/logout", post);
  await ask("/api/session", {method: "DELETE"});
  document.forms[0].submit();
  await new Promise(done => document.querySelector("iframe").addEventListener("load", done));
  document.title = seen ? "saw something" : "saw nothing";
})();
</script>
"""
NOBODY = {"-", "anonymous"}
LINE = re.compile(r"^(?P<method>[A-Z]+) (?P<path>\S+) (?P<status>\d+|-) (?P<actor>\S+) ")


@asynccontextmanager
async def foreign_site(base: str) -> AsyncIterator[int]:
    """Serve the page above on a port of its own."""
    body = FOREIGN_PAGE.replace("BASE", base).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


# Whose name the console has, and the foreign page: another site, or the same site on another port, which is sent cookies.
NAMES = [
    ("localhost", "evil.test"),
    ("localhost", "localhost"),
    ("console.test", "console.test"),
]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("tokens", [True, False])
async def test_a_foreign_page_gets_nothing(
    database_url: str, caplog: pytest.LogCaptureFixture, tokens: bool
) -> None:
    caplog.set_level(logging.INFO, "awa.api")
    rules = "--host-resolver-rules=MAP console.test 127.0.0.1, MAP evil.test 127.0.0.1"
    async with async_playwright() as playwright, site_of(database_url, tokens=tokens) as site:
        browser = await playwright.chromium.launch(
            executable_path=chromium(), headless=True, args=[*ARGUMENTS, rules]
        )
        for console, stranger in NAMES:
            base = f"http://{console}:{urlsplit(site.url).port}"
            async with await browser.new_context() as context, foreign_site(base) as port:
                page = await context.new_page()
                if tokens:
                    await log_in(page, base)
                caplog.clear()
                await page.goto(f"http://{stranger}:{port}/")
                await expect(page).to_have_title("saw nothing")
            # Of such a name, over plain http, a browser doesn't say which page asks for a mere GET. The server
            # answers, and the browser keeps the answer to itself.
            unsaid = tokens and console == stranger == "console.test"
            assert done(caplog) == ({"GET"} if unsaid else set()), (console, stranger)
        await browser.close()
        assert await site.client.list_batch_operations() == []


async def log_in(page: Page, base: str) -> None:
    await page.goto(f"{base}/login?next=/operations/new")
    await page.get_by_label("Token").fill(TOKENS["admin"])
    await page.get_by_role("button", name="Log in").click()
    await expect(page).to_have_title(re.compile("operation"))


def done(caplog: pytest.LogCaptureFixture) -> set[str]:
    """The methods of what was done for somebody, after a look that all was asked."""
    lines = [one.getMessage() for one in caplog.records if one.name == "awa.api"]
    asked = [found for line in lines if (found := LINE.match(line))]
    assert {one["path"] for one in asked} >= {"/api/session", "/api/jobs", "/api/batch-ops"}
    return {
        one["method"] for one in asked if one["actor"] not in NOBODY and int(one["status"]) < 400
    }
