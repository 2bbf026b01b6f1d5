"""One browser for all tests of a worker, and pages that are watched from the first byte on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from browsing import Open, Shown
from playwright.sync_api import Browser, BrowserContext, Request, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: Of a page that is not waited for in vain any longer, in milliseconds: the machine may be busy.
PATIENCE_MS = 60_000


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium as the system has it; a test that has none fails."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    assert program is not None, "no Chromium is on the PATH: tests/browser/install-chromium installs it"
    quiet = ["--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
    quiet += ["--disable-component-update", "--disable-sync"]
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, chromium_sandbox=False, args=quiet)
        yield started
        started.close()


def beyond(one: Shown, request: Request) -> None:
    """Note a request that left."""
    if not request.url.startswith("file:"):
        one.asked.append(request.url)


@pytest.fixture
def show(browser: Browser) -> Iterator[Open]:
    """Opens a file; ``at`` is what stands behind the # of its address, and it is ready when it shows rows."""
    contexts: list[BrowserContext] = []

    def shown(
        file: Path,
        at: str = "",
        *,
        theme: Literal["light", "dark"] = "light",
        width: int = 1400,
        scripts: bool = True,
        ready: str | None = "html.scripted #found tr",
    ) -> Shown:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=theme, java_script_enabled=scripts
        )
        contexts.append(context)
        context.set_default_timeout(PATIENCE_MS)
        one = Shown(context.new_page())
        one.page.on("console", lambda message: one.complaints.append(message.text))
        one.page.on("pageerror", lambda error: one.complaints.append(str(error)))
        # what the policy of a page stops is told as a request that failed, though nobody sent it
        one.page.on("requestfinished", lambda request: beyond(one, request))
        one.page.on("requestfailed", lambda request: None if request.failure == "csp" else beyond(one, request))
        one.page.goto(f"{file.as_uri()}#{at}" if at else file.as_uri())
        if ready is not None and scripts:
            one.page.wait_for_selector(ready)
        return one

    yield shown
    for context in contexts:
        context.close()
