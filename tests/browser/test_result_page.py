"""The page of one result in a real browser: quiet, whole without a network, and narrow enough for a phone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.browser.conftest import new_page
from tests.nights import archive

from opperf.domain.record import Run
from opperf.parent.documents.comparison import ComparisonRun
from opperf.parent.pages.figures import charts
from opperf.parent.pages.result_page import page
from opperf.parent.reports import report_of
from opperf.parent.store.load import read_value


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A function that writes the page of a run of the nights, by its id."""
    folder = tmp_path_factory.mktemp("frozen")
    with archive(folder / "nights.db", nights=1) as store:
        results = {key: read_value(store.document_json(key), key) for key in ("run-00", "night-00")}

    def write(key: str) -> Path:
        result = results[key]
        assert isinstance(result, (Run, ComparisonRun))
        path = folder / f"{key}.html"
        path.write_text(page(result, report_of(result), charts(result)), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("key", ["run-00", "night-00"])
@pytest.mark.parametrize("width", [400, 1500])
def test_a_page_needs_nobody_and_fits_its_window(
    key: str, width: int, file: Callable[[str], Path], browser: Browser
) -> None:
    place = file(key).as_uri()
    window = new_page(browser, viewport={"width": width, "height": 900}, color_scheme="dark")
    complaints: list[str] = []
    requests: list[str] = []
    window.on("console", lambda message: complaints.append(message.text))
    window.on("dialog", lambda dialog: complaints.append(dialog.message))
    window.on("request", lambda request: requests.append(request.url))
    window.goto(place)
    assert complaints == []
    assert [url for url in requests if not url.startswith("data:")] == [place]
    assert window.evaluate("document.documentElement.scrollWidth") == width
    assert window.locator("figure svg:visible").count() == window.locator("figure").count() > 0
    assert window.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 29)"
    window.close()
