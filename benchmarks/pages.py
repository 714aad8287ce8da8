"""How long a browser waits for the pages of `opperf serve` over a database of ten million records.

The database is that of `benchmarks/history.py`, in SQLite: 1,400 operators, in ten series each. Chromium opens each
page again and again; a page is there when its `load` event is over, with its style, its script and its charts. Each
time the page is made anew, as after a run was added; how much CPU time that takes is measured without a browser.

    python benchmarks/pages.py [RECORDS]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from itertools import count
from pathlib import Path
from statistics import median

from history import OPERATORS, RECORDS, SERIES, fill
from playwright.sync_api import Page, sync_playwright
from report import publish
from starlette.testclient import TestClient

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser.conftest import FLAGS, PROGRAMS
from tests.nights import serving

from opperf.parent.pages.server.app import application
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.listing import operators

#: How often each page is opened, and how long it may take. Milliseconds.
OPENED, LIMIT = 20, 1000.0
#: The CPU time that making a page may take; that of an operator draws hundreds of builds in each chart. Milliseconds.
MAKING, DRAWING = 500.0, {"an operator": 1000.0}
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def wait(page: Page, address: str) -> list[float]:
    """Return how long a page took, each time that it was opened; the first time warms everything up."""
    times = []
    for _ in range(OPENED + 1):
        page.goto(address, wait_until="load")
        page.wait_for_function(f"{LOADED} > 0")
        times.append(float(page.evaluate(LOADED)))
    return times[1:]


def make(client: TestClient, path: str) -> float:
    """Return the CPU time of making a page: the least of several, since other work only adds to it."""
    times = []
    for _ in range(OPENED // 4 + 1):
        begin = time.process_time()
        if client.get(path).status_code != 200:
            raise SystemExit(f"{path}: no page")
        times.append((time.process_time() - begin) * 1e3)
    return min(times)


def main() -> None:
    """Fill a database, serve it, and open its pages."""
    nights = max(2, (int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS) // (OPERATORS * SERIES))
    program = next(path for name in PROGRAMS if (path := shutil.which(name)) is not None)
    with tempfile.TemporaryDirectory() as folder, Archive(Address.of(f"{folder}/history.db")) as store:
        fill(store, nights)
        name = operators(store)[OPERATORS // 2].operator
        numbers = count()
        store.stamp = lambda: str(next(numbers))  # type: ignore[method-assign]
        pages = {
            "overview": "/",
            "changes": "/changes",
            "an operator": f"/operators/{name}",
            "all operators": "/operators",
            "two builds": f"/beside?base=numpy+1.{nights // 2}&new=numpy+1.{nights - 1}",
            "all runs": "/runs",
            "a search": f"/search?q={name[:-1]}",
            "a machine": "/machines/1",
        }
        with serving(store) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
            page = browser.new_page(viewport={"width": 1500, "height": 1000})
            waits = {what: wait(page, f"{address}{path}") for what, path in pages.items()}
            browser.close()
        client = TestClient(application(store, hosts=["testserver"]))
        making = {what: make(client, path) for what, path in pages.items()}
    rows = [
        {"page": what, "median ms": median(times), "longest ms": max(times), "CPU of making ms": making[what]}
        for what, times in waits.items()
    ]
    figures = {what: (median(times), LIMIT, "ms") for what, times in waits.items()}
    figures |= {f"{what}, CPU of making it": (cost, DRAWING.get(what, MAKING), "ms") for what, cost in making.items()}
    publish("pages", f"{nights * OPERATORS * SERIES} records, {nights} nights", rows, figures)


if __name__ == "__main__":
    main()
