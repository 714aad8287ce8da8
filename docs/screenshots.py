"""Pictures of every page of `opperf serve`, made of the month that `--demo` makes up.

Each page is taken as it looks on a screen, on a phone (1400 and 400 pixels wide), in light and in dark, and on paper.

    python docs/screenshots.py [FOLDER [PAGE...]]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import sync_playwright

from opperf.parent.commands.demo import NOTICE, fill
from opperf.parent.commands.history import named_changes
from opperf.parent.store.database.archive import Archive
from opperf.parent.store.database.connection import Address

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import FLAGS, PROGRAMS  # noqa: E402
from tests.nights import serving  # noqa: E402

PAGES = {
    "overview": "/?framework=torch",
    "news": "/?framework=torch&seen=60",
    "changes": "/changes",
    "operators": "/operators",
    "operator": "/operators/softmax",
    "runs": "/runs",
    "run": "/runs/demo-run-30",
    "comparison": "/runs/demo-night-torch-30",
    "frameworks": "/runs/demo-frameworks-30",
    "beside": "/beside?base=numpy+2.4.6&new=torch+2.12.1",
    "suite": "/suites/made-up%20model",
    "machine": "/machines/1",
    "search": "/search?q=mat",
    "error": "/nowhere",
}
TOKEN = "a-token-for-pictures"
#: What a page of A4 has between its margins, in pixels of CSS.
PAPER = {"width": 718, "height": 1046}


def main(folder: Path, names: Sequence[str]) -> None:
    """Take the pictures of these pages, of all without names."""
    folder.mkdir(parents=True, exist_ok=True)
    program = next(path for name in PROGRAMS if (path := shutil.which(name)) is not None)
    with tempfile.TemporaryDirectory() as place, Archive(Address.of(f"{place}/demo.db")) as store:
        fill(store)
        name = next(one.standing.name for one in named_changes(store).changes if one.standing.decision is not None)
        every = {**PAGES, "change": f"/changes/{name}"}
        pages = {name: every[name] for name in names or every}
        options = {"token": TOKEN, "write": True, "notice": NOTICE}
        with serving(store, **options) as address, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
            for width in (1400, 400):
                for scheme in ("light", "dark"):
                    page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=scheme)
                    page.goto(f"{address}/?token={TOKEN}")
                    for what, path in pages.items():
                        page.goto(f"{address}{path}")
                        page.screenshot(path=folder / f"{what}-{width}-{scheme}.png", full_page=True)
                    page.close()
            page = browser.new_page(viewport=PAPER, color_scheme="dark")
            page.goto(f"{address}/?token={TOKEN}")
            page.emulate_media(media="print")
            for what, path in pages.items():
                page.goto(f"{address}{path}")
                page.screenshot(path=folder / f"{what}-print.png", full_page=True)
                page.pdf(path=folder / f"{what}.pdf", format="A4")
            browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "screenshots", sys.argv[2:])
