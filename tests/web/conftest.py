"""The console as an operator has it: a browser, a server, a database, a worker.

All tests here share one event loop and one browser, each has a server and a database of its own. The suite's
async fixtures belong to other loops; use `database_url` and `open_site`.
"""

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, async_playwright

from tests.web.browser import Watched, launch, opened
from tests.web.site import Site, site_of

OpenPage = Callable[..., Awaitable[Watched]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One loop for the browser and everything that talks to it."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and isinstance(item, pytest.Function) and _is_async(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)


def _is_async(item: pytest.Function) -> bool:
    return inspect.iscoroutinefunction(item.function)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser() -> AsyncIterator[Browser]:
    """One browser for the run."""
    async with async_playwright() as playwright:
        browser = await launch(playwright)
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="session")
async def site(database_url: str) -> AsyncIterator[Site]:
    """The console without tokens, as `awa serve` opens it on loopback."""
    async with site_of(database_url) as site:
        yield site


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser) -> AsyncIterator[OpenPage]:
    """Opens pages: `await open_page(site, theme=…, width=…, scripts=…)`; complaints fail the test at its end."""
    async with AsyncExitStack() as stack:

        async def open_one(site: Site, **options: Any) -> Watched:
            return await stack.enter_async_context(opened(browser, site.url, **options))

        yield open_one


@pytest_asyncio.fixture(loop_scope="session")
async def page(site: Site, open_page: OpenPage) -> Page:
    """A page of the plain console."""
    watched = await open_page(site)
    return watched.page
