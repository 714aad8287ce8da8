"""A real browser without a window: Chromium of the system, driven by Playwright."""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Browser, Page, expect, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
#: It asks nobody for anything by itself, and needs neither a graphics card nor a user's namespace.
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
]
#: How long a page may take for anything on a busy machine, in milliseconds.
PATIENCE = 120_000
expect.set_options(timeout=PATIENCE)


def new_page(browser: Browser, **options: Any) -> Page:
    """Open a page that waits as long as a busy machine takes."""
    page = browser.new_page(**options)
    page.set_default_timeout(PATIENCE)
    return page


#: What axe-core objects to. Contrast, which takes most of the time, is looked at for one of the texts that are seen in
#: the same colours and sizes, within elements of the same.
AUDIT = """async () => {
    const looks = ["color", "fill", "backgroundColor", "backgroundImage", "opacity", "fontSize", "fontWeight"];
    const known = new Map(), texts = new Map();
    const kind = element => {
        if (!known.has(element)) {
            const style = getComputedStyle(element), outer = element.parentElement;
            known.set(element, [outer ? kind(outer) : "", element.tagName, ...looks.map(name => style[name])].join());
        }
        return known.get(element);
    };
    for (const element of document.body.querySelectorAll("*")) {
        const says = [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
        if (says && element.checkVisibility({visibilityProperty: true}) && !texts.has(kind(element)))
            texts.set(kind(element), element);
    }
    const resultTypes = ["violations"];
    const parts = [
        await axe.run({resultTypes, rules: {"color-contrast": {enabled: false}}}),
        await axe.run({include: [...texts.values()]}, {resultTypes, runOnly: ["color-contrast"]}),
    ];
    return parts.flatMap(part => part.violations).flatMap(rule => rule.nodes.slice(0, 3).map(
        node => `${rule.id}: ${node.html.slice(0, 200)}`));
}"""


def barriers(page: Page) -> list[str]:
    """Return what axe-core objects to on a page on which everything that opens is open."""
    page.evaluate("document.querySelectorAll('details').forEach(details => { details.open = true; })")
    page.evaluate(AXE_SCRIPT)
    return list(page.evaluate(AUDIT))


#: The browser, from the first test that needs it to the last of this folder: its loop would be in others' way.
OPEN = ExitStack()


@cache
def launched(program: str) -> Browser:
    """Return the browser, launched when it is first asked for."""
    OPEN.callback(launched.cache_clear)
    playwright = OPEN.enter_context(sync_playwright())
    return OPEN.enter_context(
        closing(playwright.chromium.launch(executable_path=program, args=FLAGS, timeout=PATIENCE))
    )


@pytest.fixture(scope="module")
def browser() -> Browser:
    """Chromium; where there is none the test is skipped, and fails where `OPPERF_BROWSER` says `required`."""
    program = next((result for name in PROGRAMS if (result := shutil.which(name)) is not None), None)
    if program is None:
        reason = "there is no Chromium on this machine; Debian: `apt install chromium`"
        if os.environ.get("OPPERF_BROWSER") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    return launched(program)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Generator[None, object, object]:
    """End the browser with the last test of this folder."""
    try:
        return (yield)
    finally:
        if nextitem is None or nextitem.path.parent != Path(__file__).parent:
            OPEN.close()
