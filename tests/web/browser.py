"""The system's Chromium, looked at over its shoulder: whatever it complains of fails the test.

A page of the console may write no error to the browser's log, throw nothing, and ask for nothing that its
Content-Security-Policy refuses. A test that provokes an answer such as 409 says so with `expect_status`.
"""

import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal

import pytest
from playwright.async_api import (
    Browser,
    ConsoleMessage,
    FloatRect,
    Page,
    Playwright,
    Response,
    ViewportSize,
    expect,
)

Theme = Literal["light", "dark"]
ARTIFACTS: Final = Path(__file__).parents[2] / "artifacts" / "web"
WIDTHS: Final[dict[str, ViewportSize]] = {
    "desktop": {"width": 1280, "height": 900},
    "phone": {"width": 390, "height": 844},
}
WAIT_MS: Final = 60_000
# Nothing that a browser does of its own accord: no first-run pages, no updates, no calls home.
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-features=Translate,OptimizationHints,MediaRouter",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-default-browser-check",
)
PICTURE_MAX_PX: Final = 3_000
SIZE: Final = "[document.documentElement.clientWidth, document.documentElement.scrollHeight]"
expect.set_options(timeout=WAIT_MS)
_REFUSED: Final = re.compile(r"status of (\d+)")


def chromium() -> str:
    """Where the browser is; a machine without one fails and says what to install."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        pytest.fail(
            "the console is tested in the system's Chromium, and there is none: apt-get install chromium "
            "fonts-dejavu-core (.ci/run does it)",
            pytrace=False,
        )
    return found


async def launch(playwright: Playwright) -> Browser:
    """Start it without a window."""
    return await playwright.chromium.launch(
        executable_path=chromium(), headless=True, args=list(ARGUMENTS)
    )


class Watched:
    """A page and what was wrong with it."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.complaints: list[str] = []
        self._expected: set[int] = set()
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        page.on("requestfailed", self._failed)

    def expect_status(self, *statuses: int) -> None:
        """Answers with these statuses are what the test is about."""
        self._expected |= set(statuses)

    def check(self) -> None:
        """Fail with everything that the browser complained of."""
        assert not self.complaints, "\n".join(self.complaints)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type not in {"error", "warning"}:
            return
        refused = _REFUSED.search(message.text)
        if refused and int(refused[1]) in self._expected:
            return
        self.complaints.append(f"{message.type} at {message.location.get('url')}: {message.text}")

    def _failed(self, request: Any) -> None:
        # A stream of events, and whatever is under way when the page is left, is broken off by the browser itself.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"{request.method} {request.url}: {request.failure}")


@asynccontextmanager
async def opened(
    browser: Browser,
    base_url: str,
    *,
    theme: Theme = "light",
    width: str = "desktop",
    scripts: bool = True,
) -> AsyncIterator[Watched]:
    """A page of a fresh browser profile; its complaints are looked at when the block ends."""
    context = await browser.new_context(
        base_url=base_url,
        color_scheme=theme,
        viewport=WIDTHS[width],
        java_script_enabled=scripts,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="Europe/Berlin",
    )
    context.set_default_timeout(WAIT_MS)
    try:
        watched = Watched(await context.new_page())
        yield watched
        watched.check()
    finally:
        await context.close()


async def visit(page: Page, path: str, status: int = 200) -> Response:
    """Go somewhere below the console's root; the answer has to have this status."""
    answer = await page.goto(path)
    assert answer is not None
    assert answer.status == status, f"{path}: {answer.status}"
    return answer


async def shoot(page: Page, name: str) -> Path:
    """A picture of the page, as far down as anybody looks, for whoever looks at the run."""
    path = ARTIFACTS / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    # From the top: what sticks to the window's edge would stand in the middle of the picture.
    await page.evaluate("scrollTo(0, 0)")
    width, height = await page.evaluate(SIZE)
    clip: FloatRect = {"x": 0, "y": 0, "width": width, "height": min(height, PICTURE_MAX_PX)}
    await page.screenshot(path=path, full_page=True, animations="disabled", clip=clip)
    return path
