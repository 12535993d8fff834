"""A real browser for the page: the machine's chromium through Playwright; without it these are skipped."""

import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from contract_server import ContractServer

WHERE = ["/usr/bin/chromium", "chromium", "chromium-browser", "google-chrome"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A browser without a window; never skipped in CI."""
    chromium = next((found for name in WHERE if (found := shutil.which(name))), None)
    if chromium is None or find_spec("playwright") is None:
        reason = "no browser here: apt install chromium, and pip install playwright"
        assert not os.environ.get("ASKWISE_NEEDS_BROWSER"), reason
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium)
        yield running
        running.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens a page of a server in a browser context of its own; an error on the page fails the test."""
    contexts, errors = [], []

    def opened(
        server: ContractServer,
        *,
        context: Any = None,
        ready: str = "#stage article, #stage img",
        **options: Any,
    ) -> Any:
        context = context or browser.new_context(**{"reduced_motion": "reduce", **options})
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)  # a loaded machine is slow, not wrong
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "console",
            lambda said: errors.append(said.text) if "Content Security Policy" in said.text else None,
        )
        page.goto(server.url)
        page.wait_for_selector(ready)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []
