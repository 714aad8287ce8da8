"""Pictures of every page that `opperf serve` has, made of a database of made-up nights: `docs/screenshots.py [FOLDER]`.

Each page is taken as it looks on a screen and on a phone (1500 and 400 pixels wide), in light and in dark.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.conftest import FLAGS, PROGRAMS  # noqa: E402
from tests.nights import archive, serving  # noqa: E402

PAGES = {
    "overview": "/",
    "changes": "/changes",
    "operators": "/operators",
    "operator": "/operators/matmul",
    "runs": "/runs",
    "run": "/runs/run-25",
    "comparison": "/runs/night-29",
    "beside": "/beside?base=run-00&new=run-25",
    "suite": "/suites/small%20net",
    "machine": "/machines/1",
    "search": "/search?q=mat",
}


def main(folder: Path) -> None:
    """Take every picture."""
    folder.mkdir(parents=True, exist_ok=True)
    program = next(path for name in PROGRAMS if (path := shutil.which(name)) is not None)
    with (
        tempfile.TemporaryDirectory() as place,
        serving(archive(Path(place) / "nights.db")) as address,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
        for width in (1500, 400):
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport={"width": width, "height": 1000}, color_scheme=scheme)
                for name, path in PAGES.items():
                    page.goto(f"{address}{path}")
                    page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)
                page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "screenshots")
