"""How long a browser waits for the pages of `opperf serve` over a database of ten million records.

The database is that of `benchmarks/history.py`, in SQLite: 1,400 operators, in ten series each. Chromium opens each
page again and again; a page is there when its `load` event is over, with its style, its script and its charts.

    python benchmarks/pages.py [RECORDS]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median

from history import OPERATORS, RECORDS, SERIES, fill
from playwright.sync_api import Page, sync_playwright
from report import publish

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser.conftest import FLAGS, PROGRAMS
from tests.nights import serving

from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address
from opperf.parent.store.database.listing import operators

#: How often each page is opened, and how long it may take. Milliseconds.
OPENED, LIMIT = 20, 1000.0
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def wait(page: Page, address: str) -> list[float]:
    """Return how long a page took, each time that it was opened; the first time warms everything up."""
    times = []
    for _ in range(OPENED + 1):
        page.goto(address, wait_until="load")
        page.wait_for_function(f"{LOADED} > 0")
        times.append(float(page.evaluate(LOADED)))
    return times[1:]


def main() -> None:
    """Fill a database, serve it, and open its pages."""
    nights = max(2, (int(sys.argv[1]) if len(sys.argv) > 1 else RECORDS) // (OPERATORS * SERIES))
    program = next(path for name in PROGRAMS if (path := shutil.which(name)) is not None)
    with tempfile.TemporaryDirectory() as folder, Archive(Address.of(f"{folder}/history.db")) as store:
        fill(store, nights)
        name = operators(store)[OPERATORS // 2].operator
        pages = {
            "overview": "/",
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
    rows = [{"page": what, "median ms": median(times), "longest ms": max(times)} for what, times in waits.items()]
    figures = {what: (median(times), LIMIT, "ms") for what, times in waits.items()}
    publish("pages", f"{nights * OPERATORS * SERIES} records, {nights} nights", rows, figures)


if __name__ == "__main__":
    main()
